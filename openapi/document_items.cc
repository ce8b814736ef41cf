#include "openapi/document_items.h"

#include <algorithm>

namespace mailroom::openapi {
namespace {

bool Has(const OperationFacts& facts, const ParameterFacts& wanted) {
  return std::any_of(facts.parameters.begin(), facts.parameters.end(), [&](const ParameterFacts& one) {
    return one.name == wanted.name && one.in == std::string_view(wanted.in);
  });
}

void TakeCommon(PathItem& item) {
  for (const ParameterFacts& one : item.operations.front().parameters) {
    const bool common = std::all_of(item.operations.begin(), item.operations.end(),
                                    [&](const OperationFacts& facts) { return Has(facts, one); });
    if (common) item.parameters.push_back(one);
  }
  for (const ParameterFacts& one : item.parameters) {
    for (OperationFacts& facts : item.operations) {
      std::erase_if(facts.parameters, [&](const ParameterFacts& other) {
        return one.name == other.name && one.in == std::string_view(other.in);
      });
    }
  }
}

}  // namespace

std::map<std::string, PathItem> PathItemsOf(std::vector<OperationFacts> operations) {
  std::map<std::string, PathItem> items;
  for (OperationFacts& facts : operations) items[facts.path].operations.push_back(std::move(facts));
  for (auto& [path, item] : items) TakeCommon(item);
  return items;
}

Json SchemaOf(const Content& content, SchemaWriter& schemas) {
  switch (content.what) {
    case Content::kNothing: return nullptr;
    case Content::kText: return {{"type", "string"}};
    case Content::kObject: return schemas.RefTo(*content.type);
    case Content::kList: return schemas.RefToList(*content.type);
    case Content::kBuiltin: return schemas.RefToBuiltin(content.builtin);
    case Content::kVersionInfo: return schemas.RefToVersionInfo();
  }
  return nullptr;
}

const char* AnswerText(int code) {
  return code == 201 ? "Created" : code == 202 ? "Accepted" : "OK";
}

void WriteAction(const OperationFacts& facts, Json& out) {
  if (facts.action.empty()) return;
  out["x-kubernetes-action"] = facts.action;
  out["x-kubernetes-group-version-kind"] = KindJson(facts.kind);
}

Json SecurityJson() {
  return {{"BearerToken",
           {{"description", "Bearer Token authentication"},
            {"in", "header"},
            {"name", "authorization"},
            {"type", "apiKey"}}}};
}

}  // namespace mailroom::openapi
