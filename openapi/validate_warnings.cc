#include <algorithm>
#include <set>

#include "openapi/crd.h"
#include "openapi/validate.h"
#include "openapi/validate_schema.h"
#include "openapi/warn_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

void CollectFormats(const Schema& schema, std::set<std::string>& unknown) {
  if (!schema.format.empty() && !IsKnownFormat(schema.type, schema.format)) {
    unknown.insert(schema.format);
  }
  for (const Property& property : schema.properties) {
    if (!property.schema->is_object_meta) CollectFormats(*property.schema, unknown);
  }
  if (schema.items != nullptr) CollectFormats(*schema.items, unknown);
  if (schema.additional != nullptr) CollectFormats(*schema.additional, unknown);
}

void WarnAboutFormats(const Json& crd, std::vector<std::string>& warnings) {
  std::set<std::string> unknown;
  const Json* versions = Find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return;
  for (const Json& version : *versions) {
    SchemaSet set;
    const Json* tree = Find(version, {"schema", "openAPIV3Schema"});
    if (tree == nullptr) continue;
    if (auto root = SchemaFromOpenApi(*tree, set); root.ok()) CollectFormats(**root, unknown);
  }
  for (const std::string& format : unknown) {
    warnings.push_back("unrecognized format " + Quoted(format));
  }
}

void WarnAboutFinalizers(const Json& object, const Json* old, std::vector<std::string>& warnings) {
  const std::vector<std::string> known =
      old == nullptr ? std::vector<std::string>() : StringsAt(*old, {"metadata", "finalizers"});
  for (const std::string& name : StringsAt(object, {"metadata", "finalizers"})) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (name.find('/') != std::string::npos || name == "orphan" || name == "foregroundDeletion") {
      continue;
    }
    const bool dotted = name.find('.') != std::string::npos;
    warnings.push_back("metadata.finalizers: " + Quoted(name) +
                       ": prefer a domain-qualified finalizer name " +
                       (dotted ? "including a path (/) " : "") +
                       "to avoid accidental conflicts with other finalizer writers");
  }
}

}  // namespace

std::vector<std::string> WarningsFor(const ResourceType& type, const Json& object, const Json* old,
                                     std::string_view subresource) {
  std::vector<std::string> warnings;
  if (!subresource.empty()) {
    if (type.builtin && subresource == "status") WarnAboutStatus(type, object, warnings);
    return warnings;
  }
  if (type.builtin) {
    WarnAboutBuiltin(type, object, old, warnings);
  } else {
    WarnAboutFinalizers(object, old, warnings);
  }
  if (type.gvk.kind == "CustomResourceDefinition") WarnAboutFormats(object, warnings);
  return warnings;
}

}  // namespace mailroom::openapi
