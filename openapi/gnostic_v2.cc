#include "openapi/documents.h"
#include "openapi/gnostic.h"
#include "openapi/protobuf_wire.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

using gnostic::As;
using gnostic::Encode;
using gnostic::Tables;

// A parameter in messages that tell its place.
std::string EncodeParameter(const Tables& tables, const Json& value) {
  std::string wrapped;
  const std::string in = StringAt(value, {"in"});
  if (in == "body") {
    PutBytes(1, Encode(tables, "BodyParameter", value), wrapped);
  } else {
    std::string by_place;
    if (in == "path") {
      PutBytes(4, Encode(tables, "PathParameter", value), by_place);
    } else {
      PutBytes(3, Encode(tables, "QueryParameter", value), by_place);
    }
    PutBytes(2, by_place, wrapped);
  }
  return wrapped;
}

// The parameter itself, or where it stands.
std::string EncodeParametersItem(const Tables& tables, const Json& value) {
  std::string out;
  if (value.contains("$ref")) {
    PutBytes(2, Encode(tables, "JsonReference", value), out);
  } else {
    PutBytes(1, EncodeParameter(tables, value), out);
  }
  return out;
}

// A schema, or whether there may be others.
std::string EncodeAdditional(const Tables& tables, const Json& value) {
  std::string out;
  if (value.is_boolean()) {
    PutNumber(2, value.get<bool>() ? 1 : 0, out);
  } else {
    PutBytes(1, Encode(tables, "Schema", value), out);
  }
  return out;
}

// Only keys in a header or the like are known.
std::string EncodeSecurity(const Tables& tables, const Json& value) {
  std::string out;
  if (StringAt(value, {"type"}) == "apiKey") PutBytes(2, Encode(tables, "ApiKeySecurity", value), out);
  return out;
}

const Tables& Messages() {
  static const Tables messages = {
      {"Document",
       {{{"swagger", 1, As::kText}, {"info", 2, As::kMessage, "Info"},
         {"paths", 8, As::kMessage, "Paths"}, {"definitions", 9, As::kMessage, "Definitions"},
         {"parameters", 10, As::kMessage, "ParameterDefinitions"},
         {"security", 12, As::kMessages, "SecurityRequirement"},
         {"securityDefinitions", 13, As::kMessage, "SecurityDefinitions"}},
        16}},
      {"Info", {{{"title", 1, As::kText}, {"version", 2, As::kText}}, 7}},
      {"Paths", {{{"*", 2, As::kNamed, "PathItem"}}, 0}},
      {"Definitions", {{{"*", 1, As::kNamed, "Schema"}}, 0}},
      {"ParameterDefinitions", {{{"*", 1, As::kNamed, "Parameter"}}, 0}},
      {"SecurityRequirement", {{{"*", 1, As::kNamed, "StringArray"}}, 0}},
      {"StringArray", {{{"", 1, As::kTexts}}, 0}},
      {"SecurityDefinitions", {{{"*", 1, As::kNamed, "SecurityDefinitionsItem"}}, 0}},
      {"SecurityDefinitionsItem", {{}, 0, EncodeSecurity}},
      {"ApiKeySecurity",
       {{{"type", 1, As::kText}, {"name", 2, As::kText}, {"in", 3, As::kText},
         {"description", 4, As::kText}},
        5}},
      {"Properties", {{{"*", 1, As::kNamed, "Schema"}}, 0}},
      {"PathItem",
       {{{"get", 2, As::kMessage, "Operation"}, {"put", 3, As::kMessage, "Operation"},
         {"post", 4, As::kMessage, "Operation"}, {"delete", 5, As::kMessage, "Operation"},
         {"options", 6, As::kMessage, "Operation"}, {"head", 7, As::kMessage, "Operation"},
         {"patch", 8, As::kMessage, "Operation"}, {"parameters", 9, As::kMessages, "ParametersItem"}},
        10}},
      {"Operation",
       {{{"tags", 1, As::kTexts}, {"description", 3, As::kText}, {"operationId", 5, As::kText},
         {"produces", 6, As::kTexts}, {"consumes", 7, As::kTexts},
         {"parameters", 8, As::kMessages, "ParametersItem"},
         {"responses", 9, As::kMessage, "Responses"}, {"schemes", 10, As::kTexts}},
        13}},
      {"BodyParameter",
       {{{"description", 1, As::kText}, {"name", 2, As::kText}, {"in", 3, As::kText},
         {"required", 4, As::kBool},
         {"schema", 5, As::kMessage, "Schema"}},
        6}},
      {"QueryParameter",
       {{{"in", 2, As::kText}, {"description", 3, As::kText}, {"name", 4, As::kText},
         {"type", 6, As::kText}, {"uniqueItems", 20, As::kBool}},
        23}},
      {"PathParameter",
       {{{"required", 1, As::kBool}, {"in", 2, As::kText}, {"description", 3, As::kText},
         {"name", 4, As::kText}, {"type", 5, As::kText}, {"uniqueItems", 19, As::kBool}},
        22}},
      {"Responses", {{{"*", 1, As::kNamed, "ResponseValue"}}, 0}},
      {"ResponseValue", {{{"", 1, As::kMessage, "Response"}}, 0}},
      {"Response", {{{"description", 1, As::kText}, {"schema", 2, As::kMessage, "SchemaItem"}}, 5}},
      {"SchemaItem", {{{"", 1, As::kMessage, "Schema"}}, 0}},
      {"ItemsItem", {{{"", 1, As::kMessage, "Schema"}}, 0}},
      {"AdditionalPropertiesItem", {{}, 0, EncodeAdditional}},
      {"Schema",
       {{{"$ref", 1, As::kText}, {"format", 2, As::kText}, {"title", 3, As::kText},
         {"description", 4, As::kText}, {"multipleOf", 6, As::kDouble}, {"maximum", 7, As::kDouble},
         {"exclusiveMaximum", 8, As::kBool}, {"minimum", 9, As::kDouble},
         {"exclusiveMinimum", 10, As::kBool}, {"maxLength", 11, As::kInt}, {"minLength", 12, As::kInt},
         {"pattern", 13, As::kText}, {"maxItems", 14, As::kInt}, {"minItems", 15, As::kInt},
         {"maxProperties", 17, As::kInt}, {"minProperties", 18, As::kInt}, {"required", 19, As::kTexts},
         {"enum", 20, As::kAnys}, {"additionalProperties", 21, As::kMessage, "AdditionalPropertiesItem"},
         {"type", 22, As::kMessage, "TypeItem"}, {"items", 23, As::kMessage, "ItemsItem"},
         {"properties", 25, As::kMessage, "Properties"}},
        31}},
      {"TypeItem", {{{"", 1, As::kText}}, 0}},
      {"Parameter", {{}, 0, EncodeParameter}},
      {"ParametersItem", {{}, 0, EncodeParametersItem}},
      {"JsonReference", {{{"$ref", 1, As::kText}}, 0}},
  };
  return messages;
}

}  // namespace

std::string EncodeGnosticV2(const Json& document) { return Encode(Messages(), "Document", document); }

}  // namespace mailroom::openapi
