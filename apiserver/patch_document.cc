#include "apiserver/patch_document.h"

#include "apiserver/apply.h"
#include "apiserver/go_text.h"
#include "apiserver/json_patch.h"
#include "apiserver/router_error.h"
#include "apiserver/strategic_merge.h"
#include "storage/object/json_path.h"
#include "storage/object/problems.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

Result<Json> PatchedBy(PatchType type, const openapi::Schema* schema, const Json& live,
                       const Json& patch) {
  switch (type) {
    case PatchType::kJson: return JsonPatch(live, patch);
    case PatchType::kMerge: return MergePatch(live, patch);
    case PatchType::kStrategic: return StrategicMerge(schema, live, patch);
    case PatchType::kApply: break;
  }
  return Internal("apply is not a patch function");
}

// Members that no operation of a JSON patch has.
void AddUnknownMembers(const Json& patch, std::vector<std::string>& problems) {
  if (!patch.is_array()) return;
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!patch[i].is_object()) continue;
    for (const auto& [name, value] : patch[i].items()) {
      if (name == "op" || name == "path" || name == "from" || name == "value") continue;
      if (problems.size() >= limits::kProblemsTold) return;
      problems.push_back("json patch unknown field " + Quoted(MemberPath(ElementPath("", i), name)));
    }
  }
}

}  // namespace

Result<PatchType> PatchTypeOf(const Call& call) {
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

// What is said about a broken one depends on the kind of patch.
Result<ParsedJson> ReadPatch(const Call& call, PatchType type) {
  auto parsed = ParseJsonStrict(call.request.body);
  const char* prefix = type == PatchType::kStrategic ? "" : "error decoding patch: ";
  if (!parsed.ok()) {
    const std::string problem = JsonSyntaxProblem(call.request.body);
    return BadRequest(prefix + (problem.empty() ? parsed.error().message() : problem));
  }
  if (type == PatchType::kStrategic && parsed->value.is_null()) parsed->value = Json::object();
  if (type == PatchType::kStrategic && !parsed->value.is_object()) {
    return BadRequest("json: cannot unmarshal " + std::string(JsonKindName(parsed->value)) +
                      " into Go value of type map[string]interface {}");
  }
  const bool strict = call.info.query.Get("fieldValidation") != "Ignore";
  if (type == PatchType::kJson && strict && !parsed->value.is_array() && !parsed->value.is_null()) {
    return BadRequest(prefix + ("json: cannot unmarshal " + std::string(JsonKindName(parsed->value))) +
                      " into Go value of type []handlers.jsonPatchOp");
  }
  if (type == PatchType::kJson) {
    for (std::string& path : parsed->duplicates) path = "json patch duplicate field " + Quoted(path);
    AddUnknownMembers(parsed->value, parsed->duplicates);
  }
  return std::move(*parsed);
}

Result<void> ReportDuplicates(Call& call, const WriteOptions& options,
                              const std::vector<std::string>& duplicates) {
  if (duplicates.empty() || options.validation == FieldValidation::kIgnore) return Ok();
  if (options.validation == FieldValidation::kWarn) {
    for (const std::string& line : duplicates) call.Warn(line);
    return Ok();
  }
  std::string problem = "error converting YAML to JSON: yaml: unmarshal errors:";
  for (const std::string& line : duplicates) problem += "\n  " + line;
  return BadRequest("error strict decoding YAML: " + problem);
}

Result<PatchedTree> PatchTree(PatchType type, const openapi::Schema* schema, const Json& live,
                              const Json& patch) {
  auto made = PatchedBy(type, schema, live, patch);
  if (!made.ok()) {
    const bool refused = made.error().reason() == Reason::kInvalid;
    return refused ? RouterError(422) : std::move(made).error();
  }
  if (!made->is_object()) return BadRequest("the patched document is not an object");
  std::string shown = type == PatchType::kStrategic ? PrintedMap(patch) : DumpJson(*made);
  return PatchedTree{std::move(*made), std::move(shown)};
}

Result<ParsedJson> ReadApply(Call& call, const WriteOptions& options, const GroupVersionKind& expected) {
  if (options.field_manager.empty()) {
    return Invalid("PatchOptions", "meta.k8s.io", "",
                   {RequiredValue("fieldManager", "is required for apply patch")});
  }
  auto parsed = ParseYamlStrict(call.request.body);
  if (!parsed.ok()) return std::move(parsed).error();
  Json& config = parsed->value;
  if (!config.is_object()) return BadRequest("error decoding YAML: not an object");
  TRY(CheckApplied(expected, config));
  const Json* managed = Find(config, {"metadata", "managedFields"});
  if (managed != nullptr && !managed->is_null()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  Erase(config, {"metadata", "managedFields"});
  return std::move(*parsed);
}

}  // namespace mailroom::apiserver
