// Identities the translator speaks of: an object within a workspace, a source object, a placement,
// and their text form as work keys. Value types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/client/work_queue.h"
#include "storage/object/ids.h"

namespace mailroom::translator {

// An object of any workspace, without version: the same id names source and copy.
struct ObjectId {
  GroupResource resource;
  std::string ns;  // "" for cluster-scoped objects
  std::string name;
  friend auto operator<=>(const ObjectId&, const ObjectId&) = default;
};

struct SourceKey {
  std::string wds;
  ObjectId id;
  friend auto operator<=>(const SourceKey&, const SourceKey&) = default;
};

enum class PlacementKind { kBindingPolicy, kEdgePlacement };

struct PlacementKey {
  std::string wds;
  PlacementKind kind = PlacementKind::kBindingPolicy;
  std::string name;
  friend auto operator<=>(const PlacementKey&, const PlacementKey&) = default;
};

// Work keys: the lane is the workspace written to, the id `group/resource/namespace/name`.
client::WorkKey ToWorkKey(const std::string& workspace, const ObjectId& id);
std::optional<ObjectId> ParseObjectId(std::string_view text);

// `deployments.apps/ns/name` for people.
std::string Describe(const ObjectId& id);

inline const GroupResource kNamespaces{"", "namespaces"};
inline const GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};

ObjectId NamespaceId(std::string_view name);
ObjectId CrdId(const GroupResource& defined);
// The resource that a CustomResourceDefinition of this name defines.
std::optional<GroupResource> DefinedBy(std::string_view crd_name);

}  // namespace mailroom::translator
