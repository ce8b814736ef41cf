#include "apiserver/admit.h"
#include "apiserver/commit.h"
#include "apiserver/names.h"
#include "apiserver/patch_document.h"
#include "apiserver/render.h"
#include "apiserver/settle.h"
#include "apiserver/verbs.h"
#include "openapi/builtin.h"
#include "openapi/columns.h"
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

std::string ReplicasPath(const Call& call) {
  const std::string& own = call.type->scale.spec_replicas;
  return own.empty() ? "spec.replicas" : own;
}

// Custom resources may have none until somebody scales them.
bool HasReplicas(const Call& call, const Json& object) {
  return call.type->builtin || FindDotted(object, ReplicasPath(call)) != nullptr;
}

std::string ReplicasField(const Call& call) {
  return "the spec replicas field " + Quoted("." + ReplicasPath(call));
}

Json ScaleOf(const Call& call, const Json& object) {
  const openapi::ScalePaths& paths = call.type->scale;
  const std::string status_path =
      paths.status_replicas.empty() ? "status.replicas" : paths.status_replicas;
  const Json* spec = FindDotted(object, ReplicasPath(call));
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

const openapi::ResourceType& ScaleType() {
  static const openapi::ResourceType type = [] {
    openapi::ResourceType out;
    out.gvk = {"autoscaling", "v1", "Scale"};
    out.schema = openapi::BuiltinType("autoscaling/v1.Scale");
    out.columns = openapi::BuiltinColumns(out.gvk);
    return out;
  }();
  return type;
}

Result<Response> RenderScale(const Call& call, const ObjectPtr& stored) {
  const Json object = TRY(Settler(call)(stored))->ToJson();
  if (!HasReplicas(call, object)) return Internal(ReplicasField(call) + " does not exist");
  return RenderTree(call, ScaleType(), 200, ScaleOf(call, object));
}

void SetDotted(Json& object, std::string_view dotted, const Json& value) {
  Json* node = &object;
  for (const std::string& step : SplitDotted(dotted)) {
    if (!node->is_object()) *node = Json::object();
    node = &(*node)[step];
  }
  *node = value;
}

// A patched scale is still one.
Result<void> CheckScaleKind(const Call& call, const PatchedTree& made) {
  const std::string kind = StringAt(made.tree, {"kind"});
  const std::string version = StringAt(made.tree, {"apiVersion"});
  const GroupVersionKind& scale = ScaleType().gvk;
  if (kind.empty() || version.empty()) return Ok();
  if (kind == scale.kind && version == scale.ApiVersion()) return Ok();
  return InvalidPatch(made.shown, "no kind " + Quoted(kind) + " is registered for version " +
                                      Quoted(version) + " in scheme " +
                                      (call.type->builtin ? "\"pkg/api/legacyscheme/scheme.go:30\""
                                                          : "\"k8s.io/client-go/scale/util.go:146\""));
}

// The scale a request asks for, from the current one.
Result<Json> WantedScale(Call& call, const WriteOptions& options, const Json& current) {
  Draft draft;
  if (call.info.verb == "update") {
    Body body = TRY(DecodeBody(call, ScaleType().gvk));
    draft = {std::move(body.tree), std::move(body.duplicates), false};
  } else {
    const PatchType type = TRY(PatchTypeOf(call));
    ParsedJson patch = TRY(ReadPatch(call, type));
    PatchedTree made = TRY(PatchTree(type, ScaleType().schema, current, patch.value));
    if (type != PatchType::kStrategic) TRY(CheckScaleKind(call, made));
    draft = {std::move(made.tree), std::move(patch.duplicates), false, std::move(made.shown),
             type == PatchType::kStrategic};
  }
  TRY(CheckTree(call, options, ScaleType(), draft));
  TRY(CheckIdentity(call, draft.object));
  return std::move(draft.object);
}

Result<std::int64_t> ReplicasOf(const Call& call, const Json& scale) {
  const std::int64_t replicas = IntAt(scale, {"spec", "replicas"});
  // Of a custom resource they are judged where they come to stand.
  if (replicas >= 0 || !call.type->builtin) return replicas;
  return Invalid("Scale", "autoscaling", call.info.name,
                 {InvalidValue("spec.replicas", std::to_string(replicas),
                               "must be greater than or equal to 0")});
}

// Whoever applies a scale hears of other owners in terms of scales.
Status InTermsOfScale(const Call& call, const Status& conflict) {
  const std::string whole = " using " + call.type->gvk.ApiVersion();
  const std::string scale = " using " + ScaleType().gvk.ApiVersion();
  const auto told = [&](std::string text) {
    for (std::size_t at = text.find(whole); at != std::string::npos; at = text.find(whole, at + 1)) {
      text.replace(at, whole.size(), scale);
    }
    return text;
  };
  StatusDetails details = conflict.details();
  for (Cause& cause : details.causes) cause.message = told(cause.message);
  return Status(conflict.reason(), told(conflict.message()), std::move(details));
}

// An applied scale is the part of the whole object that it speaks of, applied for a scale.
Result<Draft> AppliedScale(const Call& call, const WriteOptions& options, const Json& config,
                           const Json& live) {
  Json whole = {{"apiVersion", call.type->gvk.ApiVersion()}, {"kind", call.type->gvk.kind},
                {"metadata", config.value("metadata", Json::object())}};
  if (const Json* replicas = Find(config, {"spec", "replicas"})) {
    TRY(ReplicasOf(call, config));
    SetDotted(whole, ReplicasPath(call), *replicas);
  }
  auto applied = Apply(*call.type, &live, whole, WriterOf(call, options), options.force);
  if (applied.ok()) return Draft{std::move(*applied), {}, true};
  const bool conflict = applied.error().reason() == Reason::kConflict;
  return conflict ? InTermsOfScale(call, applied.error()) : std::move(applied).error();
}

Result<Draft> ChangedScale(Call& call, const WriteOptions& options, Admit& admit, const Json& live) {
  const Json current = ScaleOf(call, live);
  Json wanted = TRY(WantedScale(call, options, current));
  TRY(admit.Mutate(&wanted, &current));
  // A patch leaves alone what it does not speak of; here there is nothing to leave.
  const bool given = call.info.verb == "update" || Find(wanted, {"spec", "replicas"}) != nullptr;
  if (!given && !HasReplicas(call, live)) {
    return BadRequest(ReplicasField(call) + " cannot be empty");
  }
  TRY(admit.Validate(&wanted, &current));
  Json object = live;
  SetDotted(object, ReplicasPath(call), TRY(ReplicasOf(call, wanted)));
  for (const char* member : {"resourceVersion", "uid"}) {
    const std::string value = StringAt(wanted, {"metadata", member});
    if (!value.empty()) Set(object, {"metadata", member}, value);
  }
  return Draft{std::move(object), {}, false};
}

}  // namespace

