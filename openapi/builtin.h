// The built-in kinds of Kubernetes 1.36's GA API: their types and their resources, read from the
// fact files in openapi/builtin/. Parsed once, at the first call; afterwards immutable, so any
// thread may call these and keep the references for ever.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/resource_type.h"

namespace mailroom::openapi {

const SchemaSet& BuiltinSchemas();

// A type such as `meta/v1.DeleteOptions` or `core/v1.PodSpec`; nullptr when unknown. Lists
// (`PodList`) are not among them: every list is {metadata: ListMeta = 1, items = 2}.
const Schema* BuiltinType(std::string_view name);
// All types by name.
const std::map<std::string, const Schema*, std::less<>>& BuiltinTypeTable();

// One fact file: a version of a group and the package that publishes it.
struct BuiltinPackage {
  std::string home;     // prefix of its type names: `core/v1`
  std::string package;  // `k8s.io/api/core/v1`
  std::string group;    // "" is core
  std::string version;
};
const std::vector<BuiltinPackage>& BuiltinPackages();
// The type that carries a kind, nullptr when there is none: ("apps", "v1", "Deployment").
const Schema* BuiltinKind(const GroupVersionKind& gvk);
// The name under which OpenAPI documents publish a type: `io.k8s.api.core.v1.PodSpec`.
std::string BuiltinModelName(std::string_view name);

// By resource, the members of metadata that a write of its status leaves as they are.
const std::map<GroupResource, std::vector<std::string>>& StatusKeeps();

// Every served resource of the GA versions.
const std::vector<ResourceTypePtr>& BuiltinTypes();

}  // namespace mailroom::openapi
