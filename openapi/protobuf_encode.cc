#include <bit>
#include <chrono>
#include <cmath>

#include "openapi/base64.h"
#include "openapi/protobuf.h"
#include "openapi/protobuf_wire.h"
#include "storage/object/clock.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

const Json kNull;

std::string_view TextOf(const Json& value) {
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : "";
}

std::uint64_t IntegerOf(const Json& value) {
  if (value.is_number_integer()) return static_cast<std::uint64_t>(value.get<std::int64_t>());
  if (!value.is_number_float()) return 0;
  const double number = value.get<double>();
  if (!(std::fabs(number) < 9.2e18)) return 0;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
}

// Nanoseconds after the point of `2006-01-02T15:04:05.123456Z`.
std::uint64_t NanosOf(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return 0;
  std::uint64_t nanos = 0;
  std::size_t digits = 0;
  for (std::size_t i = point + 1; i < text.size() && digits < 9; ++i, ++digits) {
    if (text[i] < '0' || text[i] > '9') break;
    nanos = nanos * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  for (; digits < 9; ++digits) nanos *= 10;
  return nanos;
}

void Put(const Schema& schema, int number, const Json& value, std::string& out);

std::string TimeMessage(const Json& value, bool micro) {
  std::string message;
  const std::string_view text = TextOf(value);
  if (text.empty()) return message;
  PutNumber(1, static_cast<std::uint64_t>(ParseTime(text)), message);
  PutNumber(2, micro ? NanosOf(text) : 0, message);
  return message;
}

std::string QuantityMessage(const Json& value) {
  std::string message;
  PutBytes(1,
           value.is_string()   ? std::string(TextOf(value))
           : value.is_number() ? DumpJson(value)
                               : "0",
           message);
  return message;
}

std::string IntOrStringMessage(const Json& value) {
  std::string message;
  PutNumber(1, value.is_string() ? 1 : 0, message);
  PutNumber(2, IntegerOf(value), message);
  PutBytes(3, TextOf(value), message);
  return message;
}

std::string RawMessage(const Json& value) {
  std::string message;
  if (!value.is_null()) PutBytes(1, DumpJson(value), message);
  return message;
}

std::string SchemaOrMessage(const Schema& schema, const Json& value) {
  std::string message;
  if (schema.wire == Wire::kSchemaOrBool) {
    // A schema implies that additional members are allowed.
    PutNumber(1, value.is_object() || (value.is_boolean() && value.get<bool>()) ? 1 : 0, message);
    if (value.is_object()) PutBytes(2, EncodeMessage(*schema.items, value), message);
  } else if (value.is_object()) {
    PutBytes(1, EncodeMessage(*schema.items, value), message);
  } else if (value.is_array()) {
    for (const Json& element : value) {
      PutBytes(2,
               element.is_string() ? std::string(TextOf(element))
                                   : EncodeMessage(*schema.items, element),
               message);
    }
  }
  return message;
}

std::string ItemsMessage(const Schema& schema, const Json& value) {
  std::string message;
  if (value.is_array()) {
    for (const Json& element : value) Put(*schema.items, 1, element, message);
  }
  return message;
}

// One value as field `number`; a value of the wrong kind is written as the empty one.
void Put(const Schema& schema, int number, const Json& value, std::string& out) {
  switch (schema.wire) {
    case Wire::kString:
      return PutBytes(number, TextOf(value), out);
    case Wire::kBool:
      return PutNumber(number, value.is_boolean() && value.get<bool>(), out);
    case Wire::kInt32:
    case Wire::kInt64:
      return PutNumber(number, IntegerOf(value), out);
    case Wire::kDouble: {
      const double real = value.is_number() ? value.get<double>() : 0;
      return PutFixed64(number, std::bit_cast<std::uint64_t>(real), out);
    }
    case Wire::kBytes:
      return PutBytes(number, DecodeBase64(TextOf(value)).value_or(""), out);
    case Wire::kTime:
      return PutBytes(number, TimeMessage(value, false), out);
    case Wire::kMicroTime:
      return PutBytes(number, TimeMessage(value, true), out);
    case Wire::kQuantity:
      return PutBytes(number, QuantityMessage(value), out);
    case Wire::kIntOrString:
      return PutBytes(number, IntOrStringMessage(value), out);
    case Wire::kRaw:
      return PutBytes(number, RawMessage(value), out);
    case Wire::kItems:
      return PutBytes(number, ItemsMessage(schema, value), out);
    case Wire::kSchemaOrBool:
    case Wire::kSchemaOrArray:
    case Wire::kSchemaOrStrings:
      return PutBytes(number, SchemaOrMessage(schema, value), out);
    case Wire::kMessage:
      return PutBytes(number, EncodeMessage(schema, value), out);
    case Wire::kNone:
    case Wire::kDuration:  // of configuration files only
    case Wire::kMap:
      return;
  }
}

void PutMap(const Schema& schema, int number, const Json& map, std::string& out) {
  for (const auto& [key, value] : map.items()) {
    std::string entry;
    PutBytes(1, key, entry);
    Put(*schema.additional, 2, value, entry);
    PutBytes(number, entry, out);
  }
}

}  // namespace

std::string EncodeMessage(const Schema& type, const Json& value) {
  std::string out;
  for (const MessageField& field : MessageFields(type)) {
    const Property& property = *field.property;
    if (field.embedded) {
      PutBytes(property.number, EncodeMessage(*property.schema, value), out);
      continue;
    }
    const Json* found = Find(value, {property.name});
    const Json& member = found == nullptr ? kNull : *found;
    const Schema& schema = *property.schema;
    if (schema.wire == Wire::kMap) {
      if (member.is_object()) PutMap(schema, property.number, member, out);
    } else if (schema.type == Type::kArray && schema.wire != Wire::kItems) {
      if (!member.is_array()) continue;
      for (const Json& element : member) Put(*schema.items, property.number, element, out);
    } else if (!member.is_null() || (!property.pointer && schema.wire != Wire::kBytes)) {
      // Values are always written, pointers only when set.
      Put(schema, property.number, member, out);
    }
  }
  return out;
}

}  // namespace mailroom::openapi
