#include "apiserver/self_write.h"

#include "apiserver/auth/user.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {

SelfWriter::SelfWriter(const Hub& hub, std::string name)
    : hub_(hub), user_{"system:mailroom:" + name, {std::string(kMasters)}} {
  request_.headers.Add("user-agent", "mailroom-" + name);
}

Call SelfWriter::NewCall(const WorkspaceView& workspace, const openapi::ResourceTypePtr& type,
                         const std::string& verb, const std::string& ns,
                         const std::string& name) const {
  RequestInfo info;
  info.verb = verb;
  info.workspace = workspace.name;
  info.group = type->gvk.group;
  info.version = type->gvk.version;
  info.resource = type->plural;
  info.ns = ns;
  info.name = name;
  return Call{hub_, request_, info, user_, workspace, type, {}};
}

Result<Outcome> SelfWriter::Insert(const WorkspaceView& workspace,
                                   const openapi::ResourceTypePtr& type, const std::string& ns,
                                   Json object) const {
  Call call = NewCall(workspace, type, "create", ns, "");
  return apiserver::Insert(call, {}, Draft{std::move(object), {}, false});
}

Result<void> SelfWriter::Provide(const WorkspaceView& workspace,
                                 const openapi::ResourceTypePtr& type, const std::string& ns,
                                 const Json& object) const {
  if (type == nullptr) return Ok();
  const ResourceKey key{workspace.name, type->stored_as, ns, StringAt(object, {"metadata", "name"})};
  if (hub_.store.Get(key) != nullptr) return Ok();
  auto made = Insert(workspace, type, ns, object);
  if (made.ok()) return Ok();
  const Reason reason = made.error().reason();
  if (reason == Reason::kAlreadyExists || reason == Reason::kForbidden ||
      reason == Reason::kNotFound) {
    return Ok();
  }
  return std::move(made).error();
}

Result<Outcome> SelfWriter::Change(const WorkspaceView& workspace,
                                   const openapi::ResourceTypePtr& type, const std::string& ns,
                                   const std::string& name, const std::string& subresource,
                                   const Edit& edit, const std::string& uid,
                                   Revision revision) const {
  Call call = NewCall(workspace, type, "update", ns, name);
  call.info.subresource = subresource;
  return apiserver::Change(call, {}, [&](const Json& live) -> Result<Draft> {
    if (!uid.empty() && StringAt(live, {"metadata", "uid"}) != uid) {
      return Conflict(type->plural, type->gvk.group, name, "the object was replaced");
    }
    if (revision != Revision() &&
        StringAt(live, {"metadata", "resourceVersion"}) != revision.ToString()) {
      return Modified(type->plural, type->gvk.group, name);
    }
    Json object = live;
    edit(object);
    return Draft{std::move(object), {}, false};
  });
}

Result<Outcome> SelfWriter::Remove(const WorkspaceView& workspace,
                                   const openapi::ResourceTypePtr& type, const std::string& ns,
                                   const std::string& name, const DeleteRequest& request) const {
  Call call = NewCall(workspace, type, "delete", ns, name);
  return apiserver::Remove(call, name, request);
}

Result<void> UnlessGone(const Result<Outcome>& result) {
  if (result.ok() || result.error().reason() == Reason::kNotFound) return Ok();
  return result.error();
}

}  // namespace mailroom::apiserver
