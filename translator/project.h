// The reconciler keyed (mailbox, object): what should this object in this mailbox be? Compares
// the desired copy with the cached one and makes at most one write. Dependencies (Namespace,
// definition) come first and go last. Removes only labelled copies, only with a UID precondition,
// and only while everything needed to judge is known.
#pragma once

#include <functional>

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "translator/copies.h"
#include "translator/parked.h"
#include "translator/plan.h"

namespace mailroom::translator {

class Project : public client::Reconciler {
 public:
  // `changed` takes what a failed or cured write means for others.
  Project(client::Client hub, Plan& plan, const Copies& copies,
          std::function<void(const Changes&)> changed);

  // Keys that wait for a plan that allows a judgement.
  Parked& parked() { return parked_; }

  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  struct Target {
    const client::WorkKey& key;
    const std::string& mailbox;
    const ObjectId& id;
  };
  Result<client::Requeue> Ensure(const Target& target, const Verdict& verdict,
                                 const ObjectPtr& copy);
  Result<void> Create(const Target& target, const Json& desired) const;
  Result<void> Adopt(const Target& target, const client::Gvr& gvr, const Json& desired) const;
  Result<void> Update(const Target& target, const Verdict& verdict, const Object& copy,
                      const Json& body) const;
  Result<client::Requeue> Remove(const Target& target, const Object& copy);
  Result<bool> InUse(const Target& target, const Object& copy) const;
  Result<bool> NamespaceInUse(const Target& target) const;
  bool DependenciesReady(const Target& target) const;
  void Report(const Target& target, const Result<client::Requeue>& result);

  const client::Client hub_;
  Plan& plan_;
  const Copies& copies_;
  const std::function<void(const Changes&)> changed_;
  Parked parked_;
};

}  // namespace mailroom::translator
