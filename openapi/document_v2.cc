#include "openapi/document_paths.h"
#include "openapi/documents.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

class V2Writer {
 public:
  explicit V2Writer(const ApiDocs* docs) : schemas_(Dialect::kV2, docs) {}

  Json Write(const Catalog& catalog) {
    Json paths = Json::object();
    for (const Group& group : catalog.groups()) {
      for (const GroupVersion& version : group.versions) {
        for (const ResourceTypePtr& type : version.resources) AddPaths(*type, paths);
      }
    }
    Json definitions = Json::object();
    for (auto& [name, schema] : schemas_.Take()) definitions[name] = std::move(schema);
    return {{"swagger", "2.0"},
            {"info", {{"title", "Kubernetes"}, {"version", "v1.36.0"}}},
            {"paths", std::move(paths)},
            {"definitions", std::move(definitions)}};
  }

 private:
  void AddPaths(const ResourceType& type, Json& paths) {
    for (const OperationFacts& facts : OperationsOf(type)) {
      Json& path = paths[facts.path];
      path[facts.method] = Operation(type, facts);
      if (path.contains("parameters")) continue;
      path["parameters"] = Json::array();
      if (facts.names_object) path["parameters"].push_back(Parameter("name", "path"));
      if (facts.names_namespace) path["parameters"].push_back(Parameter("namespace", "path"));
    }
  }

  static Json Parameter(const std::string& name, const char* in) {
    Json out = {{"name", name}, {"in", in}, {"type", ParameterType(name)}};
    if (in == std::string_view("path")) out["required"] = true;
    out["uniqueItems"] = true;
    return out;
  }

  Json BodySchema(const ResourceType& type, const OperationFacts& facts) {
    if (facts.action == "patch") return schemas_.RefToBuiltin("meta/v1.Patch");
    if (facts.action == "delete" || facts.action == "deletecollection") {
      return schemas_.RefToBuiltin("meta/v1.DeleteOptions");
    }
    return facts.kind == type.gvk ? schemas_.RefTo(type) : Json{{"type", "object"}};
  }

  Json AnswerSchema(const ResourceType& type, const OperationFacts& facts) {
    if (facts.answers_list) return schemas_.RefToList(type);
    if (facts.action == "delete" || facts.action == "deletecollection") {
      return schemas_.RefToBuiltin("meta/v1.Status");
    }
    return facts.kind == type.gvk ? schemas_.RefTo(type) : Json{{"type", "object"}};
  }

  Json Operation(const ResourceType& type, const OperationFacts& facts) {
    Json parameters = Json::array();
    if (facts.has_body) {
      Json body = {{"name", "body"}, {"in", "body"}, {"schema", BodySchema(type, facts)}};
      if (facts.method != "delete") body["required"] = true;
      parameters.push_back(std::move(body));
    }
    for (const std::string& name : facts.query) parameters.push_back(Parameter(name, "query"));
    Json out = {
        {"operationId", facts.id},
        {"produces", Json::array({"application/json", "application/yaml"})},
        {"parameters", std::move(parameters)},
        {"responses",
         {{"200", {{"description", "OK"}, {"schema", AnswerSchema(type, facts)}}},
          {"401", {{"description", "Unauthorized"}}}}},
        {"x-kubernetes-action", facts.action},
        {"x-kubernetes-group-version-kind",
         {{"group", facts.kind.group}, {"version", facts.kind.version}, {"kind", facts.kind.kind}}}};
    if (facts.action == "patch") {
      out["consumes"] = Json::array({"application/json-patch+json", "application/merge-patch+json",
                                     "application/apply-patch+yaml"});
      if (type.builtin) out["consumes"].push_back("application/strategic-merge-patch+json");
    }
    return out;
  }

  SchemaWriter schemas_;
};

}  // namespace

Json DocumentV2(const Catalog& catalog, const ApiDocs* docs) {
  return V2Writer(docs).Write(catalog);
}

}  // namespace mailroom::openapi
