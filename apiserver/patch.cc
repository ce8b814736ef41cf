#include "apiserver/commit.h"
#include "apiserver/go_text.h"
#include "apiserver/json_patch.h"
#include "apiserver/names.h"
#include "apiserver/render.h"
#include "apiserver/router_error.h"
#include "apiserver/strategic_merge.h"
#include "apiserver/verbs.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

enum class PatchType { kJson, kMerge, kStrategic, kApply };

Result<PatchType> TypeOf(const Call& call) {
  std::string_view header = call.request.headers.Get("content-type");
  std::string_view type = header.substr(0, header.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  if (type == "application/strategic-merge-patch+json" && call.type->builtin) {
    return PatchType::kStrategic;
  }
  std::string accepted = "application/json-patch+json, application/merge-patch+json";
  if (call.type->builtin) accepted += ", application/strategic-merge-patch+json";
  return Status(Reason::kUnsupportedMediaType,
                "the body of the request was in an unknown format - accepted media types include: " +
                    accepted + ", application/apply-patch+yaml");
}

Result<Json> PatchedBy(const Call& call, PatchType type, const Json& live, const Json& patch) {
  switch (type) {
    case PatchType::kJson: return JsonPatch(live, patch);
    case PatchType::kMerge: return MergePatch(live, patch);
    case PatchType::kStrategic: return StrategicMerge(call.type->schema, live, patch);
    case PatchType::kApply: break;
  }
  return Internal("apply is not a patch function");
}

// The document of a patch. What is said about a broken one depends on the kind of patch.
Result<ParsedJson> ReadPatch(const Call& call, PatchType type) {
  auto parsed = ParseJsonStrict(call.request.body);
  const char* prefix = type == PatchType::kStrategic ? "" : "error decoding patch: ";
  if (!parsed.ok()) {
    const std::string problem = JsonSyntaxProblem(call.request.body);
    return BadRequest(prefix + (problem.empty() ? parsed.error().message() : problem));
  }
  if (type == PatchType::kStrategic && !parsed->value.is_object()) {
    return BadRequest("json: cannot unmarshal " + std::string(JsonKindName(parsed->value)) +
                      " into Go value of type map[string]interface {}");
  }
  if (type == PatchType::kJson) {
    for (std::string& path : parsed->duplicates) path = "json patch duplicate field " + Quoted(path);
  }
  return std::move(*parsed);
}

// A patch may name the kind and version of the object but not change them.
Result<void> CheckKind(const Call& call, const Json& patched, const std::string& shown) {
  const std::string kind = StringAt(patched, {"kind"});
  const std::string version = StringAt(patched, {"apiVersion"});
  const GroupVersionKind& expected = call.type->gvk;
  if (kind == expected.kind && version == expected.ApiVersion()) return Ok();
  return InvalidPatch(shown, "no kind " + Quoted(kind) + " is registered for version " +
                                 Quoted(version) + " in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
}

// Keys given twice in an apply configuration: an error, a warning or nothing.
Result<void> ReportDuplicates(Call& call, FieldValidation validation,
                              const std::vector<std::string>& duplicates) {
  if (duplicates.empty() || validation == FieldValidation::kIgnore) return Ok();
  std::string problem = "error converting YAML to JSON: yaml: unmarshal errors:";
  for (const std::string& line : duplicates) problem += "\n  " + line;
  if (validation == FieldValidation::kStrict) {
    return BadRequest("error strict decoding YAML: " + problem);
  }
  call.Warn(std::move(problem));
  return Ok();
}

Result<Json> ApplyConfig(Call& call, const WriteOptions& options) {
  auto parsed = ParseYamlStrict(call.request.body);
  if (!parsed.ok()) return std::move(parsed).error();
  TRY(ReportDuplicates(call, options.validation, parsed->duplicates));
  Json config = std::move(parsed->value);
  if (!config.is_object()) return BadRequest("error decoding YAML: not an object");
  const std::string version = StringAt(config, {"apiVersion"});
  const std::string kind = StringAt(config, {"kind"});
  if (version != call.type->gvk.ApiVersion()) {
    return BadRequest("Incorrect version specified in apply patch. Specified patch version: " +
                      version + ", expected: " + call.type->gvk.ApiVersion());
  }
  if (kind != call.type->gvk.kind) {
    return BadRequest("Incorrect kind specified in apply patch. Specified patch kind: " + kind +
                      ", expected: " + call.type->gvk.kind);
  }
  const Json* managed = Find(config, {"metadata", "managedFields"});
  if (managed != nullptr && !managed->is_null()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  Erase(config, {"metadata", "managedFields"});
  if (StringAt(config, {"metadata", "name"}).empty()) Set(config, {"metadata", "name"}, call.info.name);
  TRY(CheckIdentity(call, config));
  return config;
}

Result<Response> RunApply(Call& call, const WriteOptions& options) {
  if (options.field_manager.empty()) {
    return Invalid("PatchOptions", "meta.k8s.io", "",
                   {RequiredValue("fieldManager", "is required for apply patch")});
  }
  const Json config = TRY(ApplyConfig(call, options));
  const Writer writer = WriterOf(call, options);
  TRY(call.hub.store.Freshen());
  if (call.hub.store.Get(call.Key()) == nullptr) {
    if (!call.info.subresource.empty()) return call.NotFoundHere();
    if (const std::string uid = StringAt(config, {"metadata", "uid"}); !uid.empty()) {
      return Conflict(call.type->plural, call.type->gvk.group, call.info.name,
                      "uid mismatch: the provided object specified uid " + uid +
                          ", and no existing object was found");
    }
    Json created = TRY(Apply(*call.type, nullptr, config, writer, options.force));
    auto outcome = Insert(call, options, {std::move(created), {}, true});
    if (outcome.ok()) return RenderObject(call, 201, *outcome->object);
    if (outcome.error().reason() != Reason::kAlreadyExists) return std::move(outcome).error();
  }
  const Outcome outcome = TRY(Change(call, options, [&](const Json& live) -> Result<Draft> {
    return Draft{TRY(Apply(*call.type, &live, config, writer, options.force)), {}, true};
  }));
  return RenderObject(call, 200, *outcome.object);
}

}  // namespace

Result<Response> Patch(Call& call) {
  const PatchType type = TRY(TypeOf(call));
  const WriteOptions options = TRY(ParseWriteOptions(call, "PatchOptions"));
  if (type == PatchType::kApply) return RunApply(call, options);
  if (call.info.query.Has("force")) {
    return Invalid("PatchOptions", "meta.k8s.io", "",
                   {ForbiddenValue("force", "may not be specified for non-apply patch")});
  }
  ParsedJson patch = TRY(ReadPatch(call, type));
  const Outcome outcome = TRY(Change(call, options, [&](const Json& live) -> Result<Draft> {
    auto made = PatchedBy(call, type, live, patch.value);
    if (!made.ok()) {
      const bool refused = made.error().reason() == Reason::kInvalid;
      return refused ? RouterError(422) : std::move(made).error();
    }
    Json patched = std::move(*made);
    if (!patched.is_object()) return BadRequest("the patched document is not an object");
    const std::string shown =
        type == PatchType::kStrategic ? PrintedMap(patch.value) : DumpJson(patched);
    TRY(CheckKind(call, patched, shown));
    TRY(CheckIdentity(call, patched));
    return Draft{std::move(patched), patch.duplicates, false, shown};
  }));
  return RenderObject(call, 200, *outcome.object);
}

}  // namespace mailroom::apiserver
