#include "openapi/crd_internal.h"

#include <string_view>

#include "openapi/go_json.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

using Printer = std::string (*)(const Json&);

// What an absent member is: a pointer, list or map is null.
enum class Absent { kNull, kEmptyText, kFalse, kZero };

struct Member {
  std::string_view name;  // in Go
  std::string_view key;
  Absent absent;
  Printer print;
};

constexpr Member Text(std::string_view name, std::string_view key) {
  return {name, key, Absent::kEmptyText, GoJson};
}
constexpr Member Flag(std::string_view name, std::string_view key) {
  return {name, key, Absent::kFalse, GoJson};
}
constexpr Member Pointer(std::string_view name, std::string_view key, Printer print = GoJson) {
  return {name, key, Absent::kNull, print};
}

std::string AbsentText(Absent absent) {
  switch (absent) {
    case Absent::kNull:
      return "null";
    case Absent::kEmptyText:
      return "\"\"";
    case Absent::kFalse:
      return "false";
    case Absent::kZero:
      return "0";
  }
  return "";
}

template <std::size_t N>
std::string Printed(const Json& value, const Member (&members)[N]) {
  std::string out;
  for (const Member& member : members) {
    const Json* found = Find(value, {member.key});
    const bool here = found != nullptr && !found->is_null();
    out += (out.empty() ? "{\"" : ",\"") + std::string(member.name) + "\":";
    out += here ? member.print(*found) : AbsentText(member.absent);
  }
  return out + "}";
}

template <Printer kPrint>
std::string PrintedList(const Json& list) {
  std::string out;
  for (const Json& item : list) out += (out.empty() ? "" : ",") + kPrint(item);
  return "[" + out + "]";
}

template <Printer kPrint>
std::string PrintedMap(const Json& map) {
  std::string out;
  for (const auto& [name, item] : map.items()) {
    out += (out.empty() ? "" : ",") + GoJsonQuote(name) + ":" + kPrint(item);
  }
  return "{" + out + "}";
}

std::string SchemaOrList(const Json& items) {
  if (items.is_array()) {
    return "{\"Schema\":null,\"JSONSchemas\":" + PrintedList<PrintedSchema>(items) + "}";
  }
  return "{\"Schema\":" + PrintedSchema(items) + ",\"JSONSchemas\":null}";
}

std::string SchemaOrFlag(const Json& value) {
  if (value.is_object()) return "{\"Allows\":true,\"Schema\":" + PrintedSchema(value) + "}";
  return "{\"Allows\":" + GoJson(value) + ",\"Schema\":null}";
}

std::string SchemaOrNames(const Json& value) {
  if (value.is_object()) return "{\"Schema\":" + PrintedSchema(value) + ",\"Property\":null}";
  return "{\"Schema\":null,\"Property\":" + GoJson(value) + "}";
}

std::string ExternalDocs(const Json& docs) {
  constexpr Member kMembers[] = {Text("Description", "description"), Text("URL", "url")};
  return Printed(docs, kMembers);
}

std::string Column(const Json& column) {
  constexpr Member kMembers[] = {Text("Name", "name"),
                                 Text("Type", "type"),
                                 Text("Format", "format"),
                                 Text("Description", "description"),
                                 {"Priority", "priority", Absent::kZero, GoJson},
                                 Text("JSONPath", "jsonPath")};
  return Printed(column, kMembers);
}

std::string SelectableField(const Json& field) {
  constexpr Member kMembers[] = {Text("JSONPath", "jsonPath")};
  return Printed(field, kMembers);
}

std::string Scale(const Json& scale) {
  constexpr Member kMembers[] = {Text("SpecReplicasPath", "specReplicasPath"),
                                 Text("StatusReplicasPath", "statusReplicasPath"),
                                 Pointer("LabelSelectorPath", "labelSelectorPath")};
  return Printed(scale, kMembers);
}

std::string Subresources(const Json& subresources) {
  constexpr Member kMembers[] = {Pointer("Status", "status"), Pointer("Scale", "scale", Scale)};
  return Printed(subresources, kMembers);
}

std::string Validation(const Json& validation) {
  constexpr Member kMembers[] = {Pointer("OpenAPIV3Schema", "openAPIV3Schema", PrintedSchema)};
  return Printed(validation, kMembers);
}