Result<Response> Scale(Call& call) {
  if (call.info.verb == "get") {
    TRY(call.hub.store.Freshen());
    const ObjectPtr object = call.hub.store.Get(call.Key());
    if (object == nullptr) return NotFound(call.type->plural, call.type->gvk.group, call.info.name);
    return RenderScale(call, object);
  }
  const WriteOptions options = TRY(
      ParseWriteOptions(call, call.info.verb == "patch" ? "PatchOptions" : "UpdateOptions"));
  const bool applies =
      call.info.verb == "patch" && TRY(PatchTypeOf(call)) == PatchType::kApply;
  ParsedJson sent;
  if (applies) sent = TRY(ReadApply(call, options, ScaleType().gvk));
  Admit admit(call, options, admission::Operation::kUpdate);
  admit.OfKind(ScaleType().gvk);
  const Outcome outcome = TRY(Change(call, options, [&](const Json& live) -> Result<Draft> {
    if (!applies) return ChangedScale(call, options, admit, live);
    Draft draft = TRY(AppliedScale(call, options, sent.value, live));
    TRY(ReportDuplicates(call, options, sent.duplicates));
    TRY(CheckIdentity(call, draft.object));
    if (!HasReplicas(call, draft.object)) {
      return BadRequest(ReplicasField(call) + " cannot be empty");
    }
    const Json current = ScaleOf(call, live), wanted = ScaleOf(call, draft.object);
    TRY(admit.Validate(&wanted, &current));
    return draft;
  }));
  return RenderScale(call, outcome.object);
}

}  // namespace mailroom::apiserver
