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

using TypesByWorkspace = std::map<WorkspaceType, std::vector<ResourceTypePtr>>;

TypesByWorkspace Load() {
  TypesByWorkspace types;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.name.starts_with("edge/")) continue;
    Json crd = Must(file.name, ParseYaml(file.text));
    const WorkspaceType where =
        Must(file.name, ParseWorkspaceType(StringAt(crd, {"metadata", "annotations", kServedIn})));
    for (ResourceTypePtr& type : Must(file.name, TypesOfCrd(crd))) {
      types[where].push_back(std::move(type));
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
