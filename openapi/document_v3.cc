#include <algorithm>

#include "openapi/document_items.h"
#include "openapi/documents.h"

namespace mailroom::openapi {
namespace {

Json Parameter(const ParameterFacts& facts) {
  Json out = {{"name", facts.name},
              {"in", facts.in},
              {"schema", {{"type", facts.type}, {"uniqueItems", true}}}};
  if (!facts.description.empty()) out["description"] = facts.description;
  if (facts.in == std::string_view("path")) out["required"] = true;
  return out;
}

Json ContentJson(const std::vector<std::string>& media, const Json& schema) {
  Json out = Json::object();
  for (const std::string& type : media) out[type] = {{"schema", schema}};
  return out;
}

class V3Writer {
 public:
  V3Writer(const ApiDocs* docs, KindLists kinds) : schemas_(Dialect::kV3, docs, std::move(kinds)) {}

  void Add(std::vector<OperationFacts> operations) {
    for (auto& [path, item] : PathItemsOf(std::move(operations))) {
      Json& out = paths_[path] = Json::object();
      for (const OperationFacts& facts : item.operations) out[facts.method] = Operation(facts);
      for (const ParameterFacts& facts : item.parameters) out["parameters"].push_back(Parameter(facts));
    }
  }

  // What definitions declare has documents of another title.
  Json Write(bool builtin) {
    Json components = Json::object(), schemas = Json::object();
    for (auto& [name, schema] : schemas_.Take()) schemas[name] = std::move(schema);
    if (!schemas.empty()) components["schemas"] = std::move(schemas);
    if (builtin) components["securitySchemes"] = SecurityJson();
    Json info = {{"title", builtin ? "Kubernetes" : "Kubernetes CRD Swagger"},
                 {"version", builtin ? kDocumentVersion : "v0.1.0"}};
    return {{"openapi", "3.0.0"},
            {"info", std::move(info)},
            {"paths", std::move(paths_)},
            {"components", std::move(components)}};
  }

 private:
  Json Operation(const OperationFacts& facts) {
    Json responses = {{"401", {{"description", "Unauthorized"}}}};
    const Json content = ContentJson(facts.produces, SchemaOf(facts.answer, schemas_));
    for (const int code : facts.codes) {
      responses[std::to_string(code)] = {{"description", AnswerText(code)}, {"content", content}};
    }
    Json out = {{"operationId", facts.id},
                {"tags", Json::array({facts.tag})},
                {"description", facts.description},
                {"responses", std::move(responses)}};
    for (const ParameterFacts& one : facts.parameters) out["parameters"].push_back(Parameter(one));
    if (facts.body.what != Content::kNothing) {
      out["requestBody"] = {{"content", ContentJson(facts.consumes, SchemaOf(facts.body, schemas_))}};
      if (facts.body_required) out["requestBody"]["required"] = true;
    }
    WriteAction(facts, out);
    return out;
  }

  SchemaWriter schemas_;
  Json paths_ = Json::object();
};

std::string Beyond(std::string_view path) { return "/" + std::string(path) + "/"; }

}  // namespace

Json DocumentV3(const Catalog& catalog, std::string_view group, std::string_view version,
                const ApiDocs* docs) {
  for (const Group& candidate : catalog.groups()) {
    if (candidate.name != group) continue;
    for (const GroupVersion& served : candidate.versions) {
      if (served.version != version) continue;
      const bool builtin = IsBuiltin(served);
      V3Writer writer(docs, builtin ? KindLists(group, version) : KindLists::OfDefinitions());
      if (builtin) writer.Add({VersionOperation(candidate.name, served.version)});
      for (const ResourceTypePtr& type : served.resources) writer.Add(OperationsOf(*type));
      return writer.Write(builtin);
    }
  }
  return nullptr;
}

std::vector<std::string> ServerPaths(const Catalog& catalog) {
  std::vector<std::string> paths;
  for (const OperationFacts& facts : ServerOperations()) {
    paths.push_back(facts.path.substr(1, facts.path.size() - 2));
  }
  for (const Group& group : catalog.groups()) {
    if (std::none_of(group.versions.begin(), group.versions.end(), IsBuiltin)) continue;
    paths.push_back(group.name.empty() ? "api" : "apis/" + group.name);
  }
  return paths;
}

Json ServerDocumentV3(const Catalog& catalog, std::string_view path, const ApiDocs* docs) {
  const std::vector<std::string> known = ServerPaths(catalog);
  if (std::find(known.begin(), known.end(), path) == known.end()) return nullptr;
  V3Writer writer(docs, KindLists());
  for (OperationFacts& facts : ServerOperations()) {
    if (facts.path != Beyond(path)) continue;
    writer.Add({std::move(facts)});
    return writer.Write(true);
  }
  const std::size_t slash = path.find('/');
  writer.Add({GroupOperation(slash == path.npos ? "" : std::string(path.substr(slash + 1)))});
  return writer.Write(true);
}

}  // namespace mailroom::openapi
