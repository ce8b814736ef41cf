#include "translator/discover.h"

#include <algorithm>
#include <set>

#include "storage/object/json_path.h"

namespace mailroom::translator {
namespace {

bool HasVerb(const std::vector<std::string>& verbs, std::string_view verb) {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

// Versions of one APIGroup, the preferred first.
std::vector<std::string> VersionsOf(const Json& group) {
  std::vector<std::string> out;
  const std::string preferred = StringAt(group, {"preferredVersion", "version"});
  if (!preferred.empty()) out.push_back(preferred);
  const Json* versions = Find(group, {"versions"});
  if (versions == nullptr || !versions->is_array()) return out;
  for (const Json& entry : *versions) {
    std::string version = StringAt(entry, {"version"});
    if (!version.empty() && version != preferred) out.push_back(std::move(version));
  }
  return out;
}

}  // namespace

client::Gvr ResourceFacts::gvr() const {
  return {resource.group.empty() ? version : resource.group + "/" + version, resource.resource};
}

void AddResources(const std::string& group, const std::string& version, const Json& list,
                  std::vector<ResourceFacts>& out) {
  const Json* resources = Find(list, {"resources"});
  if (resources == nullptr || !resources->is_array()) return;
  std::set<std::string> with_status;
  for (const Json& entry : *resources) {
    const std::string name = StringAt(entry, {"name"});
    if (name.ends_with("/status")) with_status.insert(name.substr(0, name.find('/')));
  }
  for (const Json& entry : *resources) {
    const std::string name = StringAt(entry, {"name"});
    const std::vector<std::string> verbs = StringsAt(entry, {"verbs"});
    if (name.empty() || name.find('/') != std::string::npos) continue;
    if (!HasVerb(verbs, "list") || !HasVerb(verbs, "watch")) continue;
    const GroupResource resource{group, name};
    const bool known = std::any_of(out.begin(), out.end(), [&resource](const ResourceFacts& f) {
      return f.resource == resource;
    });
    if (known) continue;
    out.push_back({.resource = resource,
                   .version = version,
                   .has_status = with_status.contains(name),
                   .namespaced = BoolAt(entry, {"namespaced"})});
  }
}

Result<std::vector<ResourceFacts>> Discover(const client::Client& client) {
  std::vector<ResourceFacts> out;
  AddResources("", "v1", TRY(client.GetPath("/api/v1")), out);
  const Json groups = TRY(client.GetPath("/apis"));
  const Json* list = Find(groups, {"groups"});
  if (list == nullptr || !list->is_array()) return Internal("discovery lists no groups");
  for (const Json& group : *list) {
    const std::string name = StringAt(group, {"name"});
    for (const std::string& version : VersionsOf(group)) {
      Result<Json> document = client.GetPath("/apis/" + name + "/" + version);
      if (!document.ok() && document.error().reason() == Reason::kNotFound) {
        return Conflict("apigroups", "", name, "it went away while being read");
      }
      AddResources(name, version, TRY(std::move(document)), out);
    }
  }
  return out;
}

}  // namespace mailroom::translator
