#include "openapi/validate_schema.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "openapi/validate_names.h"
#include "openapi/validate_numbers.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

// Errors found so far and how many checks ran; of several failing alternatives the one in which
// most checks ran is the one reported.
struct Findings {
  Causes causes;
  int matches = 0;

  bool ok() const { return causes.empty(); }
  void Merge(Findings other) {
    causes.Add(std::move(other.causes));
    matches += other.matches;
  }
};

std::string_view TypeName(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "boolean";
  if (value.is_string()) return "string";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  return IsFloat(value) ? "number" : "integer";
}

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kObject:
      return "object";
    case Type::kArray:
      return "array";
    case Type::kString:
      return "string";
    case Type::kInteger:
      return "integer";
    case Type::kNumber:
      return "number";
    case Type::kBoolean:
      return "boolean";
    case Type::kAny:
      break;
  }
  return "";
}

bool IsWholeNumber(const Json& value) {
  if (!value.is_number()) return false;
  if (!IsFloat(value)) return true;
  constexpr double kMost = 9007199254740991;  // what a double can tell apart
  const double number = value.get<double>();
  return std::fabs(number) <= kMost && number == std::trunc(number);
}

bool HasType(Type type, const Json& value) {
  switch (type) {
    case Type::kAny:
      return true;
    case Type::kObject:
      return value.is_object();
    case Type::kArray:
      return value.is_array();
    case Type::kString:
      return value.is_string();
    case Type::kInteger:
      return IsWholeNumber(value);
    case Type::kNumber:
      return value.is_number();
    case Type::kBoolean:
      return value.is_boolean();
  }
  return false;
}

