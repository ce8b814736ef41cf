// Server-side tables: what `kubectl get` shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// A Table of `objects` (trees with kind and apiVersion). `include` is Metadata, Object or None.
Json MakeTable(const openapi::ResourceType& type, const std::vector<Json>& objects,
               std::string_view meta_version, std::string_view include, bool with_columns);
// kind PartialObjectMetadata with the object's metadata.
Json PartialMetadata(const Json& object, std::string_view meta_version);

}  // namespace mailroom::apiserver
