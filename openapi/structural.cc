#include "openapi/structural.h"

#include <algorithm>
#include <tuple>

#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

enum class Level { kRoot, kItem, kField };

const Json* ObjectAt(const Json& tree, std::string_view key) {
  const Json* found = Find(tree, {key});
  return found != nullptr && found->is_object() ? found : nullptr;
}

const Json& ListAt(const Json& tree, std::string_view key) {
  static const Json kNone = Json::array();
  const Json* found = Find(tree, {key});
  return found != nullptr && found->is_array() ? *found : kNone;
}

const Json& PropertiesOf(const Json& tree) {
  static const Json kNone = Json::object();
  const Json* found = ObjectAt(tree, "properties");
  return found != nullptr ? *found : kNone;
}

std::string Keyed(const std::string& path, std::string_view name) {
  return EntryPath(path + ".properties", name);
}

std::string Indexed(const std::string& path, std::string_view keyword, std::size_t i) {
  return path + "." + std::string(keyword) + "[" + std::to_string(i) + "]";
}

bool IsIntOrStringPair(const Json& any_of) {
  static const Json kPair = {{{"type", "integer"}}, {{"type", "string"}}};
  return any_of == kPair;
}

class StructureChecker {
 public:
  Causes Run(const Json& schema, const std::string& path) {
    Node(schema, Level::kRoot, path);
    Complete(schema, &schema, path, path);
    std::sort(causes_.begin(), causes_.end(), [](const Cause& a, const Cause& b) {
      return std::tie(a.field, a.message) < std::tie(b.field, b.message);
    });
    return std::move(causes_);
  }

 private:
  void Required(const std::string& field, std::string detail) {
    causes_.push_back(RequiredValue(field, std::move(detail)));
  }
  void Invalid(const std::string& field, const Json& value, std::string detail) {
    causes_.push_back(InvalidValue(field, Rendered(value), std::move(detail)));
  }
  void Forbid(const std::string& field, std::string detail) {
    causes_.push_back(ForbiddenValue(field, std::move(detail)));
  }

  void Node(const Json& schema, Level level, const std::string& path) {
    const std::string type = StringAt(schema, {"type"});
    const Json* items = ObjectAt(schema, "items");
    if (type == "array" && items == nullptr) Required(path + ".items", "must be specified");
    if (items != nullptr) Node(*items, Level::kItem, path + ".items");
    for (const auto& [name, child] : PropertiesOf(schema).items()) {
      Node(child, Level::kField, Keyed(path, name));
    }
    Additional(schema, level, path);
    Extensions(schema, path);
    const Json& any_of = ListAt(schema, "anyOf");
    const Json& all_of = ListAt(schema, "allOf");
    Values(schema, IsIntOrStringPair(any_of),
           !all_of.empty() && IsIntOrStringPair(ListAt(all_of.front(), "anyOf")), path);
    TypeRules(schema, type, level, path);
    ResourceMembers(schema, level, path);
  }

  void Additional(const Json& schema, Level level, const std::string& path) {
    const Json* additional = Find(schema, {"additionalProperties"});
    if (additional == nullptr) return;
    if (level == Level::kRoot) {
      Forbid(path + ".additionalProperties", "must not be used at the root");
    }
    if (additional->is_object()) {
      Node(*additional, Level::kField, path + ".additionalProperties");
    }
    if (BoolAt(schema, {"x-kubernetes-embedded-resource"})) {
      Forbid(path + ".additionalProperties",
             "must not be used if x-kubernetes-embedded-resource is set");
    }
  }

