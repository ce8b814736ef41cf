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

ReportStep NextReport(const Json& source, const Json* copy) {
  using Kind = ReportStep::Kind;
  const bool labelled =
      Find(source, {"metadata", "labels", openapi::kSingletonStatusLabel}) != nullptr;
  const Json* present = Find(source, {"status"});
  if (copy == nullptr) {
    if (!labelled) return {};
    const bool clear = present == nullptr || present->empty();
    return {clear ? Kind::kUnlabel : Kind::kStatus, Json::object()};
  }
  const Json* reported = Find(*copy, {"status"});
  // Nothing has come back yet; what the source says stays.
  if (reported == nullptr || !reported->is_object() || reported->empty()) return {};
  if (!labelled) return {Kind::kLabel, Json()};
  if (present != nullptr && *present == *reported) return {};
  return {Kind::kStatus, *reported};
}

Result<client::Requeue> Report::Reconcile(const client::WorkKey& key) {
  const std::optional<ObjectId> id = ParseObjectId(key.id);
  if (!id) return Internal("not an object key: " + key.id);
  if (id->resource == kNamespaces || id->resource == kCrds) return client::Requeue{};
  const ReportView view = plan_.ReportOf({key.lane, *id});
  if (view.source == nullptr) return client::Requeue{};
  const bool single = view.wanted && !view.mailbox.empty();
  // Taking a status back needs certainty that nobody wants it.
  const auto complete = [this] { return plan_.Complete(); };
  if (!single && !complete()) return parked_.Park(key, complete);
  Json copy;
  if (single) {
    const ObjectPtr found = copies_.Get(view.mailbox, *id);
    if (found == nullptr) return client::Requeue{};
    copy = found->ToJson();
    // Another workspace's object stands there.
    if (StringAt(copy, {"metadata", "annotations", openapi::kSourceAnnotation}) != key.lane) {
      return client::Requeue{};
    }
  }
  const Json source = view.source->ToJson();
  TRY(Write(key.lane, *id, view, NextReport(source, single ? &copy : nullptr)));
  return client::Requeue{};
}

Result<void> Report::Write(const std::string& workspace, const ObjectId& id, const ReportView& view,
                           const ReportStep& step) const {
  if (step.kind == ReportStep::Kind::kNothing) return Ok();
  client::ObjectRef ref{.gvr = {std::string(view.source->api_version()), id.resource.resource},
                        .ns = id.ns,
                        .name = id.name,
                        .subresource = ""};
  const client::Client wds = hub_.InWorkspace(workspace);
  if (step.kind != ReportStep::Kind::kStatus) {
    const Json value = step.kind == ReportStep::Kind::kLabel ? Json("true") : Json();
    Json patch;
    Set(patch, {"metadata", "labels", openapi::kSingletonStatusLabel}, value);
    TRY(wds.MergePatch(ref, patch));
    return Ok();
  }
  Json body = view.source->ToJson();
  if (view.has_status) {
    ref.subresource = "status";
    Set(body, {"status"}, step.status);
    TRY(wds.Update(ref, body));
    return Ok();
  }
  const Json* present = Find(body, {"status"});
  const Json old = present != nullptr && present->is_object() ? *present : Json::object();
  TRY(wds.MergePatch(ref, {{"status", MergeDiff(old, step.status)}}));
  return Ok();
}

}  // namespace mailroom::translator