std::string Version(const Json& version) {
  constexpr Member kMembers[] = {
      Text("Name", "name"),
      Flag("Served", "served"),
      Flag("Storage", "storage"),
      Flag("Deprecated", "deprecated"),
      Pointer("DeprecationWarning", "deprecationWarning"),
      Pointer("Schema", "schema", Validation),
      Pointer("Subresources", "subresources", Subresources),
      Pointer("AdditionalPrinterColumns", "additionalPrinterColumns", PrintedList<Column>),
      Pointer("SelectableFields", "selectableFields", PrintedList<SelectableField>)};
  return Printed(version, kMembers);
}

}  // namespace

std::string PrintedRule(const Json& rule) {
  constexpr Member kMembers[] = {Text("Rule", "rule"),
                                 Text("Message", "message"),
                                 Text("MessageExpression", "messageExpression"),
                                 Pointer("Reason", "reason"),
                                 Text("FieldPath", "fieldPath"),
                                 Pointer("OptionalOldSelf", "optionalOldSelf")};
  return Printed(rule, kMembers);
}

std::string PrintedSchema(const Json& schema) {
  constexpr Member kMembers[] = {
      Text("ID", "id"),
      Text("Schema", "$schema"),
      Pointer("Ref", "$ref"),
      Text("Description", "description"),
      Text("Type", "type"),
      Flag("Nullable", "nullable"),
      Text("Format", "format"),
      Text("Title", "title"),
      Pointer("Default", "default"),
      Pointer("Maximum", "maximum"),
      Flag("ExclusiveMaximum", "exclusiveMaximum"),
      Pointer("Minimum", "minimum"),
      Flag("ExclusiveMinimum", "exclusiveMinimum"),
      Pointer("MaxLength", "maxLength"),
      Pointer("MinLength", "minLength"),
      Text("Pattern", "pattern"),
      Pointer("MaxItems", "maxItems"),
      Pointer("MinItems", "minItems"),
      Flag("UniqueItems", "uniqueItems"),
      Pointer("MultipleOf", "multipleOf"),
      Pointer("Enum", "enum"),
      Pointer("MaxProperties", "maxProperties"),
      Pointer("MinProperties", "minProperties"),
      Pointer("Required", "required"),
      Pointer("Items", "items", SchemaOrList),
      Pointer("AllOf", "allOf", PrintedList<PrintedSchema>),
      Pointer("OneOf", "oneOf", PrintedList<PrintedSchema>),
      Pointer("AnyOf", "anyOf", PrintedList<PrintedSchema>),
      Pointer("Not", "not", PrintedSchema),
      Pointer("Properties", "properties", PrintedMap<PrintedSchema>),
      Pointer("AdditionalProperties", "additionalProperties", SchemaOrFlag),
      Pointer("PatternProperties", "patternProperties", PrintedMap<PrintedSchema>),
      Pointer("Dependencies", "dependencies", PrintedMap<SchemaOrNames>),
      Pointer("AdditionalItems", "additionalItems", SchemaOrFlag),
      Pointer("Definitions", "definitions", PrintedMap<PrintedSchema>),
      Pointer("ExternalDocs", "externalDocs", ExternalDocs),
      Pointer("Example", "example"),
      Pointer("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
      Flag("XEmbeddedResource", "x-kubernetes-embedded-resource"),
      Flag("XIntOrString", "x-kubernetes-int-or-string"),
      Pointer("XListMapKeys", "x-kubernetes-list-map-keys"),
      Pointer("XListType", "x-kubernetes-list-type"),
      Pointer("XMapType", "x-kubernetes-map-type"),
      Pointer("XValidations", "x-kubernetes-validations", PrintedList<PrintedRule>)};
  return Printed(schema, kMembers);
}

std::string PrintedVersions(const Json* versions, const SharedMembers& shared) {
  if (versions == nullptr || versions->is_null()) return "null";
  Json own = *versions;
  for (Json& version : own) {
    if (shared.schema) Erase(version, {"schema"});
    if (shared.subresources) Erase(version, {"subresources"});
    if (shared.columns) Erase(version, {"additionalPrinterColumns"});
    if (shared.selectable_fields) Erase(version, {"selectableFields"});
  }
  return PrintedList<Version>(own);
}

}  // namespace mailroom::openapi
