#include "apiserver/apply_typecheck.h"

#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apiserver/apply_shape.h"
#include "apiserver/field_set.h"
#include "storage/object/status.h"

namespace mailroom::apiserver {

using openapi::ListType;
using openapi::Schema;
using openapi::Type;

namespace {

// A value as Go's %#v prints decoded JSON.
std::string GoSyntax(const Json& value) {
  if (value.is_string()) return Quoted(value.get_ref<const std::string&>());
  if (value.is_null()) return "interface {}(nil)";
  if (value.is_object()) {
    std::string out;
    for (const auto& [key, member] : value.items()) {
      out += (out.empty() ? "" : ", ") + Quoted(key) + ":" + GoSyntax(member);
    }
    return "map[string]interface {}{" + out + "}";
  }
  if (value.is_array()) {
    std::string out;
    for (const Json& element : value) out += (out.empty() ? "" : ", ") + GoSyntax(element);
    return "[]interface {}{" + out + "}";
  }
  return DumpJson(value);
}

std::string_view GoTypeName(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_object()) return "map[string]interface {}";
  if (value.is_array()) return "[]interface {}";
  return value.is_number_float() ? "float64" : "int64";
}

bool IsScalar(const Json& value) { return value.is_primitive() && !value.is_null(); }

// The way to a value, kept on the stack and spelled only for an error.
struct Place {
  const Place* up;
  std::string_view name;     // of a member
  std::string_view element;  // of an item of a granular list, when not a member
  std::size_t index;         // of any other item

  std::string Text() const {
    if (!up) return "";
    if (!name.empty()) return up->Text() + "." + std::string(name);
    if (!element.empty()) return up->Text() + ElementText(element);
    return up->Text() + "[" + std::to_string(index) + "]";
  }
};

class TypeCheck {
 public:
  std::vector<std::string> errors;

  void Value(const Schema* schema, const Json& value, bool keep_unknown, const Place& at) {
    if (!schema || value.is_null()) return;
    keep_unknown |= schema->preserve_unknown;
    switch (schema->type) {
      case Type::kObject:
        return Map(*schema, value, keep_unknown, at);
      case Type::kArray:
        return List(*schema, value, keep_unknown, at);
      case Type::kAny:
        return Any(*schema, value, keep_unknown, at);
      default:
        return Scalar(*schema, value, at);
    }
  }

 private:
  void Error(const Place& at, const std::string& text) {
    const std::string path = at.Text();
    errors.push_back(path.empty() ? text : path + ": " + text);
  }

  void Any(const Schema& schema, const Json& value, bool keep_unknown, const Place& at) {
    if (schema.int_or_string) {
      if (!IsScalar(value)) Error(at, "expected any scalar, got &{" + GoText(value) + "}");
    } else if (value.is_object()) {
      Map(schema, value, keep_unknown, at);
    } else if (value.is_array()) {
      List(schema, value, keep_unknown, at);
    }
  }

  void Scalar(const Schema& schema, const Json& value, const Place& at) {
    const bool free_text =
        schema.type == Type::kString && !schema.format.empty() && schema.format != "byte";
    if (free_text) {
      if (!IsScalar(value)) Error(at, "expected any scalar, got &{" + GoText(value) + "}");
    } else if (schema.type == Type::kString) {
      if (!value.is_string()) {
        Error(at, "expected string, got &value.valueUnstructured{Value:" + GoSyntax(value) + "}");
      }
    } else if (schema.type == Type::kBoolean) {
      if (!value.is_boolean()) Error(at, "expected boolean, got &{" + GoText(value) + "}");
    } else if (!value.is_number()) {
      Error(at, "expected numeric (int or float), got " + std::string(GoTypeName(value)));
    }
  }

  void Map(const Schema& schema, const Json& value, bool keep_unknown, const Place& at) {
    if (!value.is_object()) return Error(at, "expected map, got &{" + GoText(value) + "}");
    for (const auto& [name, member] : value.items()) {
      const MemberType type = MemberOf(&schema, name);
      const Place below{&at, name, {}, 0};
      if (!type.allowed && !keep_unknown) return Error(below, "field not declared in schema");
      Value(type.schema, member, keep_unknown, below);
    }
  }

  void List(const Schema& schema, const Json& value, bool keep_unknown, const Place& at) {
    if (!value.is_array()) return Error(at, "expected list, got &{" + GoText(value) + "}");
    const bool granular = schema.list_type != ListType::kAtomic;
    std::vector<std::string> elements(granular ? value.size() : 0);
    std::unordered_set<std::string_view> seen;
    std::string error;
    for (std::size_t i = 0; i < value.size(); ++i) {
      Place below{&at, {}, {}, i};
      if (granular) {
        if (!ItemElement(schema, value[i], elements[i], error)) {
          return Error(at, "element " + std::to_string(i) + ": " + error);
        }
        below.element = elements[i];
        if (value.size() > 1 && !seen.insert(elements[i]).second) {
          Error(at, "duplicate entries for key " + ElementText(elements[i]));
        }
      }
      Value(schema.items, value[i], keep_unknown, below);
    }
  }
};

}  // namespace

std::string GoText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "<nil>";
  if (value.is_object()) {
    std::string out;
    for (const auto& [key, member] : value.items()) {
      out += (out.empty() ? "" : " ") + key + ":" + GoText(member);
    }
    return "map[" + out + "]";
  }
  if (value.is_array()) {
    std::string out;
    for (std::size_t i = 0; i < value.size(); ++i) out += (i ? " " : "") + GoText(value[i]);
    return "[" + out + "]";
  }
  return DumpJson(value);
}

std::string CheckTyped(const Schema* schema, const Json& config) {
  TypeCheck check;
  check.Value(schema, config, false, {nullptr, {}, {}, 0});
  if (check.errors.empty()) return "";
  if (check.errors.size() == 1) return check.errors.front();
  std::string out = "errors:";
  for (const std::string& error : check.errors) out += "\n  " + error;
  return out;
}

}  // namespace mailroom::apiserver
