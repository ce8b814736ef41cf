#include "apiserver/admit.h"

#include <algorithm>

#include "apiserver/access_oracle.h"
#include "apiserver/admission/quota_controller.h"
#include "apiserver/admission/quota_usage.h"
#include "apiserver/convert.h"
#include "apiserver/deadline.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

using admission::Operation;

bool IsLive(const Call& call) {
  return call.hub.admission != nullptr && openapi::PolicyIsLive(call.workspace.type);
}

// The server's own writes came as no request.
bool IsOwn(const Call& call) { return call.request.method.empty(); }

}  // namespace

Admit::Admit(Call& call, const WriteOptions& options, Operation operation)
    : call_(call), operation_(operation), dry_run_(options.dry_run), name_(call.info.name),
      field_manager_(options.field_manager), live_(IsLive(call)),
      wanted_(live_ && !IsOwn(call) &&
              call.hub.admission->Concerns(call.info.workspace, *call.type, call.info.ns)) {}

Admit::Admit(Call& call, const DeleteRequest& request, std::string name)
    : call_(call), operation_(Operation::kDelete), dry_run_(request.dry_run),
      name_(std::move(name)), delete_request_(&request), live_(IsLive(call)),
      wanted_(live_ && !IsOwn(call) &&
              call.hub.admission->Concerns(call.info.workspace, *call.type, call.info.ns)) {}

Admit& Admit::OfKind(GroupVersionKind kind) {
  kind_ = std::move(kind);
  return *this;
}

Json Admit::OptionsJson() const {
  const std::string& verb = call_.info.verb;
  const char* kind = delete_request_ != nullptr ? "DeleteOptions"
                     : verb == "patch"          ? "PatchOptions"
                     : verb == "update"         ? "UpdateOptions"
                                                : "CreateOptions";
  Json options = {{"apiVersion", "meta.k8s.io/v1"}, {"kind", kind}};
  if (dry_run_) options["dryRun"] = Json::array({"All"});
  if (!field_manager_.empty()) options["fieldManager"] = field_manager_;
  const std::string validation = call_.info.query.Get("fieldValidation");
  if (!validation.empty()) options["fieldValidation"] = validation;
  if (call_.info.query.Has("force")) options["force"] = call_.info.query.Bool("force");
  if (delete_request_ == nullptr) return options;
  const DeleteRequest& request = *delete_request_;
  if (request.grace_seconds) options["gracePeriodSeconds"] = *request.grace_seconds;
  if (!request.propagation.empty()) options["propagationPolicy"] = request.propagation;
  if (!request.uid.empty()) Set(options, {"preconditions", "uid"}, request.uid);
  if (!request.resource_version.empty()) {
    Set(options, {"preconditions", "resourceVersion"}, request.resource_version);
  }
  return options;
}

admission::Attributes Admit::Show(const Json* object, const Json* old) const {
  admission::Attributes attributes{.workspace = call_.info.workspace,
                        .catalog = call_.workspace.catalog,
                        .type = call_.type,
                        .subresource = call_.info.subresource,
                        .kind = kind_.value_or(call_.type->gvk),
                        .operation = operation_,
                        .ns = call_.type->namespaced ? call_.info.ns : std::string(),
                        .name = name_,
                        .old = old,
                        .dry_run = dry_run_,
                        .user = call_.user,
                        .options = [this] { return OptionsJson(); },
                        .convert = {},
                        .deadline = call_.deadline};
  if (attributes.name.empty() && object != nullptr) {
    attributes.name = StringAt(*object, {"metadata", "name"});
  }
  if (call_.type->stored_as == kNamespacesResource) attributes.ns = attributes.name;
  attributes.oracle = OracleFor(call_);
  attributes.convert = [this](const openapi::ResourceType& to, const Json& from) {
    return ConvertTo(call_, to, from);
  };
  return attributes;
}

// What was said to an earlier attempt of the same request is said once.
void Admit::Take(admission::Attributes& attributes) {
  for (std::string& warning : attributes.warnings) {
    auto& said = call_.warnings;
    if (std::find(said.begin(), said.end(), warning) == said.end()) call_.Warn(std::move(warning));
  }
  for (auto& [key, value] : attributes.annotations) call_.annotations[key] = std::move(value);
}

Result<bool> Admit::Mutate(Json* object, const Json* old) {
  if (!wanted_) return false;
  admission::Attributes attributes = Show(object, old);
  auto changed = call_.hub.admission->Mutate(attributes, object);
  Take(attributes);
  return changed;
}

Result<void> Admit::Validate(const Json* object, const Json* old) {
  if (!wanted_) return Ok();
  admission::Attributes attributes = Show(object, old);
  auto allowed = call_.hub.admission->Validate(attributes, object);
  Take(attributes);
  return allowed;
}

Result<void> Admit::CheckQuota(const Json& object, const Json* old) {
  if (!Charged()) return Ok();
  storage::Txn scratch;
  TRY(call_.hub.admission->Charge(Show(&object, old), object, scratch));
  return Ok();
}

void Admit::Release(const std::string& ns, Written written) {
  if (written == Written::kChanged && admission::IsCountedByNumber(*call_.type)) return;
  if (call_.hub.quotas != nullptr && openapi::PolicyIsLive(call_.workspace.type)) {
    call_.hub.quotas->Released(call_.info.workspace, ns);
  }
}

bool Admit::Charged() const {
  return live_ && call_.type->namespaced && call_.hub.admission->Charges(call_.info.workspace);
}

Result<storage::TxnResult> Admit::Commit(storage::Txn txn, const Json* object, const Json* old) {
  storage::CachedStore& store = call_.hub.store;
  TRY(InTime(call_.deadline));
  if (object == nullptr || !Charged()) return store.Commit(std::move(txn));
  for (int attempt = 0;; ++attempt) {
    storage::Txn charged = txn;
    const bool charges = TRY(call_.hub.admission->Charge(Show(object, old), *object, charged));
    const storage::TxnResult result = TRY(store.Commit(std::move(charged)));
    if (result.committed || !charges || attempt == limits::kCommitRetries) return result;
    for (const storage::Compare& compare : txn.compares) {
      auto found = std::find_if(result.actual.begin(), result.actual.end(),
                                [&](const auto& entry) { return entry.key == compare.key; });
      const Revision now = found == result.actual.end() ? Revision() : found->mod_revision;
      if (now != compare.mod_revision) return result;
    }
    TRY(store.WaitFor(result.revision, call_.Patience()));
  }
}

}  // namespace mailroom::apiserver
