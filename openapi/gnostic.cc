// A v2 document in the gnostic project's protobuf form. Messages are tables of (JSON member, field
// number, how it is written); only members that our documents hold are listed. Vendor extensions
// travel as named YAML text, and JSON is YAML.
#include <bit>
#include <map>
#include <vector>

#include "openapi/documents.h"
#include "openapi/protobuf_wire.h"

namespace mailroom::openapi {
namespace {

enum class As { kText, kBool, kInt, kDouble, kTexts, kAnys, kMessage, kMessages, kNamed };

struct Field {
  const char* member;
  int number;
  As as;
  const char* message = nullptr;  // of kMessage, kMessages and the values of kNamed
};

struct Message {
  std::vector<Field> fields;
  int extensions = 0;  // number of the x-... members
};

const std::map<std::string_view, Message>& Messages() {
  static const std::map<std::string_view, Message> messages = {
      {"Document",
       {{{"swagger", 1, As::kText}, {"info", 2, As::kMessage, "Info"},
         {"paths", 8, As::kMessage, "Paths"}, {"definitions", 9, As::kMessage, "Definitions"}},
        16}},
      {"Info", {{{"title", 1, As::kText}, {"version", 2, As::kText}}, 7}},
      {"Paths", {{{"*", 2, As::kNamed, "PathItem"}}, 0}},
      {"Definitions", {{{"*", 1, As::kNamed, "Schema"}}, 0}},
      {"Properties", {{{"*", 1, As::kNamed, "Schema"}}, 0}},
      {"PathItem",
       {{{"get", 2, As::kMessage, "Operation"}, {"put", 3, As::kMessage, "Operation"},
         {"post", 4, As::kMessage, "Operation"}, {"delete", 5, As::kMessage, "Operation"},
         {"patch", 8, As::kMessage, "Operation"}, {"parameters", 9, As::kMessages, "ParametersItem"}},
        10}},
      {"Operation",
       {{{"description", 3, As::kText}, {"operationId", 5, As::kText}, {"produces", 6, As::kTexts},
         {"consumes", 7, As::kTexts}, {"parameters", 8, As::kMessages, "ParametersItem"},
         {"responses", 9, As::kMessage, "Responses"}},
        13}},
      {"BodyParameter",
       {{{"name", 2, As::kText}, {"in", 3, As::kText}, {"required", 4, As::kBool},
         {"schema", 5, As::kMessage, "Schema"}},
        6}},
      {"QueryParameter",
       {{{"in", 2, As::kText}, {"name", 4, As::kText}, {"type", 6, As::kText},
         {"uniqueItems", 20, As::kBool}},
        23}},
      {"PathParameter",
       {{{"required", 1, As::kBool}, {"in", 2, As::kText}, {"name", 4, As::kText},
         {"type", 5, As::kText}, {"uniqueItems", 19, As::kBool}},
        22}},
      {"Responses", {{{"*", 1, As::kNamed, "ResponseValue"}}, 0}},
      {"ResponseValue", {{{"", 1, As::kMessage, "Response"}}, 0}},
      {"Response", {{{"description", 1, As::kText}, {"schema", 2, As::kMessage, "SchemaItem"}}, 5}},
      {"SchemaItem", {{{"", 1, As::kMessage, "Schema"}}, 0}},
      {"ItemsItem", {{{"", 1, As::kMessage, "Schema"}}, 0}},
      {"AdditionalPropertiesItem", {{{"", 1, As::kMessage, "Schema"}}, 0}},
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
  };
  return messages;
}

std::string Encode(std::string_view name, const Json& value);

// Any {yaml = 2}.
std::string AnyOf(const Json& value) {
  std::string out;
  PutBytes(2, DumpJson(value), out);
  return out;
}

std::string NamedValue(const std::string& name, const std::string& value) {
  std::string out;
  PutBytes(1, name, out);
  PutBytes(2, value, out);
  return out;
}

// A parameter is wrapped in messages that tell its place.
std::string EncodeParameter(const Json& value) {
  std::string wrapped;
  const std::string in = value.value("in", "");
  if (in == "body") {
    PutBytes(1, Encode("BodyParameter", value), wrapped);
  } else {
    std::string by_place;
    if (in == "path") {
      PutBytes(4, Encode("PathParameter", value), by_place);
    } else {
      PutBytes(3, Encode("QueryParameter", value), by_place);
    }
    PutBytes(2, by_place, wrapped);
  }
  std::string out;
  PutBytes(1, wrapped, out);
  return out;
}

void EncodeField(const Field& field, const Json& value, std::string& out) {
  switch (field.as) {
    case As::kText:
      PutBytes(field.number, value.get_ref<const std::string&>(), out);
      return;
    case As::kBool:
      if (value.get<bool>()) PutNumber(field.number, 1, out);
      return;
    case As::kInt:
      PutNumber(field.number, static_cast<std::uint64_t>(value.get<std::int64_t>()), out);
      return;
    case As::kDouble:
      PutFixed64(field.number, std::bit_cast<std::uint64_t>(value.get<double>()), out);
      return;
    case As::kTexts:
      for (const Json& text : value) PutBytes(field.number, text.get_ref<const std::string&>(), out);
      return;
    case As::kAnys:
      for (const Json& element : value) PutBytes(field.number, AnyOf(element), out);
      return;
    case As::kMessage:
      PutBytes(field.number, Encode(field.message, value), out);
      return;
    case As::kMessages:
      for (const Json& element : value) PutBytes(field.number, Encode(field.message, element), out);
      return;
    case As::kNamed:
      for (const auto& [name, element] : value.items()) {
        PutBytes(field.number, NamedValue(name, Encode(field.message, element)), out);
      }
      return;
  }
}

std::string Encode(std::string_view name, const Json& value) {
  if (name == "ParametersItem") return EncodeParameter(value);
  std::string out;
  if (name == "TypeItem") {
    PutBytes(1, value.get_ref<const std::string&>(), out);
    return out;
  }
  const Message& message = Messages().at(name);
  for (const Field& field : message.fields) {
    const std::string_view member = field.member;
    if (member.empty() || member == "*") {
      EncodeField(field, value, out);
    } else if (auto it = value.find(member); it != value.end()) {
      EncodeField(field, *it, out);
    }
  }
  if (message.extensions == 0) return out;
  for (const auto& [key, extension] : value.items()) {
    if (!key.starts_with("x-")) continue;
    PutBytes(message.extensions, NamedValue(key, AnyOf(extension)), out);
  }
  return out;
}

}  // namespace

std::string EncodeGnostic(const Json& document) { return Encode("Document", document); }

}  // namespace mailroom::openapi
