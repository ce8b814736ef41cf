// CustomResourceDefinition objects turned into ResourceTypes, and the checks and conditions of
// the definition object itself. Pure functions; results are shared by content (crd_cache).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/problems.h"
#include "storage/object/result.h"

namespace mailroom::openapi {

// Fills what the API server fills in a new or changed CRD (names, conversion, ...).
void DefaultCrd(Json& crd);
// Field errors of the definition, empty when acceptable. `old` is null on create.
Causes ValidateCrd(const Json& crd, const Json* old);
// Those of spec.conversion.
void CheckConversion(const Json& crd, const Json* old, Causes& causes);
// False when the CA bundle of the conversion webhook holds no certificate: nothing could be
// converted, so the definition is not established.
bool HasValidBundle(const Json& crd);
// Names another CRD of the same group in this workspace already uses; borrowed.
struct TakenNames {
  std::vector<std::string_view> plurals, singulars, short_names, kinds, list_kinds;
};
// Writes status: acceptedNames, storedVersions, NamesAccepted and Established conditions.
// `now` is the transition time used for conditions that change.
void EstablishCrd(Json& crd, const TakenNames& taken, const std::string& now);
// Says in status that the definition is being deleted and its objects with it.
void TerminateCrd(Json& crd, const std::string& now);
// Groups reserved for Kubernetes: their definitions need an approval annotation.
inline constexpr std::string_view kApprovalAnnotation = "api-approved.kubernetes.io";
bool IsProtectedGroup(std::string_view group);
// True when the definition is to be served (Established, not in conflict).
bool IsEstablished(const Json& crd);
// True when it is being deleted, its objects first.
bool IsTerminating(const Json& crd);
// The served versions as types. Shared between equal definitions: two workspaces holding the
// same spec get the same pointers.
Result<std::vector<ResourceTypePtr>> TypesOfCrd(const Json& crd);
// Builds schema nodes from an openAPIV3Schema tree into `set`.
Result<const Schema*> SchemaFromOpenApi(const Json& tree, SchemaSet& set);
// The same for the root of a kind: apiVersion, kind and metadata are added.
Result<const Schema*> RootSchemaFromOpenApi(const Json& tree, SchemaSet& set);

}  // namespace mailroom::openapi
