#include "apiserver/admit.h"
#include "apiserver/commit.h"
#include "apiserver/json_patch.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"
#include "storage/object/json_path.h"
#include "storage/object/selector.h"

namespace mailroom::apiserver {
namespace {

std::string SelectorText(const Call& call, const Json& object) {
  if (!call.type->builtin) {
    const Json* text = FindDotted(object, call.type->scale.label_selector);
    return text != nullptr && text->is_string() ? text->get<std::string>() : "";
  }
  const Json* selector = Find(object, {"spec", "selector"});
  if (selector == nullptr || !selector->is_object()) return "";
  const bool plain = !selector->contains("matchLabels") && !selector->contains("matchExpressions");
  auto parsed = LabelSelector::FromJson(plain ? Json{{"matchLabels", *selector}} : *selector);
  return parsed.ok() ? parsed->ToString() : "";
}

Result<Json> ScaleOf(const Call& call, const Json& object) {
  const openapi::ScalePaths& paths = call.type->scale;
  const std::string spec_path = paths.spec_replicas.empty() ? "spec.replicas" : paths.spec_replicas;
  const std::string status_path =
      paths.status_replicas.empty() ? "status.replicas" : paths.status_replicas;
  const Json* spec = FindDotted(object, spec_path);
  if (spec == nullptr && !call.type->builtin) {
    return Internal("the spec replicas field " + Quoted("." + spec_path) + " does not exist");
  }
  const Json* status = FindDotted(object, status_path);
  Json metadata = Json::object();
  for (const char* member : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Json* value = Find(object, {"metadata", member})) metadata[member] = *value;
  }
  Json scale = {{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"}, {"metadata", metadata},
                {"spec", Json::object()}, {"status", {{"replicas", 0}}}};
  if (spec != nullptr && spec->is_number_integer() && *spec != 0) {
    Set(scale, {"spec", "replicas"}, *spec);
  }
  if (status != nullptr && status->is_number_integer()) Set(scale, {"status", "replicas"}, *status);
  if (std::string selector = SelectorText(call, object); !selector.empty()) {
    Set(scale, {"status", "selector"}, selector);
  }
  return scale;
}

void SetDotted(Json& object, std::string_view dotted, const Json& value) {
  Json* node = &object;
  for (const std::string& step : SplitDotted(dotted)) {
    if (!node->is_object()) *node = Json::object();
    node = &(*node)[step];
  }
  *node = value;
}

// The scale a request asks for, from the current one.
Result<Json> WantedScale(const Call& call, const Json& current) {
  if (call.info.verb == "update") {
    Body body = TRY(DecodeBody(call, {"autoscaling", "v1", "Scale"}));
    return std::move(body.tree);
  }
  const Json patch = TRY(ParseJson(call.request.body));
  const std::string_view type = call.request.headers.Get("content-type");
  if (type.starts_with("application/json-patch+json")) return JsonPatch(current, patch);
  return MergePatch(current, patch);
}

}  // namespace

Result<Response> Scale(Call& call) {
  if (call.info.verb == "get") {
    TRY(call.hub.store.Freshen());
    const ObjectPtr object = call.hub.store.Get(call.Key());
    if (object == nullptr) {
      const char* suffix = call.type->builtin ? "/scale" : "";
      return NotFound(call.type->plural + suffix, call.type->gvk.group, call.info.name);
    }
    return RenderTree(call, 200, TRY(ScaleOf(call, object->ToJson())));
  }
  const WriteOptions options = TRY(
      ParseWriteOptions(call, call.info.verb == "patch" ? "PatchOptions" : "UpdateOptions"));
  const std::string path =
      call.type->scale.spec_replicas.empty() ? "spec.replicas" : call.type->scale.spec_replicas;
  Admit admit(call, options, admission::Operation::kUpdate);
  admit.OfKind({"autoscaling", "v1", "Scale"});
  const Outcome outcome = TRY(Change(call, options, [&](const Json& live) -> Result<Draft> {
    const Json current = TRY(ScaleOf(call, live));
    Json wanted = TRY(WantedScale(call, current));
    TRY(admit.Mutate(&wanted, &current));
    TRY(admit.Validate(&wanted, &current));
    const std::int64_t replicas = IntAt(wanted, {"spec", "replicas"});
    if (replicas < 0) {
      return Invalid("Scale", "autoscaling", call.info.name,
                     {InvalidValue("spec.replicas", std::to_string(replicas),
                                   "must be greater than or equal to 0")});
    }
    Json object = live;
    SetDotted(object, path, replicas);
    for (const char* member : {"resourceVersion", "uid"}) {
      const std::string given = StringAt(wanted, {"metadata", member});
      if (!given.empty()) Set(object, {"metadata", member}, given);
    }
    return Draft{std::move(object), {}, false};
  }));
  return RenderTree(call, 200, TRY(ScaleOf(call, outcome.object->ToJson())));
}

}  // namespace mailroom::apiserver
