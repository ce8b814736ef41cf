#include "openapi/document_paths.h"

#include <algorithm>

#include "openapi/builtin.h"
#include "openapi/document_custom.h"
#include "openapi/document_ids.h"

namespace mailroom::openapi {
namespace {

constexpr const char* kPatchTypes[] = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
constexpr std::string_view kStatus = "meta/v1.Status", kDeleteOptions = "meta/v1.DeleteOptions";

std::vector<std::string> Media() {
  return {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"};
}

std::vector<std::string> StreamedMedia() {
  std::vector<std::string> media = Media();
  media.emplace_back("application/json;stream=watch");
  media.emplace_back("application/vnd.kubernetes.protobuf;stream=watch");
  return media;
}

void Append(std::vector<ParameterFacts> more, std::vector<ParameterFacts>& parameters) {
  for (ParameterFacts& one : more) parameters.push_back(std::move(one));
}

bool Has(const Subresource& sub, std::string_view verb) {
  return std::find(sub.verbs.begin(), sub.verbs.end(), verb) != sub.verbs.end();
}

// Calls that are handed on to something else; their kind is that of their options.
bool IsConnect(const Subresource& sub) { return sub.kind.kind.ends_with("Options"); }

Content Builtin(std::string_view name) { return {Content::kBuiltin, nullptr, std::string(name)}; }

// The operations of one built-in resource.
class Builder {
 public:
  explicit Builder(const ResourceType& type)
      : type_(type), word_(GroupVersionWord(type.gvk.group, type.gvk.version)) {
    base_ = type.gvk.group.empty() ? "/api/" : "/apis/" + type.gvk.group + "/";
    base_ += type.gvk.version;
  }

  std::vector<OperationFacts> Build() {
    Collection();
    Item();
    for (const Subresource& sub : type_.subresources) {
      if (IsConnect(sub)) {
        Connect(sub, false);
        if (sub.kind.kind.ends_with("ProxyOptions")) Connect(sub, true);
      } else {
        OnSubresource(sub);
      }
    }
    return std::move(out_);
  }

 private:
  std::string Place(const char* before = "/") const {
    return base_ + before + (type_.namespaced ? "namespaces/{namespace}/" : "") + type_.plural;
  }

  // What every operation has; `what` follows the group and version in its id.
  OperationFacts& Add(std::string path, const char* method, const char* action, const char* verb,
                      const std::string& what) {
    OperationFacts& facts = out_.emplace_back();
    facts.method = method;
    facts.action = action;
    facts.id = verb + word_ + what;
    facts.tag = TagOf(type_.gvk.group, type_.gvk.version);
    facts.kind = type_.gvk;
    facts.consumes = {"*/*"};
    facts.produces = Media();
    facts.parameters = {PrettyParameter()};
    facts.codes = {200};
    if (path.find("{namespace}") != std::string::npos) {
      facts.parameters.push_back(PathParameter("namespace", "Namespace that the objects are in."));
    }
    facts.path = std::move(path);
    return facts;
  }

  void Named(OperationFacts& facts) const {
    facts.parameters.push_back(PathParameter("name", "Name of the " + facts.kind.kind + "."));
  }

  std::string Kind() const { return (type_.namespaced ? "Namespaced" : "") + type_.gvk.kind; }

  void List(std::string path, const std::string& what, bool watch) {
    OperationFacts& facts = watch ? Add(std::move(path), "get", "watchlist", "watch", what)
                                  : Add(std::move(path), "get", "list", "list", what);
    facts.description = watch ? "Outdated: changes to objects of kind " + type_.gvk.kind +
                                    "; lists with the parameter watch do the same."
                              : "Lists objects of kind " + type_.gvk.kind + ", or watches them.";
    facts.produces = StreamedMedia();
    Append(OptionParameters("meta/v1.ListOptions"), facts.parameters);
    facts.answer = watch ? Builtin("meta/v1.WatchEvent") : Content{Content::kList, &type_, ""};
  }

  void Lists(const std::string& path, const std::string& what, const std::string& end) {
    List(base_ + "/" + path, what + end, false);
    if (type_.HasVerb("watch")) List(base_ + "/watch/" + path, what + "List" + end, true);
  }

  void Collection() {
    const std::string path = Place().substr(base_.size() + 1);
    if (type_.HasVerb("list")) {
      if (type_.namespaced) Lists(type_.plural, type_.gvk.kind, "ForAllNamespaces");
      Lists(path, Kind(), "");
    }
    if (type_.HasVerb("create")) Post(Place(), Kind(), Object(), type_.gvk);
    if (!type_.HasVerb("deletecollection")) return;
    OperationFacts& facts = Add(Place(), "delete", "deletecollection", "delete",
                                "Collection" + Kind());
    facts.description = "Deletes objects of kind " + type_.gvk.kind + ".";
    Append(OptionParameters(kDeleteOptions), facts.parameters);
    Append(OptionParameters("meta/v1.ListOptions", "watch allowWatchBookmarks"), facts.parameters);
    facts.body = Builtin(kDeleteOptions);
    facts.answer = Builtin(kStatus);
  }

  Content Object() const { return {Content::kObject, &type_, ""}; }

  void Item() {
    const std::string path = Place() + "/{name}";
    if (type_.HasVerb("get")) Get(path, Kind(), Object(), type_.gvk);
    if (type_.HasVerb("update")) Put(path, Kind(), Object(), type_.gvk);
    if (type_.HasVerb("patch")) Patch(path, Kind(), Object(), type_.gvk);
    if (type_.HasVerb("delete")) Delete(path);
    if (!type_.HasVerb("watch")) return;
    OperationFacts& facts = Add(Place("/watch/") + "/{name}", "get", "watch", "watch", Kind());
    facts.description = "Outdated: changes to one object of kind " + type_.gvk.kind +
                        "; a list with the parameters watch and fieldSelector does the same.";
    facts.produces = StreamedMedia();
    Named(facts);
    Append(OptionParameters("meta/v1.ListOptions"), facts.parameters);
    facts.answer = Builtin("meta/v1.WatchEvent");
  }

  void Get(const std::string& path, const std::string& what, Content answer,
           const GroupVersionKind& kind) {
    OperationFacts& facts = Add(path, "get", "get", "read", what);
    facts.description = "Reads one " + kind.kind + ".";
    facts.kind = kind;
    Named(facts);
    facts.answer = std::move(answer);
  }

  void Post(const std::string& path, const std::string& what, Content body,
            const GroupVersionKind& kind) {
    OperationFacts& facts = Add(path, "post", "post", "create", what);
    facts.description = "Creates an object of kind " + kind.kind + ".";
    facts.kind = kind;
    if (path.ends_with("}") || path.find("{name}") != std::string::npos) Named(facts);
    Append(OptionParameters("meta/v1.CreateOptions"), facts.parameters);
    facts.answer = facts.body = std::move(body);
    facts.body_required = true;
    facts.codes = {200, 201, 202};
  }

  void Put(const std::string& path, const std::string& what, Content body,
           const GroupVersionKind& kind) {
    OperationFacts& facts = Add(path, "put", "put", "replace", what);
    facts.description = "Replaces one " + kind.kind + ".";
    facts.kind = kind;
    Named(facts);
    Append(OptionParameters("meta/v1.UpdateOptions"), facts.parameters);
    facts.answer = facts.body = std::move(body);
    facts.body_required = true;
    facts.codes = {200, 201};
  }

  void Patch(const std::string& path, const std::string& what, Content answer,
             const GroupVersionKind& kind) {
    OperationFacts& facts = Add(path, "patch", "patch", "patch", what);
    facts.description = "Changes members of one " + kind.kind + ".";
    facts.kind = kind;
    Named(facts);
    Append(OptionParameters("meta/v1.PatchOptions"), facts.parameters);
    facts.consumes.assign(std::begin(kPatchTypes), std::end(kPatchTypes));
    facts.body = Builtin("meta/v1.Patch");
    facts.body_required = true;
    facts.answer = std::move(answer);
    facts.codes = {200, 201};
  }

  void Delete(const std::string& path) {
    OperationFacts& facts = Add(path, "delete", "delete", "delete", Kind());
    facts.description = "Deletes one " + type_.gvk.kind + ".";
    Named(facts);
    Append(OptionParameters(kDeleteOptions), facts.parameters);
    facts.body = Builtin(kDeleteOptions);
    // What others finalize is answered as an object, too, but the original does not announce it.
    const bool announced = type_.returns_deleted && type_.FindSubresource("finalize") == nullptr;
    facts.answer = announced ? Object() : Builtin(kStatus);
    facts.codes = {200, 202};
  }

  void OnSubresource(const Subresource& sub) {
    const std::string path = Place() + "/{name}/" + sub.name, what = Kind() + Capital(sub.name);
    Content body = Object();
    if (!(sub.kind == type_.gvk)) {
      const Schema* schema = BuiltinKind(sub.kind);
      if (schema != nullptr) body = Builtin(schema->name);
    }
    if (sub.name == "log") {
      Log(path, what);
    } else if (Has(sub, "get")) {
      Get(path, what, body, sub.kind);
    }
    if (Has(sub, "create")) Post(path, what, body, sub.kind);
    if (Has(sub, "update")) Put(path, what, body, sub.kind);
    if (Has(sub, "patch")) Patch(path, what, body, sub.kind);
  }

  void Log(const std::string& path, const std::string& what) {
    Get(path, what, {Content::kText, nullptr, ""}, type_.gvk);
    OperationFacts& facts = out_.back();
    facts.description = "Reads what the containers of a pod have written.";
    facts.produces.insert(facts.produces.begin(), "text/plain");
    Append(OptionParameters("core/v1.PodLogOptions"), facts.parameters);
  }

  void Connect(const Subresource& sub, bool with_path) {
    static constexpr const char* kAll[] = {"get", "post", "put", "delete", "options", "head", "patch"};
    const bool proxies = sub.kind.kind.ends_with("ProxyOptions");
    const Schema* options = BuiltinKind(sub.kind);
    for (const char* method : kAll) {
      if (!proxies && method != std::string_view("get") && method != std::string_view("post")) continue;
      OperationFacts& facts =
          Add(Place() + "/{name}/" + sub.name + (with_path ? "/{path}" : ""), method, "connect",
              "connect", "");
      facts.id += Capital(method) + Kind() + Capital(sub.name) + (with_path ? "WithPath" : "");
      facts.description = "Calls " + sub.name + " of one " + type_.gvk.kind + ".";
      facts.kind = sub.kind;
      facts.produces = {"*/*"};
      std::erase(facts.parameters, PrettyParameter());
      Named(facts);
      if (with_path) facts.parameters.push_back(PathParameter("path", "Path of what is called."));
      if (options != nullptr) Append(OptionParameters(options->name), facts.parameters);
      facts.answer = {Content::kText, nullptr, ""};
    }
  }

  const ResourceType& type_;
  std::string word_, base_;
  std::vector<OperationFacts> out_;
};

OperationFacts Document(std::string path, std::string id, std::string tag, const char* description,
                        Content answer) {
  OperationFacts facts;
  facts.path = std::move(path);
  facts.method = "get";
  facts.id = std::move(id);
  facts.tag = std::move(tag);
  facts.description = description;
  facts.consumes = facts.produces = Media();
  facts.answer = std::move(answer);
  facts.codes = {200};
  return facts;
}

}  // namespace

std::vector<OperationFacts> OperationsOf(const ResourceType& type) {
  std::vector<OperationFacts> out =
      type.builtin ? Builder(type).Build() : CustomOperationsOf(type);
  for (OperationFacts& facts : out) {
    std::sort(facts.parameters.begin(), facts.parameters.end(),
              [](const ParameterFacts& a, const ParameterFacts& b) {
                return std::tuple(a.name, std::string_view(a.in)) <
                       std::tuple(b.name, std::string_view(b.in));
              });
  }
  return out;
}

bool IsBuiltin(const GroupVersion& version) {
  return !version.resources.empty() && version.resources.front()->builtin;
}

OperationFacts VersionOperation(const std::string& group, const std::string& version) {
  return Document((group.empty() ? "/api/" : "/apis/" + group + "/") + version + "/",
                  "get" + GroupVersionWord(group, version) + "APIResources",
                  TagOf(group, version), "Tells which resources there are.",
                  Builtin("meta/v1.APIResourceList"));
}

OperationFacts GroupOperation(const std::string& group) {
  if (group.empty()) {
    return Document("/api/", "getCoreAPIVersions", "core", "Tells which versions there are.",
                    Builtin("meta/v1.APIVersions"));
  }
  return Document("/apis/" + group + "/", "get" + GroupVersionWord(group, "") + "APIGroup",
                  TagOf(group, ""), "Tells which versions of the group there are.",
                  Builtin("meta/v1.APIGroup"));
}

std::vector<OperationFacts> ServerOperations() {
  const Content text = {Content::kText, nullptr, ""};
  std::vector<OperationFacts> out = {
      Document("/.well-known/openid-configuration/", "getServiceAccountIssuerOpenIDConfiguration",
               "WellKnown", "Tells OpenID clients about the issuer of ServiceAccount tokens.", text),
      Document("/apis/", "getAPIVersions", "apis", "Tells which groups there are.",
               Builtin("meta/v1.APIGroupList")),
      Document("/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset", "openid",
               "Tells the keys that ServiceAccount tokens are verified with.", text),
      Document("/version/", "getCodeVersion", "version", "Tells the version of the server.",
               {Content::kVersionInfo, nullptr, ""})};
  out[0].consumes.clear();
  out[0].produces = {"application/json"};
  out[2].consumes.clear();
  out[2].produces = {"application/jwk-set+json"};
  out[3].consumes = out[3].produces = {"application/json"};
  return out;
}

}  // namespace mailroom::openapi
