// Whether a definition's schema is structural, so that pruning, defaulting and merging have one
// meaning, and whether its keywords are allowed. Pure functions over the openAPIV3Schema tree;
// `path` is where the tree stands in the definition.
#pragma once

#include <string>
#include <vector>

#include "storage/object/json.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

// Shape: every node has a type, junctors hold only value validations, metadata is not restricted
// beyond its names. Sorted by text.
Causes CheckStructure(const Json& schema, const std::string& path);
// Keywords: what is not supported, list and map types, rules.
Causes CheckKeywords(const Json& schema, const std::string& path);
// Default values: pruned and valid. REQUIRES: CheckStructure found nothing.
Causes CheckDefaults(const Json& schema, const std::string& path);

}  // namespace mailroom::openapi
