#include "openapi/base64.h"
#include "openapi/defaults.h"
#include "openapi/normalize_quantity.h"
#include "storage/object/clock.h"

namespace mailroom::openapi {
namespace {

bool IsStructure(const Schema& schema) {
  return schema.type == Type::kObject && schema.wire == Wire::kMessage;
}

// Values that are left out of the JSON form when nothing forces them in.
bool IsEmpty(const Schema& schema, const Json& value) {
  if (value.is_array()) return value.empty();
  switch (schema.wire) {
    case Wire::kString:
    case Wire::kBytes:
      return value.is_string() && value.get_ref<const std::string&>().empty();
    case Wire::kBool:
      return value.is_boolean() && !value.get<bool>();
    case Wire::kInt32:
    case Wire::kInt64:
    case Wire::kDouble:
      return value.is_number() && value.get<double>() == 0;
    case Wire::kMap:
      return value.is_object() && value.empty();
    default:
      return false;
  }
}

// Times in UTC with whole seconds, bytes without line breaks.
void SettleText(const Schema& schema, Json& value) {
  const std::string& text = value.get_ref<const std::string&>();
  if (schema.wire == Wire::kTime && (text.size() != 20 || !text.ends_with('Z'))) {
    const std::int64_t seconds = ParseTime(text);
    if (seconds == -1) return;
    value = FormatTime(std::chrono::system_clock::time_point(std::chrono::seconds(seconds)));
  } else if (schema.wire == Wire::kBytes && text.find_first_of("\r\n") != std::string::npos) {
    if (auto bytes = DecodeBase64(text)) value = EncodeBase64(*bytes);
  }
}

// Lists of amounts know nothing finer than thousandths: what is, is rounded up.
void RoundAmounts(Json& amounts) {
  for (Json& amount : amounts) {
    if (!amount.is_string()) continue;
    const std::string text = amount;
    if (!text.ends_with('n') && !text.ends_with('u')) continue;
    if (const auto millis = QuantityMillis(text)) {
      amount = CanonicalQuantity(std::to_string(*millis) + "m");
    }
  }
}

bool IsTime(const Schema& schema) {
  return schema.wire == Wire::kTime || schema.wire == Wire::kMicroTime;
}

// Pointers, lists and times that are missing are shown as null; those of metadata are left out.
bool ShowsWhenMissing(const Schema& parent, const Property& property) {
  const Schema& schema = *property.schema;
  if (property.pointer) return property.always && !property.required;
  if (schema.type == Type::kArray) return property.always;
  if (IsTime(schema)) return !parent.is_object_meta;
  return property.always || IsStructure(schema) || schema.wire == Wire::kQuantity;
}

// Stored as protobuf, where a list without elements is no list.
bool IsForgottenWhenEmpty(const Schema& parent, const Property& property, const Json& value) {
  if (property.pointer || !property.always || !value.is_array() || !value.empty()) return false;
  return !parent.name.starts_with("apiextensions/") && !parent.name.starts_with("apiregistration/");
}

void AddMissing(const Property& property, Json& object) {
  const Schema& schema = *property.schema;
  if (property.pointer || schema.type == Type::kArray || IsTime(schema)) {
    object[property.name] = nullptr;
    return;
  }
  if (IsStructure(schema)) {
    SettleShape(schema, object[property.name] = Json::object());
    return;
  }
  switch (schema.wire) {
    case Wire::kQuantity:
      object[property.name] = "0";
      break;
    case Wire::kString:
      object[property.name] = "";
      break;
    case Wire::kBool:
      object[property.name] = false;
      break;
    case Wire::kInt32:
    case Wire::kInt64:
      object[property.name] = 0;
      break;
    default:
      break;
  }
}

}  // namespace

void SettleShape(const Schema& schema, Json& value) {
  if (value.is_array()) {
    if (schema.items == nullptr) return;
    for (Json& item : value) SettleShape(*schema.items, item);
    return;
  }
  if (schema.wire == Wire::kQuantity) {
    if (value.is_number()) value = DumpJson(value);
    if (value.is_string()) value = CanonicalQuantity(value.get_ref<const std::string&>());
    return;
  }
  if (value.is_string()) return SettleText(schema, value);
  if (!value.is_object()) return;
  if (schema.additional != nullptr) {
    for (Json& member : value) SettleShape(*schema.additional, member);
    if (schema.additional->wire == Wire::kQuantity) RoundAmounts(value);
    return;
  }
  if (!IsStructure(schema)) return;
  for (auto member = value.begin(); member != value.end();) {
    const Property* property = schema.Find(member.key());
    if (property == nullptr) {
      ++member;
    } else if (!property->pointer && !property->always && IsEmpty(*property->schema, *member)) {
      member = value.erase(member);
    } else {
      SettleShape(*property->schema, *member);
      if (IsForgottenWhenEmpty(schema, *property, *member)) *member = nullptr;
      ++member;
    }
  }
  for (const Property& property : schema.properties) {
    if (ShowsWhenMissing(schema, property) && !value.contains(property.name)) AddMissing(property, value);
  }
}

}  // namespace mailroom::openapi
