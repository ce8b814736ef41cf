// The bridge from client-side to server-side apply: kubectl's annotation that holds the last
// applied configuration. Only the manager `kubectl` crosses it.
#pragma once

#include <string_view>

#include "apiserver/field_set.h"
#include "openapi/resource_type.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

inline constexpr std::string_view kKubectl = "kubectl";

// Fields of the annotated configuration that the live object still holds with the same value:
// kubectl may take those over without a conflict. Empty when there is no usable annotation.
FieldSet UnchangedSinceLastApplied(const openapi::ResourceType& type, const Json& live);

// Rewrites the annotation to `config`, if the object has one.
void RefreshLastApplied(const Json& config, Json& object);

}  // namespace mailroom::apiserver
