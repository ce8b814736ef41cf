// The admission chain of workspaces whose policies are live: the built-in plugins, admission
// policies and webhooks, in kube-apiserver's order, first those that change the object, then
// those that only judge it. Called from the commit path for every write; a workspace without
// configurations pays a few look-ups. Thread-safe.
#pragma once

#include <memory>

#include "apiserver/admission/attributes.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/webhook_client.h"
#include "storage/cached_store.h"
#include "storage/object/clock.h"

namespace mailroom::admission {

class Admission {
 public:
  struct Options {
    WebhookClient& webhooks;
    const Clock& clock;
    DisabledPlugins disabled = {};
  };
  static std::unique_ptr<Admission> Make(const storage::CachedStore& store, Options options);
  virtual ~Admission() = default;

  // True when anything might concern a write in that namespace; otherwise the rest need not be
  // called.
  virtual bool Concerns(const Workspace& workspace, const openapi::ResourceType& type,
                        const std::string& ns) = 0;
  // May change the object (null for a delete); true when it did.
  virtual Result<bool> Mutate(Attributes& attributes, Json* object) = 0;
  virtual Result<void> Validate(Attributes& attributes, const Json* object) = 0;
  // Whether the workspace has quotas that writes are to be charged to.
  virtual bool Charges(const Workspace& workspace) const = 0;
  // Adds what the object costs its namespace's quotas to the transaction that writes it; true
  // when that is anything. Forbidden when a quota would be exceeded.
  virtual Result<bool> Charge(const Attributes& attributes, const Json& object,
                              storage::Txn& txn) = 0;
  // The workspace is gone: drops what was read from it.
  virtual void Forget(const Workspace& workspace) = 0;
};

}  // namespace mailroom::admission
