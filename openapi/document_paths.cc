#include "openapi/document_paths.h"

#include <algorithm>
#include <array>

namespace mailroom::openapi {
namespace {

struct Row {
  const char* verb;
  const char* method;
  const char* action;
  bool named;
  const char* query;  // space separated
};

constexpr const char* kListQuery =
    "allowWatchBookmarks continue fieldSelector labelSelector limit pretty resourceVersion "
    "resourceVersionMatch sendInitialEvents timeoutSeconds watch";

constexpr std::array<Row, 7> kRows = {{
    {"list", "get", "list", false, kListQuery},
    {"create", "post", "post", false, "dryRun fieldManager fieldValidation pretty"},
    {"deletecollection", "delete", "deletecollection", false,
     "continue dryRun fieldSelector gracePeriodSeconds labelSelector limit orphanDependents pretty "
     "propagationPolicy resourceVersion resourceVersionMatch timeoutSeconds"},
    {"get", "get", "get", true, "pretty"},
    {"update", "put", "put", true, "dryRun fieldManager fieldValidation pretty"},
    {"patch", "patch", "patch", true, "dryRun fieldManager fieldValidation force pretty"},
    {"delete", "delete", "delete", true,
     "dryRun gracePeriodSeconds orphanDependents pretty propagationPolicy"},
}};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// `networking.k8s.io` as `Networking`, core as `Core`.
std::string GroupWord(const std::string& group) {
  std::string word = group.empty() ? "core" : group.substr(0, group.find('.'));
  word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return word;
}

std::string Capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string BasePath(const ResourceType& type) {
  std::string base = type.gvk.group.empty() ? "/api/" : "/apis/" + type.gvk.group + "/";
  base += type.gvk.version;
  if (type.namespaced) base += "/namespaces/{namespace}";
  return base + "/" + type.plural;
}

OperationFacts Make(const ResourceType& type, const Row& row, const Subresource* sub) {
  OperationFacts facts;
  facts.path = BasePath(type);
  if (row.named || sub != nullptr) facts.path += "/{name}";
  if (sub != nullptr) facts.path += "/" + sub->name;
  facts.method = row.method;
  facts.action = row.action;
  facts.kind = sub == nullptr ? type.gvk : sub->kind;
  facts.id = std::string(row.action == std::string_view("get")    ? "read"
                         : row.action == std::string_view("post") ? "create"
                         : row.action == std::string_view("put")  ? "replace"
                         : row.action == std::string_view("deletecollection") ? "deleteCollection"
                                                                              : row.action) +
             GroupWord(type.gvk.group) + Capital(type.gvk.version) +
             (type.namespaced ? "Namespaced" : "") + type.gvk.kind +
             (sub == nullptr ? "" : Capital(sub->name));
  facts.query = Words(row.query);
  facts.has_body = row.method != std::string_view("get");
  facts.answers_list = row.action == std::string_view("list");
  facts.names_object = row.named || sub != nullptr;
  facts.names_namespace = type.namespaced;
  return facts;
}

}  // namespace

std::vector<OperationFacts> OperationsOf(const ResourceType& type) {
  std::vector<OperationFacts> out;
  for (const Row& row : kRows) {
    if (type.HasVerb(row.verb)) out.push_back(Make(type, row, nullptr));
    if (type.namespaced && row.verb == std::string_view("list") && type.HasVerb("list")) {
      OperationFacts all = Make(type, row, nullptr);
      all.path.erase(all.path.find("/namespaces/{namespace}"), 23);
      all.names_namespace = false;
      all.id += "ForAllNamespaces";
      out.push_back(std::move(all));
    }
    for (const Subresource& sub : type.subresources) {
      const bool has = std::find(sub.verbs.begin(), sub.verbs.end(), row.verb) != sub.verbs.end();
      const bool fits = row.named || row.verb == std::string_view("create");
      if (has && fits) out.push_back(Make(type, row, &sub));
    }
  }
  return out;
}

const char* ParameterType(std::string_view name) {
  if (name == "limit" || name == "timeoutSeconds" || name == "gracePeriodSeconds") return "integer";
  if (name == "watch" || name == "allowWatchBookmarks" || name == "sendInitialEvents" ||
      name == "force" || name == "orphanDependents") {
    return "boolean";
  }
  return "string";
}

}  // namespace mailroom::openapi
