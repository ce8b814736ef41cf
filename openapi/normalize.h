// Bringing a decoded object into the stored shape: unknown members are dropped and reported,
// defaults are filled in. Pure functions over (schema, tree).
#pragma once

#include <string>
#include <vector>

#include "openapi/resource_type.h"

namespace mailroom::openapi {

// Removes members that the schema does not declare, returning their paths
// (`spec.template.spec.containers[0].foo`), of many only the first (limits::kProblemsTold), all the
// same. For custom resources this is pruning. Built-in
// metadata is checked too; apiVersion, kind and metadata of custom resources are kept.
std::vector<std::string> PruneUnknown(const ResourceType& type, Json& object);
// Removes explicit nulls as kube-apiserver's decoding does.
void DropNulls(const ResourceType& type, Json& object);
// Only those of metadata.
void DropMetadataNulls(const ResourceType& type, Json& object);
// Fills defaults: schema defaults for custom resources, and for built-ins the rules of
// openapi/builtin/defaults.yaml as kube-apiserver applies them to API objects.
void ApplyDefaults(const ResourceType& type, Json& object);

}  // namespace mailroom::openapi
