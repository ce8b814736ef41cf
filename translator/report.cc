#include "translator/report.h"

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"

namespace mailroom::translator {

Json MergeDiff(const Json& from, const Json& to) {
  Json patch = Json::object();
  for (const auto& [name, value] : to.items()) {
    const Json* old = Find(from, {name});
    if (old != nullptr && *old == value) continue;
    const bool descend = old != nullptr && old->is_object() && value.is_object();
    Set(patch, {name}, descend ? MergeDiff(*old, value) : value);
  }
  for (const auto& [name, value] : from.items()) {
    if (Find(to, {name}) == nullptr) Set(patch, {name}, nullptr);
  }
  return patch;
}

Result<client::Requeue> Report::Reconcile(const client::WorkKey& key) {
  const std::optional<ObjectId> id = ParseObjectId(key.id);
  if (!id) return Internal("not an object key: " + key.id);
  if (id->resource == kNamespaces || id->resource == kCrds) return client::Requeue{};
  const ReportView view = plan_.ReportOf({key.lane, *id});
  if (view.source == nullptr || !view.wanted || view.mailbox.empty()) return client::Requeue{};
  const ObjectPtr copy = copies_.Get(view.mailbox, *id);
  if (copy == nullptr) return client::Requeue{};
  const Json copy_tree = copy->ToJson();
  // Another workspace's object stands there.
  if (StringAt(copy_tree, {"metadata", "annotations", openapi::kSourceAnnotation}) != key.lane) {
    return client::Requeue{};
  }
  const Json* reported = Find(copy_tree, {"status"});
  // Nothing has come back yet; what the source says stays.
  if (reported == nullptr || !reported->is_object() || reported->empty()) return client::Requeue{};
  Json body = view.source->ToJson();
  const Json* present = Find(body, {"status"});
  if (present != nullptr && *present == *reported) return client::Requeue{};
  const client::ObjectRef ref{
      .gvr = {std::string(view.source->api_version()), id->resource.resource},
      .ns = id->ns,
      .name = id->name,
      .subresource = view.has_status ? "status" : ""};
  const client::Client wds = hub_.InWorkspace(key.lane);
  if (view.has_status) {
    Set(body, {"status"}, *reported);
    TRY(wds.Update(ref, body));
    return client::Requeue{};
  }
  const Json status = present != nullptr && present->is_object() ? *present : Json::object();
  TRY(wds.MergePatch(ref, {{"status", MergeDiff(status, *reported)}}));
  return client::Requeue{};
}

}  // namespace mailroom::translator
