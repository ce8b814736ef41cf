// Parts of a definition in the form kube-apiserver has them in memory, as its causes print them:
// every member of a structure, by its name in Go. Pure functions.
#pragma once

#include <string>

#include "storage/object/json_fwd.h"

namespace mailroom::openapi {

// An openAPIV3Schema.
std::string PrintedSchema(const Json& schema);
// An entry of x-kubernetes-validations.
std::string PrintedRule(const Json& rule);
// Which members all versions share, so that they stand in spec and in no version.
struct SharedMembers {
  bool schema = false, subresources = false, columns = false, selectable_fields = false;
};
// spec.versions.
std::string PrintedVersions(const Json* versions, const SharedMembers& shared);

}  // namespace mailroom::openapi
