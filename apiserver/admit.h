// Between the commit path and the admission chain: one write of a call, shown to the chain. Does
// nothing in workspaces whose policies are inert payload. The server's own writes, which came as no
// request, are charged to quotas but asked about with nobody: no tenant's webhook may hold up the
// end of another's namespace.
#pragma once

#include <optional>

#include "apiserver/admission/admission.h"
#include "apiserver/call.h"
#include "apiserver/write_options.h"

namespace mailroom::apiserver {

class Admit {
 public:
  Admit(Call& call, const WriteOptions& options, admission::Operation operation);
  Admit(Call& call, const DeleteRequest& request, std::string name);
  // The object is a subresource's own kind (Scale), not the resource's.
  Admit& OfKind(GroupVersionKind kind);

  // Whether anything in the workspace wants to see this write.
  bool wanted() const { return wanted_; }
  // `object` is null for a delete, `old` for a create. True when the object was changed.
  Result<bool> Mutate(Json* object, const Json* old);
  Result<void> Validate(const Json* object, const Json* old);
  // Commits; a create or update is charged to the quotas of its namespace in the same
  // transaction, which is tried again when only a quota had moved.
  Result<storage::TxnResult> Commit(storage::Txn txn, const Json* object, const Json* old);
  // Tells the quota controller that something in the namespace may use less now.
  enum class Written { kRemoved, kChanged };
  void Release(const std::string& ns, Written written);
  // The quota check alone, for a dry run.
  Result<void> CheckQuota(const Json& object, const Json* old);

 private:
  admission::Attributes Show(const Json* object, const Json* old) const;
  void Take(admission::Attributes& attributes);
  Json OptionsJson() const;
  bool Charged() const;

  Call& call_;
  const admission::Operation operation_;
  const bool dry_run_;
  std::string name_;
  std::string field_manager_;
  const DeleteRequest* delete_request_ = nullptr;
  std::optional<GroupVersionKind> kind_;
  bool live_;
  bool wanted_;
};

}  // namespace mailroom::apiserver
