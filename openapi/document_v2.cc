#include <cstdint>

#include "openapi/base64.h"
#include "openapi/document_items.h"
#include "openapi/documents.h"

namespace mailroom::openapi {
namespace {

// Eight letters that tell texts apart.
std::string ShortHash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash * 1099511628211u) ^ static_cast<unsigned char>(c);
  std::string bytes;
  for (int shift = 56; shift > 8; shift -= 8) bytes += static_cast<char>(hash >> shift);
  std::string out = EncodeBase64(bytes);
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

Json ParameterJson(const ParameterFacts& facts) {
  Json out = {{"name", facts.name}, {"in", facts.in}, {"type", facts.type}, {"uniqueItems", true}};
  if (!facts.description.empty()) out["description"] = facts.description;
  if (facts.in == std::string_view("path")) out["required"] = true;
  return out;
}

class V2Writer {
 public:
  explicit V2Writer(const ApiDocs* docs) : schemas_(Dialect::kV2, docs, KindLists()) {}

  Json Write(const Catalog& catalog) {
    Add(ServerOperations());
    for (const Group& group : catalog.groups()) {
      bool builtin = false;
      for (const GroupVersion& version : group.versions) {
        for (const ResourceTypePtr& type : version.resources) Add(OperationsOf(*type));
        if (!IsBuiltin(version)) continue;
        Add({VersionOperation(group.name, version.version)});
        builtin = true;
      }
      if (builtin) Add({GroupOperation(group.name)});
    }
    Json definitions = Json::object();
    for (auto& [name, schema] : schemas_.Take()) definitions[name] = std::move(schema);
    return {{"swagger", "2.0"},
            {"info", {{"title", "Kubernetes"}, {"version", kDocumentVersion}}},
            {"paths", std::move(paths_)},
            {"definitions", std::move(definitions)},
            {"parameters", std::move(parameters_)},
            {"securityDefinitions", SecurityJson()},
            {"security", Json::array({{{"BearerToken", Json::array()}}})}};
  }

 private:
  void Add(std::vector<OperationFacts> operations) {
    for (auto& [path, item] : PathItemsOf(std::move(operations))) {
      Json& out = paths_[path] = Json::object();
      for (const OperationFacts& facts : item.operations) out[facts.method] = Operation(facts);
      for (const ParameterFacts& facts : item.parameters) out["parameters"].push_back(Parameter(facts));
    }
  }

  // What recurs stands in the document once; clients of old look for some where it is meant.
  Json Parameter(const ParameterFacts& facts) {
    Json out = ParameterJson(facts);
    const bool named = facts.name == "name" || facts.name == "fieldValidation" || facts.name == "dryRun";
    return named ? out : Shared(std::move(out));
  }

  Json Shared(Json parameter) {
    const std::string name =
        parameter["name"].get<std::string>() + "-" + ShortHash(DumpJson(parameter));
    parameters_.emplace(name, std::move(parameter));
    return {{"$ref", "#/parameters/" + name}};
  }

  Json Body(const OperationFacts& facts) {
    Json body = {{"name", "body"}, {"in", "body"}, {"schema", SchemaOf(facts.body, schemas_)}};
    if (facts.body_required) body["required"] = true;
    const bool generic = facts.body.builtin.starts_with("meta/");
    return generic ? Shared(std::move(body)) : body;
  }

  Json Operation(const OperationFacts& facts) {
    Json parameters = Json::array();
    if (facts.body.what != Content::kNothing) parameters.push_back(Body(facts));
    for (const ParameterFacts& parameter : facts.parameters) parameters.push_back(Parameter(parameter));
    Json responses = {{"401", {{"description", "Unauthorized"}}}};
    for (const int code : facts.codes) {
      responses[std::to_string(code)] = {{"description", AnswerText(code)},
                                         {"schema", SchemaOf(facts.answer, schemas_)}};
    }
    Json out = {{"operationId", facts.id},
                {"tags", Json::array({facts.tag})},
                {"description", facts.description},
                {"produces", facts.produces},
                {"schemes", Json::array({"https"})},
                {"responses", std::move(responses)}};
    if (!facts.consumes.empty()) out["consumes"] = facts.consumes;
    if (!parameters.empty()) out["parameters"] = std::move(parameters);
    WriteAction(facts, out);
    return out;
  }

  SchemaWriter schemas_;
  Json paths_ = Json::object(), parameters_ = Json::object();
};

}  // namespace

Json DocumentV2(const Catalog& catalog, const ApiDocs* docs) {
  return V2Writer(docs).Write(catalog);
}

}  // namespace mailroom::openapi
