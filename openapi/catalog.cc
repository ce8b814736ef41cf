#include "openapi/catalog.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "openapi/builtin.h"
#include "openapi/edge_types.h"

namespace mailroom::openapi {
namespace {

constexpr WorkspaceType kWorkspaceTypes[] = {
    WorkspaceType::kRoot, WorkspaceType::kInventory, WorkspaceType::kCluster, WorkspaceType::kWds,
    WorkspaceType::kMailbox};

constexpr std::pair<std::string_view, int> kGroupPriorities[] = {
    {"apiregistration.k8s.io", 20000},
    {"", 18000},
    {"apps", 17800},
    {"events.k8s.io", 17750},
    {"authentication.k8s.io", 17700},
    {"authorization.k8s.io", 17600},
    {"autoscaling", 17500},
    {"batch", 17400},
    {"certificates.k8s.io", 17300},
    {"networking.k8s.io", 17200},
    {"policy", 17100},
    {"rbac.authorization.k8s.io", 17000},
    {"storage.k8s.io", 16800},
    {"apiextensions.k8s.io", 16700},
    {"admissionregistration.k8s.io", 16700},
    {"scheduling.k8s.io", 16600},
    {"coordination.k8s.io", 16500},
    {"node.k8s.io", 16300},
    {"discovery.k8s.io", 16200},
    {"resource.k8s.io", 16200},
    {"flowcontrol.apiserver.k8s.io", 16100},
};
constexpr int kCustomGroupPriority = 1000;

int GroupPriority(std::string_view group) {
  for (const auto& [name, priority] : kGroupPriorities) {
    if (name == group) return priority;
  }
  return kCustomGroupPriority;
}

using Path = std::tuple<std::string_view, std::string_view, std::string_view>;

Path PathOf(const ResourceTypePtr& type) {
  return {type->gvk.group, type->gvk.version, type->plural};
}

std::vector<ResourceTypePtr>::const_iterator LowerBound(const std::vector<ResourceTypePtr>& types,
                                                        const Path& path) {
  return std::lower_bound(
      types.begin(), types.end(), path,
      [](const ResourceTypePtr& type, const Path& wanted) { return PathOf(type) < wanted; });
}

// By path, each path once. Stable, so that the first of two types with one path is the one served.
void SortOnce(std::vector<ResourceTypePtr>& types) {
  std::stable_sort(types.begin(), types.end(),
                   [](const auto& a, const auto& b) { return PathOf(a) < PathOf(b); });
  types.erase(std::unique(types.begin(), types.end(),
                          [](const auto& a, const auto& b) { return PathOf(a) == PathOf(b); }),
              types.end());
}

// A version of the form v<major>[alpha|beta<minor>]; others have level 0.
struct ParsedVersion {
  int level = 0;  // 3 GA, 2 beta, 1 alpha
  std::uint64_t major = 0, minor = 0;
};

bool TakeNumber(std::string_view& text, std::uint64_t& number) {
  std::size_t digits = 0;
  number = 0;
  while (digits < text.size() && digits < 18 && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
  }
  if (digits == 0 || text[0] == '0') return false;
  text.remove_prefix(digits);
  return true;
}

ParsedVersion ParseVersion(std::string_view text) {
  ParsedVersion version;
  if (!text.starts_with('v')) return {};
  text.remove_prefix(1);
  if (!TakeNumber(text, version.major)) return {};
  if (text.empty()) {
    version.level = 3;
    return version;
  }
  version.level = text.starts_with("beta") ? 2 : text.starts_with("alpha") ? 1 : 0;
  if (version.level == 0) return {};
  text.remove_prefix(version.level == 2 ? 4 : 5);
  if (!TakeNumber(text, version.minor) || !text.empty()) return {};
  return version;
}

}  // namespace

bool VersionLess(std::string_view a, std::string_view b) {
  const ParsedVersion x = ParseVersion(a), y = ParseVersion(b);
  if (x.level == 0 && y.level == 0) return a < b;
  return std::tie(y.level, y.major, y.minor) < std::tie(x.level, x.major, x.minor);
}

std::string_view WorkspaceTypeText(WorkspaceType type) {
  switch (type) {
    case WorkspaceType::kRoot:
      return "root";
    case WorkspaceType::kInventory:
      return "inventory";
    case WorkspaceType::kCluster:
      return "cluster";
    case WorkspaceType::kWds:
      return "wds";
    case WorkspaceType::kMailbox:
      return "mailbox";
  }
  return "";
}

Result<WorkspaceType> ParseWorkspaceType(std::string_view text) {
  for (WorkspaceType type : kWorkspaceTypes) {
    if (WorkspaceTypeText(type) == text) return type;
  }
  return BadRequest("unknown workspace type " + Quoted(text));
}

bool PolicyIsLive(WorkspaceType type) {
  return type != WorkspaceType::kWds && type != WorkspaceType::kMailbox;
}

std::shared_ptr<const Catalog> Catalog::Make(std::vector<ResourceTypePtr> types) {
  SortOnce(types);
  return FromSorted(std::move(types));
}

std::shared_ptr<const Catalog> Catalog::FromSorted(std::vector<ResourceTypePtr> types) {
  auto catalog = std::make_shared<Catalog>();
  types.shrink_to_fit();
  for (const ResourceTypePtr& type : types) {
    auto& groups = catalog->groups_;
    if (groups.empty() || groups.back().name != type->gvk.group) {
      groups.push_back({type->gvk.group, GroupPriority(type->gvk.group), {}});
    }
    auto& versions = groups.back().versions;
    if (versions.empty() || versions.back().version != type->gvk.version) {
      versions.push_back({type->gvk.version, {}});
    }
    versions.back().resources.push_back(type);
  }
  for (Group& group : catalog->groups_) {
    std::sort(group.versions.begin(), group.versions.end(),
              [](const GroupVersion& a, const GroupVersion& b) {
                return VersionLess(a.version, b.version);
              });
  }
  std::stable_sort(catalog->groups_.begin(), catalog->groups_.end(),
                   [](const Group& a, const Group& b) { return a.priority > b.priority; });
  catalog->by_path_ = std::move(types);
  return catalog;
}

std::shared_ptr<const Catalog> Catalog::Changed(const std::vector<ResourceTypePtr>& without,
                                                const std::vector<ResourceTypePtr>& with) const {
  std::vector<ResourceTypePtr> all = by_path_;
  for (const ResourceTypePtr& type : without) {
    const auto at = LowerBound(all, PathOf(type));
    if (at != all.end() && *at == type) all.erase(at);
  }
  constexpr std::size_t kFew = 64;  // more are sorted in together
  if (with.size() > kFew) {
    all.insert(all.end(), with.begin(), with.end());
    SortOnce(all);
    return Shared(std::move(all));
  }
  for (const ResourceTypePtr& type : with) {
    const auto at = LowerBound(all, PathOf(type));
    if (at == all.end() || PathOf(*at) != PathOf(type)) all.insert(at, type);
  }
  return Shared(std::move(all));
}

std::shared_ptr<const Catalog> Catalog::Shared(std::vector<ResourceTypePtr> types) {
  // Workspaces with equal definitions hold equal pointers (TypesOfCrd), hence can share.
  static std::mutex mutex;
  static auto* living = new std::unordered_multimap<std::size_t, std::weak_ptr<const Catalog>>;
  std::size_t hash = types.size();
  for (const ResourceTypePtr& type : types) {
    hash = hash * 1'000'003 + std::hash<const void*>()(type.get());
  }
  const std::lock_guard<std::mutex> lock(mutex);
  for (auto [at, end] = living->equal_range(hash); at != end; ++at) {
    auto catalog = at->second.lock();
    if (catalog != nullptr && catalog->by_path_ == types) return catalog;
  }
  std::erase_if(*living, [](const auto& entry) { return entry.second.expired(); });
  auto catalog = FromSorted(std::move(types));
  living->emplace(hash, catalog);
  return catalog;
}

ResourceTypePtr Catalog::FindShared(std::string_view group, std::string_view version,
                                    std::string_view plural) const {
  auto at = LowerBound(by_path_, {group, version, plural});
  return at != by_path_.end() && PathOf(*at) == Path{group, version, plural} ? *at : nullptr;
}

const ResourceType* Catalog::Find(std::string_view group, std::string_view version,
                                  std::string_view plural) const {
  auto at = LowerBound(by_path_, {group, version, plural});
  const bool found = at != by_path_.end() && PathOf(*at) == Path{group, version, plural};
  return found ? at->get() : nullptr;
}

const ResourceType* Catalog::FindKind(const GroupVersionKind& gvk) const {
  auto at = LowerBound(by_path_, {gvk.group, gvk.version, ""});
  for (; at != by_path_.end() && (*at)->gvk.group == gvk.group && (*at)->gvk.version == gvk.version;
       ++at) {
    if ((*at)->gvk.kind == gvk.kind) return at->get();
  }
  return nullptr;
}

std::vector<ResourceTypePtr> Catalog::Preferred() const {
  std::vector<ResourceTypePtr> preferred;
  std::set<GroupResource> seen;  // what is stored once is listed once
  for (const Group& group : groups_) {
    for (const GroupVersion& version : group.versions) {
      for (const ResourceTypePtr& type : version.resources) {
        if (seen.insert(type->stored_as).second) preferred.push_back(type);
      }
    }
  }
  return preferred;
}

CatalogPtr BaseCatalog(WorkspaceType type) {
  static const auto* catalogs = new std::map<WorkspaceType, CatalogPtr>([] {
    std::map<WorkspaceType, CatalogPtr> made;
    for (WorkspaceType each : kWorkspaceTypes) {
      std::vector<ResourceTypePtr> types = BuiltinTypes();
      types.insert(types.end(), EdgeTypes(each).begin(), EdgeTypes(each).end());
      made.emplace(each, Catalog::Make(std::move(types)));
    }
    return made;
  }());
  return catalogs->at(type);
}

bool IsOwnResource(const GroupResource& resource) {
  static const auto* own = new std::set<GroupResource>([] {
    std::set<GroupResource> names;
    for (WorkspaceType each : kWorkspaceTypes) {
      for (const Group& group : BaseCatalog(each)->groups()) {
        for (const GroupVersion& version : group.versions) {
          for (const ResourceTypePtr& type : version.resources) {
            names.insert(type->group_resource());
            names.insert(type->stored_as);
          }
        }
      }
    }
    return names;
  }());
  return own->contains(resource);
}

}  // namespace mailroom::openapi
