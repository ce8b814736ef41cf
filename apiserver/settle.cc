#include "apiserver/settle.h"

#include "openapi/normalize.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

Settler::Settler(const Call& call) : type_(call.type) {
  // A read of all workspaces sees as many definitions: it shows what is stored.
  if (type_->builtin || call.info.all_workspaces) return;
  const std::string name = type_->plural + "." + type_->gvk.group;
  const ObjectPtr crd = call.hub.store.Get({call.info.workspace, kCrdResource, "", name});
  if (crd != nullptr) changed_ = crd->revision();
}

ObjectPtr Settler::operator()(ObjectPtr object) const {
  if (object == nullptr || !(object->revision() < changed_)) return object;
  Json tree = object->ToJson();
  openapi::PruneUnknown(*type_, tree);
  openapi::ApplyDefaults(*type_, tree);
  ObjectPtr settled = Object::Make(tree, object->revision());
  return settled != nullptr ? settled : object;
}

}  // namespace mailroom::apiserver
