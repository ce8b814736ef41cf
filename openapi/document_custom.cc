#include "openapi/document_custom.h"

#include "openapi/document_ids.h"

namespace mailroom::openapi {
namespace {

// What is told of a definition's objects, at each of their places.
struct Row {
  const char* method;
  const char* action;
  const char* verb;  // of the operation's id
  const char* description;
  const char* options;
  bool named;
  std::vector<int> codes;
};

const Row kList = {"get", "list", "list", "Lists objects of kind ", "meta/v1.ListOptions", false, {200}};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      kList,
      {"post", "post", "create", "Creates an object of kind ", "meta/v1.CreateOptions", false,
       {200, 201, 202}},
      {"delete", "deletecollection", "deletecollection", "Deletes objects of kind ",
       "meta/v1.ListOptions", false, {200}},
      {"get", "get", "read", "Reads one ", "meta/v1.GetOptions", true, {200}},
      {"put", "put", "replace", "Replaces one ", "meta/v1.UpdateOptions", true, {200, 201}},
      {"delete", "delete", "delete", "Deletes one ", "meta/v1.DeleteOptions", true, {200, 202}},
      {"patch", "patch", "patch", "Changes members of one ", "meta/v1.PatchOptions", true, {200}},
  };
  return rows;
}

class Builder {
 public:
  explicit Builder(const ResourceType& type)
      : type_(type), base_("/apis/" + type.gvk.group + "/" + type.gvk.version + "/") {}

  std::vector<OperationFacts> Build() {
    const std::string place = (type_.namespaced ? "namespaces/{namespace}/" : "") + type_.plural;
    if (type_.namespaced) {
      OperationFacts& all = Add(base_ + type_.plural, kList, "");
      all.id = "list" + Word() + type_.gvk.kind + "ForAllNamespaces";
    }
    for (const Row& row : Rows()) Add(base_ + place + (row.named ? "/{name}" : ""), row, "");
    for (const Subresource& sub : type_.subresources) {
      for (const Row& row : Rows()) {
        const std::string_view action = row.action;
        if (action != "get" && action != "put" && action != "patch") continue;
        Add(base_ + place + "/{name}/" + sub.name, row, sub.name);
      }
    }
    return std::move(out_);
  }

 private:
  std::string Word() const { return GroupVersionWord(type_.gvk.group, type_.gvk.version); }

  OperationFacts& Add(std::string path, const Row& row, const std::string& sub) {
    OperationFacts& facts = out_.emplace_back();
    facts.method = row.method;
    facts.action = row.action;
    const std::string verb = row.verb;
    const bool all = verb == "deletecollection";
    facts.id = (all ? "delete" : verb) + Word() + (all ? "Collection" : "") +
               (type_.namespaced ? "Namespaced" : "") + type_.gvk.kind + Capital(sub);
    facts.tag = TagOf(type_.gvk.group, type_.gvk.version);
    facts.description = row.description + type_.gvk.kind + ".";
    facts.kind = type_.gvk;
    facts.produces = facts.consumes = {"application/json", "application/yaml"};
    facts.parameters = OptionParameters(row.options);
    facts.parameters.push_back(PrettyParameter());
    if (path.find("{namespace}") != std::string::npos) {
      facts.parameters.push_back(PathParameter("namespace", "Namespace that the objects are in."));
    }
    if (row.named) facts.parameters.push_back(PathParameter("name", "Name of the " + type_.gvk.kind + "."));
    facts.path = std::move(path);
    facts.codes = row.codes;
    Bodies(row, sub, facts);
    return facts;
  }

  void Bodies(const Row& row, const std::string& sub, OperationFacts& facts) const {
    const std::string_view action = row.action;
    const Content object = sub == "scale" ? Content{Content::kBuiltin, nullptr, "autoscaling/v1.Scale"}
                                          : Content{Content::kObject, &type_, ""};
    facts.answer = object;
    if (action == "list") facts.answer = {Content::kList, &type_, ""};
    if (action == "delete" || action == "deletecollection") {
      facts.answer = {Content::kBuiltin, nullptr, "meta/v1.Status"};
    }
    if (action == "post" || action == "put") facts.body = object;
    if (action == "delete") facts.body = {Content::kBuiltin, nullptr, "meta/v1.DeleteOptions"};
    if (action == "patch") {
      facts.body = {Content::kBuiltin, nullptr, "meta/v1.Patch"};
      facts.consumes = {"application/json-patch+json", "application/merge-patch+json",
                        "application/apply-patch+yaml"};
    }
    facts.body_required = action == "post" || action == "put" || action == "patch";
  }

  const ResourceType& type_;
  std::string base_;
  std::vector<OperationFacts> out_;
};

}  // namespace

std::vector<OperationFacts> CustomOperationsOf(const ResourceType& type) {
  return Builder(type).Build();
}

}  // namespace mailroom::openapi
