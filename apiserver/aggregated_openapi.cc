#include "apiserver/aggregated_openapi.h"

#include <map>

#include "apiserver/aggregator.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kDefinition = "#/definitions/", kParameter = "#/parameters/";
const Json kNothing = Json::object();

const Json& MemberOf(const Json& document, const char* name) {
  const Json* found = Find(document, {name});
  return found != nullptr && found->is_object() ? *found : kNothing;
}

bool IsPathOf(const RemoteApi& api, std::string_view path) {
  const std::string group = "/apis/" + api.group + "/";
  if (!path.starts_with(group)) return false;
  path.remove_prefix(group.size());
  // The document of the group itself has a path, too.
  return path.empty() || path == api.version || path.starts_with(api.version + "/");
}

// Every text under `$ref` in a tree.
template <typename Tree, typename Each>
void ForEachRef(Tree& tree, const Each& each) {
  if (tree.is_object()) {
    for (auto it = tree.begin(); it != tree.end(); ++it) {
      if (it.key() == "$ref" && it->is_string()) {
        each(it->template get_ref<std::conditional_t<std::is_const_v<Tree>, const std::string&,
                                                     std::string&>>());
      } else {
        ForEachRef(*it, each);
      }
    }
  } else if (tree.is_array()) {
    for (auto& element : tree) ForEachRef(element, each);
  }
}

// Parameters that the document has once for all its paths, put where they are meant: there is no
// place for them among ours. False when they would be longer than `most` bytes.
class Inliner {
 public:
  Inliner(const Json& parameters, std::size_t most) : parameters_(parameters), left_(most) {}

  bool Path(Json& path) {
    if (!path.is_object()) return true;
    for (Json& member : path) {
      if (member.is_array() && !List(member)) return false;
      Json* own = Find(member, {"parameters"});
      if (own != nullptr && !List(*own)) return false;
    }
    return true;
  }

 private:
  bool List(Json& list) {
    if (!list.is_array()) return true;
    for (Json& element : list) {
      const std::string ref = StringAt(element, {"$ref"});
      if (!ref.starts_with(kParameter)) continue;
      const auto found = parameters_.find(ref.substr(kParameter.size()));
      if (found == parameters_.end()) continue;
      const std::size_t bytes = SizeOf(found.key(), *found);
      if (bytes > left_) return false;
      left_ -= bytes;
      element = *found;
    }
    return true;
  }
  std::size_t SizeOf(const std::string& name, const Json& parameter) {
    const auto [known, fresh] = sizes_.emplace(name, 0);
    if (fresh) known->second = DumpJson(parameter).size();
    return known->second;
  }

  const Json& parameters_;
  std::size_t left_;
  std::map<std::string, std::size_t> sizes_;
};

std::string NameOf(const std::string& ref) {
  return ref.starts_with(kDefinition) ? ref.substr(kDefinition.size()) : "";
}

// The definitions that `paths` leads to, over any number of others.
Json Reached(const Json& paths, const Json& definitions) {
  Json out = Json::object();
  std::vector<const Json*> next = {&paths};
  while (!next.empty()) {
    const Json& tree = *next.back();
    next.pop_back();
    ForEachRef(tree, [&](const std::string& ref) {
      const std::string name = NameOf(ref);
      const auto found = definitions.find(name);
      if (found == definitions.end() || out.contains(name)) return;
      out[name] = *found;
      next.push_back(&*found);
    });
  }
  return out;
}

// Puts the definitions of one part beside those that are there, and tells under which names.
class Renaming {
 public:
  Renaming(const Json& ours, Json& others) : ours_(ours), others_(others) {}

  void Add(Json part) {
    std::map<std::string, std::string> names;
    Json& definitions = part["definitions"];
    for (const auto& [name, definition] : definitions.items()) {
      names[name] = NameFor(name, definition, definitions);
    }
    const auto rename = [&](std::string& ref) {
      const auto found = names.find(NameOf(ref));
      if (found != names.end()) ref = std::string(kDefinition) + found->second;
    };
    ForEachRef(part, rename);
    for (auto& [name, definition] : definitions.items()) {
      const std::string& shown = names[name];
      if (Known(shown) == nullptr) others_["definitions"][shown] = std::move(definition);
    }
    for (auto& [path, item] : part["paths"].items()) {
      if (MemberOf(ours_, "paths").contains(path)) continue;
      others_["paths"].emplace(path, std::move(item));
    }
  }

 private:
  const Json* Known(const std::string& name) const {
    for (const Json* document : {&ours_, static_cast<const Json*>(&others_)}) {
      const Json& definitions = MemberOf(*document, "definitions");
      if (const auto found = definitions.find(name); found != definitions.end()) return &*found;
    }
    return nullptr;
  }
  // A definition that is the same, names and all, is not told twice. `part` has names of its own.
  std::string NameFor(const std::string& name, const Json& definition, const Json& part) const {
    std::string free = name;
    for (int number = 2;; ++number) {
      const Json* known = Known(free);
      const bool its_own = free == name || !part.contains(free);
      if (its_own && (known == nullptr || *known == definition)) return free;
      free = name + "_v" + std::to_string(number);
    }
  }

  const Json& ours_;
  Json& others_;
};

}  // namespace

std::optional<std::string> Version2Part(const Json& document, const RemoteApi& api,
                                        std::size_t most) {
  Json paths = Json::object();
  Inliner inliner(MemberOf(document, "parameters"), most);
  for (const auto& [path, item] : MemberOf(document, "paths").items()) {
    if (!IsPathOf(api, path)) continue;
    Json& kept = paths[path] = item;
    if (!inliner.Path(kept)) return std::nullopt;
  }
  if (paths.empty()) return std::nullopt;
  Json definitions = Reached(paths, MemberOf(document, "definitions"));
  std::string text =
      DumpJson({{"paths", std::move(paths)}, {"definitions", std::move(definitions)}});
  if (text.size() > most) return std::nullopt;
  return text;
}

std::optional<Response> Aggregator::Version2Answer(const Request& request, const RequestInfo& info,
                                                   const WorkspaceView& workspace,
                                                   OpenApiPaths& ours) const {
  const auto& segments = info.segments;
  const bool asked = segments.size() == 2 && segments[0] == "openapi" && segments[1] == "v2";
  if (!asked || request.path.ends_with('/')) return std::nullopt;
  const RemoteApiList list = apis_.Of(info.workspace);
  const std::string type = OpenApiPaths::Version2Type(request);
  if (list->empty() || type.empty()) return std::nullopt;
  const Shown shown = ShownAs(type + ";openapi=v2", workspace, list, [&](const LearnedMap& learned) {
    std::vector<SharedBytes> parts;
    for (const RemoteApi& api : *list) {
      const auto known = learned.find(api.name);
      if (!api.available || known == learned.end()) continue;
      if (known->second->version2.part) parts.push_back(known->second->version2.part);
    }
    Shown made;
    if (parts.empty()) return made;
    made.body = ours.Version2With(
        workspace.catalog, type,
        [&](const Json& document) { return MergeVersion2(document, parts); }, made.hash);
    return made;
  });
  if (shown.body.empty()) return std::nullopt;
  return DocumentResponse(request, shown.body, shown.hash, type);
}

Json MergeVersion2(const Json& ours, const std::vector<SharedBytes>& parts) {
  Json others = {{"paths", Json::object()}, {"definitions", Json::object()}};
  Renaming renaming(ours, others);
  for (const SharedBytes& part : parts) {
    if (auto tree = ParseJson(*part); tree.ok()) renaming.Add(std::move(*tree));
  }
  return others;
}

}  // namespace mailroom::apiserver
