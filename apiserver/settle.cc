#include "apiserver/settle.h"

#include "apiserver/conversions.h"
#include "openapi/normalize.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

Settler::Settler(const Call& call)
    : type_(call.type), workspace_(call.info.workspace), conversions_(call.hub.conversions) {
  // A read of all workspaces sees as many definitions: it shows what is stored.
  if (type_->builtin || call.info.all_workspaces) return;
  const std::string name = type_->plural + "." + type_->gvk.group;
  const ObjectPtr crd = call.hub.store.Get({call.info.workspace, kCrdResource, "", name});
  if (crd != nullptr) changed_ = crd->revision();
}

bool Settler::Waits(const Object& object) const {
  return asks() && object.api_version() != type_->gvk.ApiVersion();
}

ObjectPtr Settler::Now(ObjectPtr object) const {
  if (object == nullptr || type_->builtin) return object;
  const openapi::ResourceType* stored = type_->FindVersion(object->api_version());
  if (stored == nullptr) stored = type_.get();
  const bool old = object->revision() < changed_;
  const bool reshaped = stored->schema != type_->schema && !asks();
  if (!old && !reshaped) return object;
  Json tree = object->ToJson();
  if (old) {
    openapi::PruneUnknown(*stored, tree);
    openapi::ApplyDefaults(*stored, tree);
  }
  if (reshaped) {
    tree["apiVersion"] = type_->gvk.ApiVersion();
    openapi::PruneUnknown(*type_, tree);
  }
  ObjectPtr settled = Object::Make(tree, object->revision());
  return settled != nullptr ? settled : object;
}

Result<ObjectPtr> Settler::operator()(ObjectPtr object) const {
  object = Now(std::move(object));
  if (object == nullptr || !Waits(*object)) return object;
  const auto converted = TRY(conversions_->Convert(workspace_, *type_, {object->ToJson()}));
  ObjectPtr made = Object::Make(converted.front(), object->revision());
  if (made == nullptr) return Internal("the converted object cannot be encoded");
  return made;
}

Result<void> Settler::All(std::vector<ObjectPtr>& objects) const {
  std::vector<ObjectPtr> waiting;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    objects[i] = Now(std::move(objects[i]));
    if (objects[i] == nullptr || !Waits(*objects[i])) continue;
    waiting.push_back(objects[i]);
    places.push_back(i);
  }
  if (waiting.empty()) return Ok();
  auto converted = TRY(conversions_->Recall(workspace_, *type_, waiting));
  for (std::size_t n = 0; n < places.size(); ++n) objects[places[n]] = std::move(converted[n]);
  return Ok();
}

Result<void> Settler::All(std::vector<storage::Entry>& entries) const {
  if (type_->builtin) return Ok();
  std::vector<ObjectPtr> objects;
  for (storage::Entry& entry : entries) objects.push_back(std::move(entry.object));
  TRY(All(objects));
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].object = std::move(objects[i]);
  return Ok();
}

}  // namespace mailroom::apiserver