  void Extensions(const Json& schema, const std::string& path) {
    if (!BoolAt(schema, {"x-kubernetes-int-or-string"})) return;
    for (const char* other :
         {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"}) {
      if (BoolAt(schema, {other})) {
        Invalid(path + "." + other, true, "must be false if x-kubernetes-int-or-string is true");
      }
    }
  }

  void TypeRules(const Json& schema, const std::string& type, Level level,
                 const std::string& path) {
    const bool embedded = BoolAt(schema, {"x-kubernetes-embedded-resource"});
    const bool keeps = BoolAt(schema, {"x-kubernetes-preserve-unknown-fields"});
    if (embedded && type != "object") {
      const std::string why = "must be object if x-kubernetes-embedded-resource is true";
      type.empty() ? Required(path + ".type", why) : Invalid(path + ".type", type, why);
    } else if (type.empty() && !keeps && !BoolAt(schema, {"x-kubernetes-int-or-string"})) {
      Required(path + ".type", level == Level::kRoot ? "must not be empty at the root"
                               : level == Level::kItem
                                   ? "must not be empty for specified array items"
                                   : "must not be empty for specified object "
                                     "fields");
    }
    if (level == Level::kRoot && !type.empty() && type != "object") {
      Invalid(path + ".type", type, "must be object at the root");
    }
    if (embedded && !keeps && PropertiesOf(schema).empty()) {
      Required(path + ".properties",
               "must not be empty if x-kubernetes-embedded-resource is true without "
               "x-kubernetes-preserve-unknown-fields");
    }
  }

  void ResourceMembers(const Json& schema, Level level, const std::string& path) {
    const Json& properties = PropertiesOf(schema);
    const bool resource =
        level == Level::kRoot || BoolAt(schema, {"x-kubernetes-embedded-resource"});
    if (!resource) return;
    for (const char* name : {"kind", "apiVersion"}) {
      if (!properties.contains(name)) continue;
      const std::string type = StringAt(properties, {name, "type"});
      if (type != "string") Invalid(Keyed(path, name) + ".type", type, "must be string");
    }
    const Json* metadata = ObjectAt(properties, "metadata");
    if (metadata == nullptr) return;
    const std::string type = StringAt(*metadata, {"type"});
    if (type != "object") Invalid(Keyed(path, "metadata") + ".type", type, "must be object");
    if (level != Level::kRoot) return;
    bool plain = true;
    for (const auto& [name, child] : PropertiesOf(*metadata).items()) {
      plain &= name == "name" || name == "generateName";
    }
    for (const auto& [keyword, value] : metadata->items()) {
      plain &= keyword == "type" || keyword == "properties" || keyword == "default";
    }
    if (!plain) {
      Forbid(Keyed(path, "metadata"),
             "must not specify anything other than name and generateName, but metadata is "
             "implicitly specified");
    }
  }

  void Values(const Json& schema, bool skip_any_of, bool skip_first_all_of,
              const std::string& path) {
    if (!skip_any_of) NestedList(schema, "anyOf", false, path);
    NestedList(schema, "allOf", skip_first_all_of, path);
    NestedList(schema, "oneOf", false, path);
    if (const Json* other = ObjectAt(schema, "not")) Nested(*other, false, path + ".not");
    const std::string pattern = StringAt(schema, {"pattern"});
    if (pattern.empty()) return;
    if (std::string fault = PatternFault(pattern); !fault.empty()) {
      Invalid(path + ".pattern", pattern,
              "must be a valid regular expression, but isn't: " + fault);
    }
  }

  void NestedList(const Json& schema, std::string_view keyword, bool skip_first_any_of,
                  const std::string& path) {
    const Json& list = ListAt(schema, keyword);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Nested(list[i], skip_first_any_of && i == 0, Indexed(path, keyword, i));
    }
  }

