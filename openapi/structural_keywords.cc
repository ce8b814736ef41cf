#include <algorithm>
#include <set>

#include "openapi/crd.h"
#include "openapi/go_json.h"
#include "openapi/normalize.h"
#include "openapi/rules.h"
#include "openapi/structural.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

const Json* ObjectAt(const Json& tree, std::string_view key) {
  const Json* found = Find(tree, {key});
  return found != nullptr && found->is_object() ? found : nullptr;
}

std::string Keyed(const std::string& path, std::string_view name) {
  return EntryPath(path + ".properties", name);
}

bool IsMetaMember(std::string_view name) {
  return name == "metadata" || name == "kind" || name == "apiVersion";
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool HasLineBreak(std::string_view text) {
  return text.find_first_of("\r\n") != std::string_view::npos;
}

class KeywordChecker {
 public:
  Causes Run(const Json& schema, const std::string& path) {
    Place root;
    root.root = true;
    Node(schema, root, path);
    return std::move(causes_);
  }

 private:
  struct Place {
    bool root = false;
    bool inside_meta = false;
    std::string no_default;  // why a default may not stand here, when not empty
  };

  void Node(const Json& schema, const Place& place, const std::string& path) {
    if (!schema.is_object()) return;
    Unsupported(schema, place, path);
    Place inner = place;
    inner.root = false;
    if (const Json* additional = Find(schema, {"additionalProperties"})) {
      const Json* properties = ObjectAt(schema, "properties");
      if (properties != nullptr && !properties->empty() &&
          (additional->is_object() || *additional == false)) {
        causes_.push_back(
            ForbiddenValue(path + ".additionalProperties",
                           "additionalProperties and properties are mutual exclusive"));
      }
      Place there = inner;
      if (place.inside_meta) {
        there.no_default = "inside additionalProperties applying to object metadata";
      }
      Node(*additional, there, path + ".additionalProperties");
    }
    Children(schema, place, inner, path);
    if (const Json* keeps = Find(schema, {"x-kubernetes-preserve-unknown-fields"});
        keeps && *keeps == false) {
      causes_.push_back(InvalidValue(path + ".x-kubernetes-preserve-unknown-fields", "false",
                                     "must be true or undefined"));
    }
    ListAndMapTypes(schema, path);
    Rules(schema, path);
  }

  void Children(const Json& schema, const Place& place, const Place& inner,
                const std::string& path) {
    if (const Json* properties = ObjectAt(schema, "properties")) {
      for (const auto& [name, child] : properties->items()) {
        Place there = inner;
        if ((place.root || BoolAt(schema, {"x-kubernetes-embedded-resource"})) &&
            IsMetaMember(name)) {
          there.inside_meta = true;
          if (place.root) there.no_default = "in top-level " + name;
        }
        Node(child, there, Keyed(path, name));
      }
    }
    if (const Json* other = Find(schema, {"not"})) Node(*other, inner, path + ".not");
    for (std::string_view keyword : {"allOf", "oneOf", "anyOf"}) {
      const Json* list = Find(schema, {keyword});
      if (list == nullptr || !list->is_array()) continue;
      for (std::size_t i = 0; i < list->size(); ++i) {
        Node((*list)[i], inner, path + "." + std::string(keyword) + "[" + std::to_string(i) + "]");
      }
    }
    Named(schema, "definitions", inner, path);
    const Json* items = Find(schema, {"items"});
    if (items != nullptr && items->is_array()) {
      for (std::size_t i = 0; i < items->size(); ++i) {
        Node((*items)[i], inner, path + ".items[" + std::to_string(i) + "]");
      }
    } else if (items != nullptr) {
      Node(*items, inner, path + ".items");
    }
    Named(schema, "dependencies", inner, path);
  }

  void Named(const Json& schema, std::string_view keyword, const Place& inner,
             const std::string& path) {
    const Json* children = ObjectAt(schema, keyword);
    if (children == nullptr) return;
    for (const auto& [name, child] : children->items()) {
      Node(child, inner, EntryPath(path + "." + std::string(keyword), name));
    }
  }

  void Unsupported(const Json& schema, const Place& place, const std::string& path) {
    const std::string type = StringAt(schema, {"type"});
    static const std::vector<std::string> kTypes = {"array",  "boolean", "integer",
                                                    "number", "object",  "string"};
    if (!type.empty() && std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      causes_.push_back(NotSupported(path + ".type", type, kTypes));
    }
    if (Find(schema, {"default"}) != nullptr && !place.no_default.empty()) {
      causes_.push_back(ForbiddenValue(path + ".default", "must not be set " + place.no_default));
    }
    for (const std::string keyword :
         {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      const Json* found = Find(schema, {keyword});
      if (found == nullptr || found->is_null()) continue;
      const bool may_be_empty =
          keyword == "id" || keyword == "patternProperties" || keyword == "definitions";
      if (may_be_empty && (found->empty() || *found == "")) continue;
      causes_.push_back(ForbiddenValue(path + "." + keyword, keyword + " is not supported"));
    }
    if (type == "null") {
      causes_.push_back(ForbiddenValue(
          path + ".type", "type cannot be set to null, use nullable as an alternative"));
    }
    if (const Json* items = Find(schema, {"items"}); items && items->is_array() && !items->empty()) {
      causes_.push_back(
          ForbiddenValue(path + ".items", "items must be a schema object and not an array"));
    }
    if (place.inside_meta && BoolAt(schema, {"x-kubernetes-embedded-resource"})) {
      causes_.push_back(ForbiddenValue(path + ".x-kubernetes-embedded-resource",
                                       "must not be used inside of resource meta"));
    }
    if (BoolAt(schema, {"uniqueItems"})) {
      causes_.push_back(ForbiddenValue(
          path + ".uniqueItems",
          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    }
  }

  void WantType(const Json& schema, const std::string& wanted, const std::string& keyword,
                const std::string& path) {
    const std::string type = StringAt(schema, {"type"});
    if (type == wanted) return;
    const std::string why = "must be " + wanted + " if " + keyword + " is specified";
    causes_.push_back(type.empty() ? RequiredValue(path + ".type", why)
                                   : InvalidValue(path + ".type", Quoted(type), why));
  }

  void ListAndMapTypes(const Json& schema, const std::string& path) {
    const std::string map_type = StringAt(schema, {"x-kubernetes-map-type"});
    if (!map_type.empty()) {
      WantType(schema, "object", "x-kubernetes-map-type", path);
      if (map_type != "atomic" && map_type != "granular") {
        causes_.push_back(
            NotSupported(path + ".x-kubernetes-map-type", map_type, {"atomic", "granular"}));
      }
    }
    const std::string list_type = StringAt(schema, {"x-kubernetes-list-type"});
    const auto keys = StringsAt(schema, {"x-kubernetes-list-map-keys"});
    if (!list_type.empty()) WantType(schema, "array", "x-kubernetes-list-type", path);
    if (list_type == "set" && StringAt(schema, {"type"}) == "array") SetItems(schema, path);
    if (!list_type.empty() && list_type != "atomic" && list_type != "set" && list_type != "map") {
      causes_.push_back(
          NotSupported(path + ".x-kubernetes-list-type", list_type, {"atomic", "set", "map"}));
    }
    if (!keys.empty() && list_type != "map") {
      const std::string why = "must be map if x-kubernetes-list-map-keys is non-empty";
      causes_.push_back(list_type.empty() ? RequiredValue(path + ".x-kubernetes-list-type", why)
                                          : InvalidValue(path + ".x-kubernetes-list-type",
                                                         Quoted(list_type), why));
    }
    if (list_type == "map") MapItems(schema, keys, path);
    const Json* item = ObjectAt(schema, "items");
    if (item != nullptr && (list_type == "map" || list_type == "set")) Kept(*item, list_type, keys, path);
  }

  // Items that are told apart by what they hold must hold it.
  void Kept(const Json& item, const std::string& list_type, const std::vector<std::string>& keys,
            const std::string& path) {
    if (BoolAt(item, {"nullable"})) {
      causes_.push_back(
          ForbiddenValue(path + ".items.nullable",
                         "cannot be nullable when x-kubernetes-list-type is " + list_type));
    }
    if (list_type != "map") return;
    const auto names = StringsAt(item, {"required"});
    const std::set<std::string> required(names.begin(), names.end());
    for (const std::string& key : keys) {
      const Json* property = Find(item, {"properties", key});
      if (property == nullptr) continue;
      KeyProperty(*property, required.contains(key), Keyed(path + ".items", key));
    }
  }

  void SetItems(const Json& schema, const std::string& path) {
    const std::string type = StringAt(schema, {"items", "type"});
    const std::string why = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const std::string list_type = StringAt(schema, {"items", "x-kubernetes-list-type"});
    if (type == "array" && !list_type.empty() && list_type != "atomic") {
      causes_.push_back(
          InvalidValue(path + ".items.x-kubernetes-list-type", GoJsonQuote(list_type), why));
    }
    if (type == "object" && StringAt(schema, {"items", "x-kubernetes-map-type"}) != "atomic") {
      causes_.push_back(InvalidValue(path + ".items.x-kubernetes-map-type",
                                     list_type.empty() ? "null" : GoJsonQuote(list_type), why));
    }
  }

  void MapItems(const Json& schema, const std::vector<std::string>& keys, const std::string& path) {
    const std::string keys_path = path + ".x-kubernetes-list-map-keys";
    if (keys.empty()) {
      causes_.push_back(
          RequiredValue(keys_path, "must not be empty if x-kubernetes-list-type is map"));
    }
    const Json* items = ObjectAt(schema, "items");
    if (items == nullptr) {
      const Json* given = Find(schema, {"items"});
      if (given == nullptr || given->is_null()) {
        causes_.push_back(
            RequiredValue(path + ".items", "must have a schema if x-kubernetes-list-type is map"));
      }
      return;
    }
    const std::string type = StringAt(*items, {"type"});
    if (type != "object") {
      causes_.push_back(
          InvalidValue(path + ".items.type", Quoted(type),
                       "must be object if parent array's x-kubernetes-list-type is map"));
      return;
    }
    std::set<std::string> seen;
    for (const std::string& key : keys) {
      if (causes_.full()) return;  // each fault shows all keys
      const Json* property = Find(*items, {"properties", key});
      const std::string key_type = property != nullptr ? StringAt(*property, {"type"}) : "";
      if (property == nullptr) {
        causes_.push_back(InvalidValue(keys_path, Rendered(Json(keys)),
                                       "entries must all be names of item properties"));
      } else if (key_type == "array" || key_type == "object") {
        causes_.push_back(
            InvalidValue(Keyed(path + ".items", key) + ".type", Quoted("object"),
                         "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      }
      if (!seen.insert(key).second) {
        causes_.push_back(
            InvalidValue(keys_path, Rendered(Json(keys)), "must not contain duplicate entries"));
      }
    }
  }

  void KeyProperty(const Json& property, bool required, const std::string& path) {
    if (!required && Find(property, {"default"}) == nullptr) {
      causes_.push_back(
          RequiredValue(path + ".default",
                        "this property is in x-kubernetes-list-map-keys, so it must have a default "
                        "or be a required property"));
    }
    if (BoolAt(property, {"nullable"})) {
      causes_.push_back(ForbiddenValue(
          path + ".nullable",
          "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
    }
  }

  void Rules(const Json& schema, const std::string& path) {
    const Json* rules = Find(schema, {"x-kubernetes-validations"});
    if (rules == nullptr || !rules->is_array()) return;
    for (std::size_t i = 0; i < rules->size(); ++i) {
      Rule((*rules)[i], path + ".x-kubernetes-validations[" + std::to_string(i) + "]");
    }
  }

  void Rule(const Json& entry, const std::string& path) {
    const std::string rule = StringAt(entry, {"rule"}), message = StringAt(entry, {"message"});
    if (IsBlank(rule)) {
      causes_.push_back(RequiredValue(path + ".rule", "rule is not specified"));
    } else if (!message.empty() && IsBlank(message)) {
      causes_.push_back(
          InvalidValue(path + ".message", Quoted(message), "must be non-empty if specified"));
    } else if (HasLineBreak(message.substr(0, message.find_last_not_of(" \t\r\n") + 1))) {
      causes_.push_back(
          InvalidValue(path + ".message", Quoted(message), "must not contain line breaks"));
    } else if (HasLineBreak(rule.substr(0, rule.find_last_not_of(" \t\r\n") + 1)) &&
               message.empty()) {
      causes_.push_back(RequiredValue(path + ".message",
                                      "message must be specified if rule contains line breaks"));
    }
    const std::string expression = StringAt(entry, {"messageExpression"});
    if (!expression.empty() && IsBlank(expression)) {
      causes_.push_back(RequiredValue(path + ".messageExpression",
                                      "messageExpression must be non-empty if specified"));
    }
    static const std::vector<std::string> kReasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                                      "FieldValueInvalid", "FieldValueRequired"};
    const std::string reason = StringAt(entry, {"reason"});
    if (!reason.empty() && std::find(kReasons.begin(), kReasons.end(), reason) == kReasons.end()) {
      causes_.push_back(NotSupported(path + ".reason", reason, kReasons));
    }
    const std::string field_path = StringAt(entry, {"fieldPath"});
    if (!field_path.empty() && IsBlank(field_path)) {
      causes_.push_back(
          InvalidValue(path + ".fieldPath", Quoted(field_path), "must be non-empty if specified"));
    }
    if (HasLineBreak(field_path)) {
      causes_.push_back(
          InvalidValue(path + ".fieldPath", Quoted(field_path), "must not contain line breaks"));
    }
  }

  Causes causes_;
};

void Defaults(const Json& tree, const Schema& node, const std::string& path, Causes& causes) {
  if (node.default_value) {
    ResourceType type;
    type.builtin = false;
    type.schema = &node;
    Json pruned = *node.default_value;
    PruneUnknown(type, pruned);
    if (pruned != *node.default_value) {
      causes.push_back(InvalidValue(path + ".default", Rendered(*node.default_value),
                                    "must not have unknown fields"));
    }
    Causes faults = CheckSchema(node, *node.default_value, nullptr, "");
    if (faults.empty() && HasRules(node)) {
      faults = openapi::Rules(node).Check(*node.default_value, nullptr);
    }
    for (Cause& cause : faults) {
      const bool whole = cause.field.empty() || cause.field == "<nil>";
      cause.field = path + ".default" + (whole ? "" : "." + cause.field);
      causes.push_back(std::move(cause));
    }
  }
  if (const Json* items = ObjectAt(tree, "items"); items && node.items != nullptr) {
    Defaults(*items, *node.items, path + ".items", causes);
  }
  const Json* properties = ObjectAt(tree, "properties");
  if (properties == nullptr) return;
  for (const auto& [name, child] : properties->items()) {
    if (const Property* property = node.Find(name)) {
      Defaults(child, *property->schema, Keyed(path, name), causes);
    }
  }
}

}  // namespace

Causes CheckKeywords(const Json& schema, const std::string& path) {
  return KeywordChecker().Run(schema, path);
}

Causes CheckDefaults(const Json& schema, const std::string& path) {
  Causes causes;
  SchemaSet set;
  auto root = SchemaFromOpenApi(schema, set);
  if (!root.ok()) return {InvalidValue(path, "\"\"", root.error().message())};
  Defaults(schema, **root, path, causes);
  return causes;
}

}  // namespace mailroom::openapi
