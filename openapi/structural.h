// Whether a definition's schema is structural, so that pruning, defaulting and merging have one
// meaning, and whether its keywords are allowed. Pure functions over the openAPIV3Schema tree;
// `path` is where the tree stands in the definition.
#pragma once

#include <string>
#include <vector>

#include "storage/object/json.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

// Whether the tree can be read as a structural schema at all; what stands in the way is told with
// the keywords.
bool IsConvertible(const Json& schema);
// Shape: every node has a type, junctors hold only value validations, metadata is not restricted
// beyond its names. Sorted by text.
// REQUIRES: IsConvertible.
Causes CheckStructure(const Json& schema, const std::string& path);
// Keywords: what is not supported, list and map types, rules.
Causes CheckKeywords(const Json& schema, const std::string& path);
// Default values: pruned and valid. REQUIRES: CheckStructure found nothing.
Causes CheckDefaults(const Json& schema, const std::string& path);

}  // namespace mailroom::openapi
