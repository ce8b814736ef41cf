#include "openapi/document_paths.h"
#include "openapi/documents.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

Json Parameter(const std::string& name, const char* in) {
  Json out = {{"name", name}, {"in", in}, {"schema", {{"type", ParameterType(name)}}}};
  if (in == std::string_view("path")) out["required"] = true;
  if (in == std::string_view("query")) out["schema"]["uniqueItems"] = true;
  return out;
}

Json Content(const std::vector<std::string>& media, const Json& schema) {
  Json out = Json::object();
  for (const std::string& type : media) out[type] = {{"schema", schema}};
  return out;
}

class V3Writer {
 public:
  explicit V3Writer(const ApiDocs* docs) : schemas_(Dialect::kV3, docs) {}

  Json Write(const Group& group, const GroupVersion& version) {
    Json paths = Json::object();
    for (const ResourceTypePtr& type : version.resources) {
      for (const OperationFacts& facts : OperationsOf(*type)) {
        Json& path = paths[facts.path];
        path[facts.method] = Operation(*type, facts);
        if (!path.contains("parameters")) path["parameters"] = PathParameters(facts);
      }
    }
    Json schemas = Json::object();
    for (auto& [name, schema] : schemas_.Take()) schemas[name] = std::move(schema);
    const std::string title = group.name.empty() ? "core" : group.name;
    return {{"openapi", "3.0.0"},
            {"info", {{"title", "Kubernetes"}, {"version", title + "/" + version.version}}},
            {"paths", std::move(paths)},
            {"components", {{"schemas", std::move(schemas)}}}};
  }

 private:
  static Json PathParameters(const OperationFacts& facts) {
    Json out = Json::array();
    if (facts.names_object) out.push_back(Parameter("name", "path"));
    if (facts.names_namespace) out.push_back(Parameter("namespace", "path"));
    return out;
  }

  Json Answer(const ResourceType& type, const OperationFacts& facts) {
    if (facts.answers_list) return schemas_.RefToList(type);
    if (facts.action == "delete" || facts.action == "deletecollection") {
      return schemas_.RefToBuiltin("meta/v1.Status");
    }
    if (facts.kind == type.gvk) return schemas_.RefTo(type);
    return {{"type", "object"}};
  }

  Json RequestBody(const ResourceType& type, const OperationFacts& facts) {
    if (facts.action == "patch") {
      std::vector<std::string> media = {"application/json-patch+json",
                                        "application/merge-patch+json",
                                        "application/apply-patch+yaml"};
      if (type.builtin) media.push_back("application/strategic-merge-patch+json");
      return {{"required", true}, {"content", Content(media, schemas_.RefToBuiltin("meta/v1.Patch"))}};
    }
    const bool removes = facts.action == "delete" || facts.action == "deletecollection";
    const Json schema = removes ? schemas_.RefToBuiltin("meta/v1.DeleteOptions")
                        : facts.kind == type.gvk ? schemas_.RefTo(type)
                                                 : Json{{"type", "object"}};
    return {{"required", !removes}, {"content", Content({"*/*"}, schema)}};
  }

  Json Operation(const ResourceType& type, const OperationFacts& facts) {
    std::vector<std::string> media = {"application/json", "application/yaml"};
    if (type.builtin) media.emplace_back("application/vnd.kubernetes.protobuf");
    Json parameters = Json::array();
    for (const std::string& name : facts.query) parameters.push_back(Parameter(name, "query"));
    const Json answer = {{"description", "OK"}, {"content", Content(media, Answer(type, facts))}};
    Json responses = {{"200", answer}, {"401", {{"description", "Unauthorized"}}}};
    if (facts.action == "post") responses["201"] = answer;
    Json out = {{"operationId", facts.id},
                {"parameters", std::move(parameters)},
                {"responses", std::move(responses)},
                {"x-kubernetes-action", facts.action},
                {"x-kubernetes-group-version-kind",
                 {{"group", facts.kind.group}, {"version", facts.kind.version},
                  {"kind", facts.kind.kind}}}};
    if (facts.has_body) out["requestBody"] = RequestBody(type, facts);
    return out;
  }

  SchemaWriter schemas_;
};

}  // namespace

Json DocumentV3(const Catalog& catalog, std::string_view group, std::string_view version,
                const ApiDocs* docs) {
  for (const Group& candidate : catalog.groups()) {
    if (candidate.name != group) continue;
    for (const GroupVersion& served : candidate.versions) {
      if (served.version == version) return V3Writer(docs).Write(candidate, served);
    }
  }
  return nullptr;
}

}  // namespace mailroom::openapi
