// The shape of a kind: a tree (for built-in types a graph, they may recurse) of schema nodes with
// everything the server needs to know about a field: type, list and map semantics for merging,
// defaults, validation keywords, protobuf numbers. Immutable once published; nodes are owned by
// a SchemaSet and refer to each other by plain pointers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json.h"

namespace mailroom::openapi {

struct Schema;

enum class Type { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean };
std::string_view TypeText(Type type);  // `object`; "" for kAny
enum class ListType { kAtomic, kSet, kMap };
enum class MapType { kGranular, kAtomic };

// Wire form of a scalar or special message in protobuf (built-in types only).
enum class Wire {
  kNone,  // not in protobuf
  kString, kBool, kInt32, kInt64, kDouble, kBytes,
  kTime, kMicroTime, kDuration, kQuantity, kIntOrString, kRaw /* RawExtension, FieldsV1, JSON */,
  kMessage, kMap, kSchemaOrBool, kSchemaOrArray, kSchemaOrStrings,
  kItems,  // a named list: a message whose field 1 repeats
};

struct Property {
  std::string name;
  const Schema* schema = nullptr;
  int number = 0;          // protobuf field number, 0: none
  bool required = false;
  bool pointer = false;    // written in protobuf only when set
  bool always = false;     // written in JSON even when empty
  bool embedded = false;   // inline in JSON; in protobuf a field of a nested message (embeds)
  // Strategic merge: how this field of the parent merges.
  bool patch_merge = false;
  bool patch_retain_keys = false;
  std::string patch_merge_key;
  std::string patch_strategy;  // as published: `merge`, `retainKeys`, `merge,retainKeys`, ...
};

// One x-kubernetes-validations rule.
struct CelRule {
  std::string rule, message, message_expression, reason, field_path;
  bool optional_old_self = false;
};

struct Schema {
  Type type = Type::kAny;
  std::string name;    // built-in type name such as `core/v1.PodSpec`, "" for CRD nodes
  std::string format;
  Wire wire = Wire::kNone;
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;  // unknown members are kept here
  bool embedded_resource = false;
  bool is_object_meta = false;    // metadata: validated by metadata rules, never pruned by schema

  std::vector<Property> properties;    // declared order; Find() is binary search over `index`
  std::vector<std::uint32_t> index;    // positions in `properties` sorted by name
  // Built-in types: the nested messages whose fields are inline in JSON, by protobuf number.
  std::vector<Property> embeds;
  const Schema* items = nullptr;       // kArray
  const Schema* additional = nullptr;  // map values of a kObject

  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_map_keys;
  MapType map_type = MapType::kGranular;
  bool list_type_given = false;  // stated by the schema, hence published
  bool map_type_given = false;
  std::optional<std::string> union_by;  // a union; its discriminator, "" when it has none

  std::optional<Json> default_value;
  std::vector<Json> enum_values;
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<std::int64_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties;
  std::string pattern;
  std::vector<std::string> required;  // CRDs: required members, also of undeclared ones
  // Value-validation junctors (CRDs); nodes use the same keywords.
  std::vector<const Schema*> all_of, any_of, one_of;
  const Schema* not_ = nullptr;
  std::vector<CelRule> rules;
  std::string description;

  // The property, or nullptr. Built-in embedded fields are already flattened into the parent.
  const Property* Find(std::string_view member) const;
  // Must be called after `properties` is complete.
  void BuildIndex();
};

// Owner of a group of nodes.
struct SchemaSet {
  std::deque<Schema> nodes;
  Schema* New() { return &nodes.emplace_back(); }
};
using SchemaSetPtr = std::shared_ptr<const SchemaSet>;

}  // namespace mailroom::openapi
