#include "syncer/config.h"

#include <algorithm>

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::syncer {
namespace {

constexpr std::string_view kAll = "*";

const Json& ListAt(const Json& root, Path path) {
  static const Json empty = Json::array();
  const Json* found = Find(root, path);
  return found != nullptr && found->is_array() ? *found : empty;
}

void AddNames(const std::vector<std::string>& names, Names& into) {
  for (const std::string& name : names) {
    if (name == kAll) {
      into.all = true;
    } else {
      into.listed.insert(name);
    }
  }
}

}  // namespace

struct SelectionReader {
  Selection& out;

  // Null when the entry does not name a resource.
  Wanted* ResourceOf(const Json& entry) {
    const std::string resource = StringAt(entry, {"resource"});
    std::string version = StringAt(entry, {"apiVersion"});
    if (resource.empty() || version.empty()) return nullptr;
    const auto [at, is_new] = out.resources_.try_emplace({StringAt(entry, {"group"}), resource});
    if (is_new) at->second.version = std::move(version);
    return &at->second;
  }

  void ReadNamespaceScope(const Json& config) {
    const auto namespaces = StringsAt(config, {"spec", "namespaceScope", "namespaces"});
    out.ensured_.insert(namespaces.begin(), namespaces.end());
    for (const Json& entry : ListAt(config, {"spec", "namespaceScope", "resources"})) {
      Wanted* wanted = ResourceOf(entry);
      if (wanted == nullptr) continue;
      for (const std::string& ns : namespaces) wanted->by_namespace[ns].all = true;
    }
  }

  void ReadNamespacedObjects(const Json& config) {
    for (const Json& entry : ListAt(config, {"spec", "namespacedObjects"})) {
      Wanted* wanted = ResourceOf(entry);
      if (wanted == nullptr) continue;
      for (const Json& group : ListAt(entry, {"objectsByNamespace"})) {
        const std::string ns = StringAt(group, {"namespace"});
        const auto names = StringsAt(group, {"names"});
        if (ns.empty() || names.empty()) continue;
        AddNames(names, wanted->by_namespace[ns]);
        out.ensured_.insert(ns);
      }
    }
  }

  void ReadClusterScope(const Json& config) {
    for (const Json& entry : ListAt(config, {"spec", "clusterScope"})) {
      Wanted* wanted = ResourceOf(entry);
      if (wanted == nullptr) continue;
      // An absent list is all, an empty one is none.
      const Json* objects = Find(entry, {"objects"});
      if (objects == nullptr || objects->is_null()) wanted->cluster.all = true;
      AddNames(StringsAt(entry, {"objects"}), wanted->cluster);
    }
  }
};

bool Names::Has(std::string_view name) const { return all || listed.contains(std::string(name)); }

Selection Selection::FromConfigs(const std::vector<Json>& configs) {
  std::vector<const Json*> ordered;
  for (const Json& config : configs) ordered.push_back(&config);
  std::sort(ordered.begin(), ordered.end(), [](const Json* a, const Json* b) {
    return StringAt(*a, {"metadata", "name"}) < StringAt(*b, {"metadata", "name"});
  });
  Selection selection;
  selection.instructed_ = !configs.empty();
  SelectionReader reader{selection};
  for (const Json* config : ordered) {
    reader.ReadNamespaceScope(*config);
    reader.ReadNamespacedObjects(*config);
    reader.ReadClusterScope(*config);
  }
  if (!selection.ensured_.empty()) {
    Wanted& namespaces = selection.resources_[{"", "namespaces"}];
    if (namespaces.version.empty()) namespaces.version = "v1";
  }
  return selection;
}

bool Selection::Wants(const GroupResource& resource, std::string_view ns,
                      std::string_view name) const {
  const auto found = resources_.find(resource);
  if (found == resources_.end()) return false;
  if (ns.empty()) return found->second.cluster.Has(name);
  const auto names = found->second.by_namespace.find(std::string(ns));
  return names != found->second.by_namespace.end() && names->second.Has(name);
}

}  // namespace mailroom::syncer