  // Under a junctor only value validations may stand.
  void Nested(const Json& schema, bool skip_any_of, const std::string& path) {
    Values(schema, skip_any_of, false, path);
    if (const Json* items = ObjectAt(schema, "items")) Nested(*items, false, path + ".items");
    for (const auto& [name, child] : PropertiesOf(schema).items()) {
      Nested(child, false, Keyed(path, name));
    }
    struct Forbidden {
      const char* keyword;
      const char* why;
    };
    static constexpr Forbidden kForbidden[] = {
        {"type", "must be empty to be structural"},
        {"additionalProperties", "must be undefined to be structural"},
        {"default", "must be undefined to be structural"},
        {"title", "must be empty to be structural"},
        {"description", "must be empty to be structural"},
        {"nullable", "must be false to be structural"},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        {"x-kubernetes-embedded-resource", "must be false to be structural"},
        {"x-kubernetes-int-or-string", "must be false to be structural"},
        {"x-kubernetes-list-map-keys", "must be empty to be structural"},
        {"x-kubernetes-list-type", "must be undefined to be structural"},
        {"x-kubernetes-map-type", "must be undefined to be structural"},
        {"x-kubernetes-validations", "must be empty to be structural"},
    };
    for (const Forbidden& row : kForbidden) {
      const Json* value = Find(schema, {row.keyword});
      if (value == nullptr || *value == false || *value == "") continue;
      Forbid(path + "." + row.keyword, row.why);
    }
    if (PropertiesOf(schema).contains("metadata")) {
      Forbid(Keyed(path, "metadata"), "must not be specified in a nested context");
    }
  }

  // Members that junctors speak of must be declared outside of them, too.
  void Complete(const Json& values, const Json* declared, const std::string& path,
                const std::string& values_path) {
    if (declared == nullptr) {
      return Required(path, "because it is defined in " + values_path);
    }
    if (const Json* other = ObjectAt(values, "not")) {
      CompleteNested(*other, declared, path, values_path + ".not");
    }
    for (std::string_view keyword : {"allOf", "anyOf", "oneOf"}) {
      const Json& list = ListAt(values, keyword);
      for (std::size_t i = 0; i < list.size(); ++i) {
        CompleteNested(list[i], declared, path, Indexed(values_path, keyword, i));
      }
    }
  }

  void CompleteNested(const Json& values, const Json* declared, const std::string& path,
                      const std::string& values_path) {
    if (declared == nullptr) {
      return Required(path, "because it is defined in " + values_path);
    }
    Complete(values, declared, path, values_path);
    if (const Json* items = ObjectAt(values, "items")) {
      CompleteNested(*items, ObjectAt(*declared, "items"), path + ".items", values_path + ".items");
    }
    for (const auto& [name, child] : PropertiesOf(values).items()) {
      CompleteNested(child, ObjectAt(PropertiesOf(*declared), name), Keyed(path, name),
                     Keyed(values_path, name));
    }
  }

  Causes causes_;
};

}  // namespace

bool IsConvertible(const Json& schema) {
  if (!schema.is_object()) return true;
  for (const char* keyword : {"id", "$schema", "$ref", "patternProperties", "dependencies",
                              "additionalItems", "definitions"}) {
    const Json* found = Find(schema, {keyword});
    if (found == nullptr || found->is_null() || *found == "") continue;
    if (!found->is_object() || !found->empty() || keyword == std::string_view("additionalItems")) {
      return false;
    }
  }
  const Json* keeps = Find(schema, {"x-kubernetes-preserve-unknown-fields"});
  if (keeps != nullptr && *keeps == false) return false;
  if (!ListAt(schema, "items").empty()) return false;
  for (const char* child : {"items", "additionalProperties", "not"}) {
    if (const Json* found = ObjectAt(schema, child); found && !IsConvertible(*found)) return false;
  }
  auto all = [](const Json& list) { return std::all_of(list.begin(), list.end(), IsConvertible); };
  return all(PropertiesOf(schema)) && all(ListAt(schema, "allOf")) &&
         all(ListAt(schema, "anyOf")) && all(ListAt(schema, "oneOf"));
}

Causes CheckStructure(const Json& schema, const std::string& path) {
  return StructureChecker().Run(schema, path);
}

}  // namespace mailroom::openapi
