#include "apiserver/apply_shape.h"

#include <cmath>
#include <vector>

#include "storage/object/status.h"

namespace mailroom::apiserver {

using openapi::ListType;
using openapi::MapType;
using openapi::Property;
using openapi::Schema;
using openapi::Type;
using openapi::Wire;

namespace {

Shape ListShape(const Schema& schema) {
  switch (schema.list_type) {
    case ListType::kSet:
      return Shape::kSet;
    case ListType::kMap:
      return schema.list_map_keys.empty() ? Shape::kSet : Shape::kKeyedList;
    case ListType::kAtomic:
      break;
  }
  return Shape::kLeaf;
}

Shape MapShape(const Schema& schema) {
  // Raw embedded objects have no schema of their own and are owned whole.
  const bool raw = schema.wire == Wire::kRaw && schema.type == Type::kObject;
  return schema.map_type == MapType::kAtomic || raw ? Shape::kLeaf : Shape::kMap;
}

// Whole numbers have one spelling, however they were written.
void AppendScalar(const Json& value, std::string& out) {
  if (value.is_string()) {
    out += JsonQuote(value.get_ref<const std::string&>());
    return;
  }
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::trunc(number) == number && std::fabs(number) < 1e15) {
      out += std::to_string(static_cast<std::int64_t>(number));
      return;
    }
  }
  out += DumpJson(value);
}

std::string KeyNames(const std::vector<std::string>& keys) {
  std::string out = "[";
  for (std::size_t i = 0; i < keys.size(); ++i) out += (i ? " " : "") + Quoted(keys[i]);
  return out + "]";
}

// What a required scalar of a built-in type is when it is left out.
const Json* ZeroOf(const Schema& owner, const Property& property) {
  static const Json kText = "", kNumber = 0;
  const bool builtin = !owner.name.empty();
  if (!builtin || !property.required || property.pointer) return nullptr;
  switch (property.schema->type) {
    case Type::kString:
      return &kText;
    case Type::kInteger:
      return &kNumber;
    default:
      return nullptr;
  }
}

// The value of one key field of an item: its own or the declared default, or nullptr.
const Json* KeyValue(const Schema& list, const Json& item, const std::string& key) {
  if (auto it = item.find(key); it != item.end()) return &*it;
  const Property* property = list.items ? list.items->Find(key) : nullptr;
  if (!property || !property->schema) return nullptr;
  const auto& declared = property->schema->default_value;
  return declared ? &*declared : ZeroOf(*list.items, *property);
}

bool KeyedElement(const Schema& list, const Json& item, std::string& element, std::string& error) {
  if (item.is_null()) {
    error = "associative list with keys may not have a null element";
    return false;
  }
  if (!item.is_object()) {
    error = "associative list with keys may not have non-map elements";
    return false;
  }
  element = "k:{";
  // Keys in the order of their names; there are one or two of them.
  const std::string* last = nullptr;
  for (std::size_t i = 0; i < list.list_map_keys.size(); ++i) {
    const std::string* next = nullptr;
    for (const std::string& key : list.list_map_keys) {
      if ((!last || *last < key) && (!next || key < *next)) next = &key;
    }
    if (!next) break;
    last = next;
    const Json* value = KeyValue(list, item, *next);
    if (!value) continue;
    if (element.size() > 3) element += ',';
    element += JsonQuote(*next);
    element += ':';
    AppendScalar(*value, element);
  }
  if (element.size() == 3) {
    error = "associative list with keys has an element that omits all key fields " +
            KeyNames(list.list_map_keys) + " (and doesn't have default values for any key fields)";
    return false;
  }
  element += '}';
  return true;
}

bool SetElement(const Json& item, std::string& element, std::string& error) {
  if (item.is_object()) {
    error = "associative list without keys has an element that's a map type";
  } else if (item.is_array()) {
    error = "not supported: associative list with lists as elements";
  } else if (item.is_null()) {
    error = "associative list without keys has an element that's an explicit null";
  } else {
    element = "v:";
    AppendScalar(item, element);
    return true;
  }
  return false;
}

}  // namespace

Shape ShapeOf(const Schema* schema, const Json& value) {
  if (!schema) return value.is_object() || value.is_null() ? Shape::kMap : Shape::kLeaf;
  switch (schema->type) {
    case Type::kObject:
      return MapShape(*schema);
    case Type::kArray:
      return ListShape(*schema);
    case Type::kAny:
      if (schema->int_or_string) return Shape::kLeaf;
      if (value.is_array()) return ListShape(*schema);
      return value.is_object() || value.is_null() ? MapShape(*schema) : Shape::kLeaf;
    default:
      return Shape::kLeaf;
  }
}

MemberType MemberOf(const Schema* schema, std::string_view name) {
  if (!schema) return {};
  if (const Property* property = schema->Find(name)) return {property->schema, true, true};
  if (schema->additional) return {schema->additional, false, true};
  return {nullptr, false, schema->properties.empty() || schema->preserve_unknown};
}

bool ItemElement(const Schema& list, const Json& item, std::string& element, std::string& error) {
  return list.list_map_keys.empty() ? SetElement(item, element, error)
                                    : KeyedElement(list, item, element, error);
}

}  // namespace mailroom::apiserver
