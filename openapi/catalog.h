// What one workspace serves: built-in kinds, the kinds of its workspace type, and the CRDs stored
// in it. An immutable snapshot; workspaces of one type without CRDs share one Catalog.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/result.h"

namespace mailroom::openapi {

enum class WorkspaceType { kRoot, kInventory, kCluster, kWds, kMailbox };

std::string_view WorkspaceTypeText(WorkspaceType type);
Result<WorkspaceType> ParseWorkspaceType(std::string_view text);
// Whether RBAC, webhooks, quotas, APIServices and the like act on the workspace holding them.
bool PolicyIsLive(WorkspaceType type);

struct GroupVersion {
  std::string version;
  std::vector<ResourceTypePtr> resources;  // sorted by plural
};

struct Group {
  std::string name;                     // "" is core
  int priority = 0;                     // discovery order: higher first
  std::vector<GroupVersion> versions;   // preferred first
};

class Catalog {
 public:
  // This catalogue without some types and with others; what it serves besides stays as it is, also
  // where one of the others would take its place. Equal results are one catalogue while somebody
  // holds it.
  std::shared_ptr<const Catalog> Changed(const std::vector<ResourceTypePtr>& without,
                                         const std::vector<ResourceTypePtr>& with) const;
  static std::shared_ptr<const Catalog> Make(std::vector<ResourceTypePtr> types);

  // nullptr when not served.
  const ResourceType* Find(std::string_view group, std::string_view version,
                           std::string_view plural) const;
  ResourceTypePtr FindShared(std::string_view group, std::string_view version,
                             std::string_view plural) const;
  const ResourceType* FindKind(const GroupVersionKind& gvk) const;
  // In discovery order.
  const std::vector<Group>& groups() const { return groups_; }
  // Every type of the preferred version of each resource, for controllers over all kinds.
  std::vector<ResourceTypePtr> Preferred() const;

 private:
  // REQUIRES: sorted by path, each path once.
  static std::shared_ptr<const Catalog> FromSorted(std::vector<ResourceTypePtr> types);
  static std::shared_ptr<const Catalog> Shared(std::vector<ResourceTypePtr> types);

  std::vector<Group> groups_;
  std::vector<ResourceTypePtr> by_path_;  // sorted by group, version, plural
};

using CatalogPtr = std::shared_ptr<const Catalog>;

// The catalogue of a workspace of `type` that holds no CRD. Built once, shared for ever.
CatalogPtr BaseCatalog(WorkspaceType type);

// Whether a workspace of any type has a kind of that name, or stores one under it, without a
// definition. Such names are no definition's: what the server does to the kind it would do to
// whatever the definition makes of it, and readers of all workspaces would take one for the other.
bool IsOwnResource(const GroupResource& resource);

// Kube-aware version order: v2 > v1 > v1beta2 > v1alpha1 > others. True when a comes first.
bool VersionLess(std::string_view a, std::string_view b);

}  // namespace mailroom::openapi
