#include <bit>

#include "openapi/documents.h"
#include "openapi/gnostic.h"
#include "openapi/protobuf_wire.h"

namespace mailroom::openapi {
namespace {

using gnostic::As;
using gnostic::Encode;
using gnostic::Message;
using gnostic::Tables;

// The thing itself as field 1, or a Reference to one as field 2.
Message OrReference(const char* message) {
  Message out;
  out.encode = [message](const Tables& tables, const Json& value) {
    const bool refers = value.contains("$ref");
    std::string bytes;
    PutBytes(refers ? 2 : 1, Encode(tables, refers ? "Reference" : message, value), bytes);
    return bytes;
  };
  return out;
}

// Only scalars have a form; the rest is an empty message, as the original writes it.
std::string EncodeDefault(const Tables&, const Json& value) {
  std::string out;
  if (value.is_number()) {
    PutFixed64(1, std::bit_cast<std::uint64_t>(value.get<double>()), out);
  } else if (value.is_boolean()) {
    PutNumber(2, value.get<bool>() ? 1 : 0, out);
  } else if (value.is_string()) {
    PutBytes(3, value.get_ref<const std::string&>(), out);
  }
  return out;
}

std::string EncodeAdditional(const Tables& tables, const Json& value) {
  std::string out;
  if (value.is_boolean()) {
    PutNumber(2, value.get<bool>() ? 1 : 0, out);
  } else {
    PutBytes(1, Encode(tables, "SchemaOrReference", value), out);
  }
  return out;
}

const Tables& Messages() {
  static const Tables messages = {
      {"Document",
       {{{"openapi", 1, As::kText}, {"info", 2, As::kMessage, "Info"},
         {"paths", 4, As::kMessage, "Paths"}, {"components", 5, As::kMessage, "Components"}},
        9}},
      {"Info", {{{"title", 1, As::kText}, {"version", 6, As::kText}}, 7}},
      {"Paths", {{{"*", 1, As::kNamed, "PathItem"}}, 0}},
      {"Components",
       {{{"schemas", 1, As::kMessage, "SchemasOrReferences"},
         {"securitySchemes", 7, As::kMessage, "SecuritySchemesOrReferences"}},
        0}},
      {"SecuritySchemesOrReferences", {{{"*", 1, As::kNamed, "SecuritySchemeOrReference"}}, 0}},
      {"SecuritySchemeOrReference", OrReference("SecurityScheme")},
      {"SecurityScheme",
       {{{"type", 1, As::kText}, {"description", 2, As::kText}, {"name", 3, As::kText},
         {"in", 4, As::kText}},
        9}},
      {"SchemasOrReferences", {{{"*", 1, As::kNamed, "SchemaOrReference"}}, 0}},
      {"PathItem",
       {{{"get", 4, As::kMessage, "Operation"}, {"put", 5, As::kMessage, "Operation"},
         {"post", 6, As::kMessage, "Operation"}, {"delete", 7, As::kMessage, "Operation"},
         {"options", 8, As::kMessage, "Operation"}, {"head", 9, As::kMessage, "Operation"},
         {"patch", 10, As::kMessage, "Operation"},
         {"parameters", 13, As::kMessages, "ParameterOrReference"}},
        14}},
      {"Operation",
       {{{"tags", 1, As::kTexts}, {"description", 3, As::kText}, {"operationId", 5, As::kText},
         {"parameters", 6, As::kMessages, "ParameterOrReference"},
         {"requestBody", 7, As::kMessage, "RequestBodyOrReference"},
         {"responses", 8, As::kMessage, "Responses"}},
        13}},
      {"ParameterOrReference", OrReference("Parameter")},
      {"Parameter",
       {{{"name", 1, As::kText}, {"in", 2, As::kText}, {"description", 3, As::kText},
         {"required", 4, As::kBool}, {"schema", 10, As::kMessage, "SchemaOrReference"}},
        14}},
      {"RequestBodyOrReference", OrReference("RequestBody")},
      {"RequestBody",
       {{{"description", 1, As::kText}, {"content", 2, As::kMessage, "MediaTypes"},
         {"required", 3, As::kBool}},
        4}},
      {"MediaTypes", {{{"*", 1, As::kNamed, "MediaType"}}, 0}},
      {"MediaType", {{{"schema", 1, As::kMessage, "SchemaOrReference"}}, 5}},
      {"Responses", {{{"*", 2, As::kNamed, "ResponseOrReference"}}, 0}},
      {"ResponseOrReference", OrReference("Response")},
      {"Response",
       {{{"description", 1, As::kText}, {"content", 3, As::kMessage, "MediaTypes"}}, 5}},
      {"Reference", {{{"$ref", 1, As::kText}}, 0}},
      {"SchemaOrReference", OrReference("Schema")},
      {"ItemsItem", {{{"", 1, As::kMessage, "SchemaOrReference"}}, 0}},
      {"Properties", {{{"*", 1, As::kNamed, "SchemaOrReference"}}, 0}},
      {"AdditionalPropertiesItem", {{}, 0, EncodeAdditional}},
      {"DefaultType", {{}, 0, EncodeDefault}},
      {"Schema",
       {{{"nullable", 1, As::kBool}, {"title", 9, As::kText}, {"multipleOf", 10, As::kDouble},
         {"maximum", 11, As::kDouble}, {"exclusiveMaximum", 12, As::kBool},
         {"minimum", 13, As::kDouble}, {"exclusiveMinimum", 14, As::kBool},
         {"maxLength", 15, As::kInt}, {"minLength", 16, As::kInt}, {"pattern", 17, As::kText},
         {"maxItems", 18, As::kInt}, {"minItems", 19, As::kInt}, {"uniqueItems", 20, As::kBool},
         {"maxProperties", 21, As::kInt}, {"minProperties", 22, As::kInt},
         {"required", 23, As::kTexts}, {"enum", 24, As::kAnys}, {"type", 25, As::kText},
         {"allOf", 26, As::kMessages, "SchemaOrReference"},
         {"oneOf", 27, As::kMessages, "SchemaOrReference"},
         {"anyOf", 28, As::kMessages, "SchemaOrReference"}, {"not", 29, As::kMessage, "Schema"},
         {"items", 30, As::kMessage, "ItemsItem"}, {"properties", 31, As::kMessage, "Properties"},
         {"additionalProperties", 32, As::kMessage, "AdditionalPropertiesItem"},
         {"default", 33, As::kMessage, "DefaultType"}, {"description", 34, As::kText},
         {"format", 35, As::kText}},
        36}},
  };
  return messages;
}

}  // namespace

std::string EncodeGnosticV3(const Json& document) { return Encode(Messages(), "Document", document); }

}  // namespace mailroom::openapi
