#include "openapi/edge_types.h"

#include <cstdlib>
#include <map>

#include "openapi/builtin_files.h"
#include "openapi/crd.h"
#include "storage/object/json_path.h"
#include "storage/object/log.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

// Names the workspace types that serve the kind.
constexpr std::string_view kServedIn = "mailbox.kubestellar.io/workspace-types";

// Marks a kind that has a proxy subresource.
constexpr std::string_view kProxied = "mailbox.kubestellar.io/proxied";

// The definitions are part of the program: a bad one is a programming error.
template <typename T>
T Must(std::string_view file, Result<T> result) {
  if (!result.ok()) {
    Log(Level::kError, "bad definition in the program's data",
        {{"file", std::string(file)}, {"error", result.error().message()}});
    std::abort();
  }
  return std::move(result).value();
}

// The kind with a proxy subresource, whose requests go to what the object stands for.
ResourceTypePtr WithProxy(const ResourceType& type) {
  auto out = std::make_shared<ResourceType>(type);
  out->versions = nullptr;  // of the definition, which this copy outlives; there is one only
  out->subresources.insert(out->subresources.begin(),
                           {"proxy", type.gvk, {"create", "delete", "get", "patch", "update"}});
  return out;
}

using TypesByWorkspace = std::map<WorkspaceType, std::vector<ResourceTypePtr>>;

TypesByWorkspace Load() {
  TypesByWorkspace types;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.name.starts_with("edge/")) continue;
    Json crd = Must(file.name, ParseYaml(file.text));
    const WorkspaceType where =
        Must(file.name, ParseWorkspaceType(StringAt(crd, {"metadata", "annotations", kServedIn})));
    const bool proxied = !StringAt(crd, {"metadata", "annotations", kProxied}).empty();
    for (ResourceTypePtr& type : Must(file.name, TypesOfCrd(crd))) {
      types[where].push_back(proxied ? WithProxy(*type) : std::move(type));
    }
  }
  types[WorkspaceType::kCluster];  // serves none
  return types;
}

}  // namespace

const std::vector<ResourceTypePtr>& EdgeTypes(WorkspaceType type) {
  static const auto* types = new TypesByWorkspace(Load());
  return types->at(type);
}

}  // namespace mailroom::openapi
