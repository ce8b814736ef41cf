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

class TypeCheck {
 public:
  std::vector<std::string> errors;

  void Value(const Schema* schema, const Json& value, bool keep_unknown) {
    if (!schema || value.is_null()) return;
    keep_unknown |= schema->preserve_unknown;
    switch (schema->type) {
      case Type::kObject:
        return Map(*schema, value, keep_unknown);
      case Type::kArray:
        return List(*schema, value, keep_unknown);
      case Type::kAny:
        return Any(*schema, value, keep_unknown);
      default:
        return Scalar(*schema, value);
    }
  }

 private:
  void Error(const std::string& text) {
    const std::string path = PathText(path_);
    errors.push_back(path.empty() ? text : path + ": " + text);
  }

  void Any(const Schema& schema, const Json& value, bool keep_unknown) {
    if (schema.int_or_string) {
      if (!IsScalar(value)) Error("expected any scalar, got &{" + GoText(value) + "}");
    } else if (value.is_object()) {
      Map(schema, value, keep_unknown);
    } else if (value.is_array()) {
      List(schema, value, keep_unknown);
    }
  }

  void Scalar(const Schema& schema, const Json& value) {
    const bool free_text =
        schema.type == Type::kString && !schema.format.empty() && schema.format != "byte";
    if (free_text) {
      if (!IsScalar(value)) Error("expected any scalar, got &{" + GoText(value) + "}");
    } else if (schema.type == Type::kString) {
      if (!value.is_string()) {
        Error("expected string, got &value.valueUnstructured{Value:" + GoSyntax(value) + "}");
      }
    } else if (schema.type == Type::kBoolean) {
      if (!value.is_boolean()) Error("expected boolean, got &{" + GoText(value) + "}");
    } else if (!value.is_number()) {
      Error("expected numeric (int or float), got " + std::string(GoTypeName(value)));
    }
  }

  void Map(const Schema& schema, const Json& value, bool keep_unknown) {
    if (!value.is_object()) return Error("expected map, got &{" + GoText(value) + "}");
    for (const auto& [name, member] : value.items()) {
      const MemberType type = MemberOf(&schema, name);
      path_.push_back(NameElement(name));
      const bool allowed = type.allowed || keep_unknown;
      if (allowed) {
        Value(type.schema, member, keep_unknown);
      } else {
        Error("field not declared in schema");
      }
      path_.pop_back();
      if (!allowed) return;
    }
  }

  void List(const Schema& schema, const Json& value, bool keep_unknown) {
    if (!value.is_array()) return Error("expected list, got &{" + GoText(value) + "}");
    const bool granular = schema.list_type != ListType::kAtomic;
    std::unordered_set<std::string> seen;
    std::string element;
    std::string error;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!granular) {
        element = "i:" + std::to_string(i);
      } else if (!ItemElement(schema, value[i], element, error)) {
        return Error("element " + std::to_string(i) + ": " + error);
      } else if (!seen.insert(element).second) {
        Error("duplicate entries for key " + ElementText(element));
      }
      path_.push_back(element);
      Value(schema.items, value[i], keep_unknown);
      path_.pop_back();
    }
  }

  FieldPath path_;
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
  check.Value(schema, config, false);
  if (check.errors.empty()) return "";
  if (check.errors.size() == 1) return check.errors.front();
  std::string out = "errors:";
  for (const std::string& error : check.errors) out += "\n  " + error;
  return out;
}

}  // namespace mailroom::apiserver
