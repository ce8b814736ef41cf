// Checking an object against its schema and the rules of its kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/problems.h"
#include "storage/object/result.h"

namespace mailroom::openapi {

// Whose words are used: those of the decoder of JSON, or of the one that takes in the result of a
// strategic merge patch (`unrecognized type: int32`).
enum class Decoder { kJson, kTree };
// Wrong JSON types in a built-in object or in the metadata of a custom one: the text of the 400
// answer (`json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of
// type int32`), or nothing.
std::optional<std::string> CheckBuiltinTypes(const ResourceType& type, const Json& object,
                                             Decoder decoder = Decoder::kJson);
// Field errors of the object by schema (custom resources) or kind rules (built-ins). `old` is
// null on create; with it, unchanged invalid parts are tolerated (ratcheting). What may change
// can depend on the subresource that is written. Of many errors the first are told (Causes).
Causes ValidateObject(const ResourceType& type, const Json& object, const Json* old,
                      std::string_view subresource = "");
// metadata.name, labels, annotations, ownerReferences, finalizers. `old` is null on create.
Causes ValidateMetadata(const ResourceType& type, const Json& object, const Json* old);
// The same of a resource that stands inside another, at `path`; it may have no name.
Causes ValidateEmbeddedMetadata(const Json& resource, const std::string& path);
// Texts of Warning headers for an object that is accepted; `old` is null on create.
std::vector<std::string> WarningsFor(const ResourceType& type, const Json& object, const Json* old,
                                     std::string_view subresource = "");
// Keys and values of a labels object (null: none); `field` is its path.
Causes ValidateLabels(const Json* labels, const std::string& field);
Causes ValidateAnnotations(const Json* annotations, const std::string& field);

}  // namespace mailroom::openapi
