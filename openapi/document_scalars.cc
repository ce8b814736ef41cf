#include "openapi/document_scalars.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kQuantity = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr std::string_view kIntOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
constexpr std::string_view kTime = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
constexpr std::string_view kMicroTime = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
constexpr std::string_view kFields = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";
constexpr std::string_view kRawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension";
#define CRD_PACKAGE "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
constexpr std::string_view kJson = CRD_PACKAGE "JSON";
constexpr std::string_view kOrBool = CRD_PACKAGE "JSONSchemaPropsOrBool";
constexpr std::string_view kOrArray = CRD_PACKAGE "JSONSchemaPropsOrArray";
constexpr std::string_view kOrStrings = CRD_PACKAGE "JSONSchemaPropsOrStringArray";
#undef CRD_PACKAGE

struct Row {
  std::string_view name;
  const char* type;    // "" where anything goes
  const char* format;
  const char* description;
};

constexpr Row kRows[] = {
    {kQuantity, "string", "", "An amount: a number, or text such as 500m or 2Gi."},
    {kIntOrString, "string", "int-or-string", "A number, or text."},
    {kTime, "string", "date-time", "A moment, to the second, in the form of RFC 3339."},
    {kMicroTime, "string", "date-time", "A moment, to the microsecond, in the form of RFC 3339."},
    {kFields, "object", "", "A set of fields: each key is a field, a value or a list item's keys."},
    {kRawExtension, "object", "", "An object of any kind."},
    {kJson, "", "", "Any JSON value."},
    {kOrBool, "", "", "A schema, or true or false."},
    {kOrArray, "", "", "A schema, or a list of them."},
    {kOrStrings, "", "", "A schema, or a list of text."},
};

}  // namespace

std::string_view ScalarModelName(const Schema& schema) {
  if (schema.type == Type::kArray) return "";
  switch (schema.wire) {
    case Wire::kQuantity: return kQuantity;
    case Wire::kIntOrString: return kIntOrString;
    case Wire::kTime: return kTime;
    case Wire::kMicroTime: return kMicroTime;
    case Wire::kSchemaOrBool: return kOrBool;
    case Wire::kSchemaOrArray: return kOrArray;
    case Wire::kSchemaOrStrings: return kOrStrings;
    case Wire::kRaw:
      if (schema.type == Type::kAny) return kJson;
      return schema.name.empty() ? kRawExtension : kFields;
    default: return "";
  }
}

// v2 cannot say that something is one of two types.
Json ScalarModel(std::string_view name, Dialect dialect) {
  Json out = Json::object();
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    out["description"] = row.description;
    if (*row.type != '\0') out["type"] = row.type;
    if (*row.format != '\0') out["format"] = row.format;
  }
  const bool amount = name == kQuantity;
  if (dialect == Dialect::kV2 || (!amount && name != kIntOrString)) return out;
  out.erase("type");
  const Json text = {{"type", "string"}};
  out["oneOf"] = amount ? Json::array({text, Json{{"type", "number"}}})
                        : Json::array({Json{{"type", "integer"}}, text});
  return out;
}

}  // namespace mailroom::openapi