std::size_t CodePoints(const std::string& text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

// An error about the whole value that names no field.
Cause Unplaced(std::string text) { return InvalidValue("<nil>", "\"\"", std::move(text)); }

class Checker {
 public:
  Findings Check(const Schema& schema, const Json& value, const Json* old,
                 const std::string& path) {
    Findings found = CheckNode(schema, value, old, path);
    if (!found.ok() && old != nullptr && value == *old) found.causes.clear();
    return found;
  }

 private:
  Findings CheckNode(const Schema& schema, const Json& value, const Json* old,
                     const std::string& path) {
    Findings found;
    CheckType(schema, value, path, found);
    if (value.is_null()) {
      CheckEnum(schema, value, path, found);
      return found;
    }
    CheckJunctors(schema, value, path, found);
    if (value.is_string()) CheckString(schema, value, path, found);
    if (value.is_number()) {
      found.causes.Add(CheckNumber(schema, value, path));
      ++found.matches;
    }
    if (value.is_array()) CheckArray(schema, value, old, path, found);
    CheckEnum(schema, value, path, found);
    if (value.is_object()) CheckObject(schema, value, old, path, found);
    ++found.matches;
    return found;
  }

  static void WrongType(const std::string& path, std::string_view wanted, std::string_view got,
                        Findings& found) {
    found.causes.push_back(
        TypeInvalid(path.empty() ? "<nil>" : path, Quoted(got),
                    path + " in body must be of type " + std::string(wanted) + ": " + Quoted(got)));
  }

  static void Bound(const std::string& path, const Json& value, const std::string& text,
                    Findings& found) {
    found.causes.push_back(InvalidValue(path.empty() ? "<nil>" : path, Rendered(value),
                                        path + " in body should " + text));
  }

  static void CheckType(const Schema& schema, const Json& value, const std::string& path,
                        Findings& found) {
    if (value.is_null()) {
      if (schema.nullable || (schema.type == Type::kAny && !schema.int_or_string)) return;
      WrongType(path, schema.int_or_string ? "integer,string" : TypeName(schema.type), "null",
                found);
      return;
    }
    if (!schema.format.empty() && HasWrongForm(schema, value, path, found)) return;
    const bool fits = schema.int_or_string ? value.is_string() || IsWholeNumber(value)
                                           : HasType(schema.type, value);
    if (fits) {
      ++found.matches;
      return;
    }
    WrongType(path, schema.int_or_string ? "integer,string" : TypeName(schema.type),
              TypeName(value), found);
  }

  // Values that are no text must have the type that a format belongs to, and are told of by formats.
  static bool HasWrongForm(const Schema& schema, const Json& value, const std::string& path,
                           Findings& found) {
    if (!IsKnownFormat(schema.type, schema.format)) return false;
    if (value.is_string() || value.is_array() || HasType(schema.type, value)) return false;
    const std::string_view form = !value.is_number()        ? ""
                                  : IsFloat(value) ? "float64"
                                                            : "int64";
    if (form == schema.format) return false;
    WrongType(path, schema.format, form, found);
    return true;
  }

  static void CheckEnum(const Schema& schema, const Json& value, const std::string& path,
                        Findings& found) {
    if (schema.enum_values.empty()) return;
    std::vector<std::string> supported;
    for (const Json& allowed : schema.enum_values) {
      if (allowed == value && !value.is_null()) {
        ++found.matches;
        return;
      }
      supported.push_back(allowed.is_string() ? allowed.get<std::string>() : DumpJson(allowed));
    }
    found.causes.push_back(NotSupported(path, value, supported));
  }

  static void CheckString(const Schema& schema, const Json& value, const std::string& path,
                          Findings& found) {
    const std::string& text = value.get_ref<const std::string&>();
    const auto length =
        static_cast<std::int64_t>(schema.max_length || schema.min_length ? CodePoints(text) : 0);
    if (schema.max_length && length > *schema.max_length) {
      found.causes.push_back(TooLong(path, static_cast<std::size_t>(*schema.max_length)));
    } else if (schema.min_length && length < *schema.min_length) {
      Bound(path, value, "be at least " + std::to_string(*schema.min_length) + " chars long",
            found);
    } else if (!schema.pattern.empty() && !MatchesPattern(schema.pattern, text)) {
      Bound(path, value, "match '" + schema.pattern + "'", found);
    } else {
      ++found.matches;
    }
    if (!schema.format.empty() && IsKnownFormat(schema.type, schema.format) &&
        !HasFormat(schema.format, text)) {
      WrongType(path, schema.format, text, found);
    }
  }

  // What tells the items of a list of type map apart.
  static std::string KeyOf(const Schema& schema, const Json& item) {
    std::string key;
    for (const std::string& name : schema.list_map_keys) {
      const Json* part = item.is_object() ? Find(item, {name}) : nullptr;
      key += part == nullptr ? "-" : DumpJson(*part);
      key += ',';
    }
    return key;
  }

  void CheckArray(const Schema& schema, const Json& value, const Json* old, const std::string& path,
                  Findings& found) {
    if (schema.items != nullptr) {
      std::unordered_map<std::string, const Json*> old_items;
      const bool keyed =
          schema.list_type == ListType::kMap && old != nullptr && old->is_array();
      if (keyed) {
        for (const Json& item : *old) old_items.emplace(KeyOf(schema, item), &item);
      }
      for (std::size_t i = 0; i < value.size() && !found.causes.full(); ++i) {
        const auto same = keyed ? old_items.find(KeyOf(schema, value[i])) : old_items.end();
        found.Merge(Check(*schema.items, value[i], same == old_items.end() ? nullptr : same->second,
                          ElementPath(path, i)));
      }
    }
    const auto size = static_cast<std::int64_t>(value.size());
    if (schema.min_items && size < *schema.min_items) {
      Bound(path, size, "have at least " + std::to_string(*schema.min_items) + " items", found);
    }
    if (schema.max_items && size > *schema.max_items) {
      found.causes.push_back(
          TooMany(path, value.size(), static_cast<std::size_t>(*schema.max_items)));
    }
    ++found.matches;
  }

  void CheckObject(const Schema& schema, const Json& value, const Json* old,
                   const std::string& path, Findings& found) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (schema.min_properties && size < *schema.min_properties) {
      Bound(path, size, "have at least " + std::to_string(*schema.min_properties) + " properties",
            found);
    }
    if (schema.max_properties && size > *schema.max_properties) {
      found.causes.push_back(
          TooMany(path, value.size(), static_cast<std::size_t>(*schema.max_properties)));
    }
    const Json* old_object = old != nullptr && old->is_object() ? old : nullptr;
    for (const auto& [name, member] : value.items()) {
      const Property* property = schema.Find(name);
      const Schema* child = property != nullptr ? property->schema : schema.additional;
      if (child == nullptr) continue;
      if (found.causes.full()) return;
      const Json* old_member = old_object == nullptr ? nullptr : Find(*old_object, {name});
      if (path.empty() && (name == "apiVersion" || name == "kind")) old_member = nullptr;
      if (child->is_object_meta) {
        CheckMetadata(*child, member, old_member, MemberPath(path, name), found);
      } else {
        found.Merge(Check(*child, member, old_member, MemberPath(path, name)));
      }
    }
    for (const std::string& name : schema.required) {
      if (!value.contains(name)) found.causes.push_back(RequiredValue(MemberPath(path, name)));
    }
  }

  // Metadata has rules of its own; a definition may only restrict the name.
  void CheckMetadata(const Schema& schema, const Json& value, const Json* old,
                     const std::string& path, Findings& found) {
    for (std::string_view name : {"name", "generateName"}) {
      const Json* member = Find(value, {name});
      const Property* property = schema.Find(name);
      if (member == nullptr || property == nullptr) continue;
      const Json* old_member = old == nullptr ? nullptr : Find(*old, {name});
      found.Merge(Check(*property->schema, *member, old_member, MemberPath(path, name)));
    }
  }

  void CheckJunctors(const Schema& schema, const Json& value, const std::string& path,
                     Findings& found) {
    if (!schema.any_of.empty()) AnyOf(schema, value, path, found);
    if (!schema.one_of.empty()) OneOf(schema, value, path, found);
    if (!schema.all_of.empty()) AllOf(schema, value, path, found);
    if (schema.not_ != nullptr && CheckNode(*schema.not_, value, nullptr, path).ok()) {
      found.causes.push_back(Unplaced(Quoted(path) + " must not validate the schema (not)"));
    }
    ++found.matches;
  }

  void AnyOf(const Schema& schema, const Json& value, const std::string& path, Findings& found) {
    Findings best;
    bool first = true;
    for (const Schema* alternative : schema.any_of) {
      Findings result = CheckNode(*alternative, value, nullptr, path);
      if (result.ok()) return found.Merge(std::move(result));
      if (first || result.matches > best.matches) best = std::move(result);
      first = false;
    }
    found.causes.push_back(Unplaced(Quoted(path) + " must validate at least one schema (anyOf)"));
    found.Merge(std::move(best));
  }

  void OneOf(const Schema& schema, const Json& value, const std::string& path, Findings& found) {
    Findings best, success;
    bool first = true;
    int valid = 0;
    for (const Schema* alternative : schema.one_of) {
      Findings result = CheckNode(*alternative, value, nullptr, path);
      if (result.ok()) {
        if (valid++ == 0) success = std::move(result);
      } else if (first || result.matches > best.matches) {
        best = std::move(result);
        first = false;
      }
    }
    if (valid == 1) return found.Merge(std::move(success));
    const std::string count =
        valid == 0 ? "Found none valid" : "Found " + std::to_string(valid) + " valid alternatives";
    found.causes.push_back(
        Unplaced(Quoted(path) + " must validate one and only one schema (oneOf). " + count));
    if (valid == 0) found.Merge(std::move(best));
  }

  void AllOf(const Schema& schema, const Json& value, const std::string& path, Findings& found) {
    std::size_t valid = 0;
    for (const Schema* part : schema.all_of) {
      Findings result = CheckNode(*part, value, nullptr, path);
      valid += result.ok() ? 1 : 0;
      found.Merge(std::move(result));
    }
    if (valid == schema.all_of.size()) return;
    found.causes.push_back(Unplaced(Quoted(path) + " must validate all the schemas (allOf)" +
                                    (valid == 0 ? ". None validated" : "")));
  }
};

}  // namespace

Causes CheckSchema(const Schema& schema, const Json& value, const Json* old, const std::string& path) {
  return Checker().Check(schema, value, old, path).causes;
}

}  // namespace mailroom::openapi
