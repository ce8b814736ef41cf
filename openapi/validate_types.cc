// JSON types of built-in objects, in the words of the decoder that clients know.
#include <cstdio>

#include "openapi/base64.h"
#include "openapi/go_json.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate.h"
#include "openapi/validate_names.h"
#include "openapi/validate_schema.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

std::string KindText(const Json& value) {
  if (value.is_boolean()) return "bool";
  if (value.is_string()) return "string";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  return "number";
}

// `core/v1.PodSpec` is printed `v1.PodSpec`.
std::string TypeText(const Schema& schema) {
  if (schema.type == Type::kArray) return "[]" + TypeText(*schema.items);
  if (!schema.name.empty()) return schema.name.substr(schema.name.rfind('/') + 1);
  switch (schema.wire) {
    case Wire::kBool:
      return "bool";
    case Wire::kInt32:
      return "int32";
    case Wire::kInt64:
      return "int64";
    case Wire::kDouble:
      return "float64";
    case Wire::kBytes:
      return "[]uint8";
    case Wire::kMap:
      if (schema.additional->wire == Wire::kQuantity) return "v1.ResourceList";
      return "map[string]" + TypeText(*schema.additional);
    case Wire::kTime:
      return "v1.Time";
    case Wire::kMicroTime:
      return "v1.MicroTime";
    case Wire::kDuration:
      return "v1.Duration";
    case Wire::kQuantity:
      return "resource.Quantity";
    case Wire::kIntOrString:
      return "intstr.IntOrString";
    default:
      return "string";
  }
}

// Strings, and lists of them, that Go has types for, beside those that list their values.
struct NamedString {
  std::string_view structure, member, type;
};
constexpr NamedString kNamedStrings[] = {
    {"meta/v1.ObjectMeta", "uid", "types.UID"},
    {"meta/v1.OwnerReference", "uid", "types.UID"},
    {"meta/v1.Preconditions", "uid", "types.UID"},
    {"meta/v1.DeleteOptions", "propagationPolicy", "v1.DeletionPropagation"},
    {"core/v1.Capabilities", "add", "[]v1.Capability"},
    {"core/v1.Capabilities", "drop", "[]v1.Capability"},
};

// The type of the member that `path` ends in.
std::string MemberText(const Schema& structure, std::string_view path, const Schema& schema) {
  const std::string_view member = path.substr(path.rfind('.') + 1);
  for (const NamedString& named : kNamedStrings) {
    if (named.structure == structure.name && named.member == member) return std::string(named.type);
  }
  return TypeText(schema);
}

// The structures that the member of `structure` comes from by embedding, as a path of names that
// ends in a dot; "" when it is its own.
std::string EmbeddingPath(const Schema& structure, std::string_view member) {
  for (const Property& embed : structure.embeds) {
    if (embed.schema->Find(member) == nullptr) continue;
    const std::string& name = embed.schema->name;
    return name.substr(name.rfind('.') + 1) + "." + EmbeddingPath(*embed.schema, member);
  }
  return "";
}

// What is out of range in a time that has the form of one; "" when it has not.
std::string TimeRangeFault(const std::string& text) {
  int year, month, day, hour, minute, second, used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
                  &second, &used) != 6 ||
      used != 19) {
    return "";
  }
  if (month < 1 || month > 12) return "month";
  if (hour > 23) return "hour";
  if (minute > 59) return "minute";
  if (second > 59) return "second";
  const bool zoned = text.size() > 19 && (text[19] == 'Z' || text[19] == '+' || text[19] == '-');
  return zoned ? "day" : "";
}

// How Go names the type of a value in a decoded tree.
std::string TreeKind(const Json& value) {
  if (value.is_object()) return "map";
  if (value.is_array()) return "slice";
  if (value.is_number()) return value.is_number_integer() ? "int64" : "float64";
  return KindText(value);
}

// What is said of a value in a tree that does not fit. Go turns an integer into a string, but this
// is not meant, nor is a number cut off at its point.
std::string TreeFault(const Schema& schema, const Json& value) {
  const std::string kind = TreeKind(value);
  if (schema.type == Type::kArray || schema.wire == Wire::kBytes) {
    return "cannot restore slice from " + kind;
  }
  if (schema.wire == Wire::kMap) return "cannot restore map from " + kind;
  if (schema.wire == Wire::kMessage) return "cannot restore struct from: " + kind;
  const bool text = schema.wire == Wire::kString;
  const bool integer = schema.wire == Wire::kInt32 || schema.wire == Wire::kInt64;
  if ((text && kind == "int64") || (integer && kind == "float64")) {
    return "cannot convert " + kind + " to " + TypeText(schema);
  }
  return "unrecognized type: " + (text ? "string" : TypeText(schema));
}

class TypeChecker {
 public:
  explicit TypeChecker(Decoder decoder) : decoder_(decoder) {}
  std::optional<std::string> Run(const Schema& schema, const Json& object) {
    structure_ = &schema;
    Visit(schema, object);
    return fault_;
  }

 private:
  void Fail(const Json& value, const Schema& schema, bool with_value = false) {
    if (decoder_ == Decoder::kTree) {
      fault_ = TreeFault(schema, value);
      return;
    }
    Tell(KindText(value) + (with_value ? " " + value.dump() : ""),
         path_.empty() ? TypeText(schema) : MemberText(*structure_, path_, schema));
  }

  void Tell(const std::string& value, const std::string& type) {
    if (path_.empty() || decoder_ == Decoder::kTree) {
      fault_ = "json: cannot unmarshal " + value + " into Go value of type " + type;
      return;
    }
    const std::string name = structure_->name.substr(structure_->name.rfind('.') + 1);
    fault_ = "json: cannot unmarshal " + value + " into Go struct field " + name + "." + path_ +
             " of type " + type;
  }

  void Visit(const Schema& schema, const Json& value) {
    if (fault_ || value.is_null()) return;
    if (schema.type == Type::kArray) return VisitArray(schema, value);
    switch (schema.wire) {
      case Wire::kMessage:
        return VisitStructure(schema, value);
      case Wire::kMap:
        return VisitMap(schema, value);
      case Wire::kString:
        if (!value.is_string()) Fail(value, schema);
        return;
      case Wire::kBool:
        if (!value.is_boolean()) Fail(value, schema);
        return;
      case Wire::kInt32:
      case Wire::kInt64:
        return VisitInteger(schema, value);
      case Wire::kDouble:
        if (!value.is_number()) Fail(value, schema);
        return;
      case Wire::kBytes:
        return VisitBytes(schema, value);
      case Wire::kTime:
      case Wire::kMicroTime:
        return VisitTime(schema, value);
      case Wire::kQuantity:
        return VisitQuantity(value);
      case Wire::kDuration:
      case Wire::kIntOrString:
        return VisitText(schema, value);
      default:
        return;
    }
  }

  void VisitArray(const Schema& schema, const Json& value) {
    if (!value.is_array()) return Fail(value, schema);
    for (const Json& item : value) Visit(*schema.items, item);
  }

  void VisitStructure(const Schema& schema, const Json& value) {
    if (!value.is_object()) return Fail(value, schema);
    const Schema* outer = structure_;
    const std::size_t length = path_.size();
    for (const auto& [name, member] : value.items()) {
      const Property* property = schema.Find(name);
      if (property == nullptr) continue;
      structure_ = &schema;
      if (!path_.empty()) path_ += '.';
      path_ += EmbeddingPath(schema, name) + name;
      Visit(*property->schema, member);
      path_.resize(length);
      if (fault_) return;
    }
    structure_ = outer;
  }

  void VisitMap(const Schema& schema, const Json& value) {
    if (!value.is_object()) return Fail(value, schema);
    for (const Json& member : value) Visit(*schema.additional, member);
  }

  void VisitInteger(const Schema& schema, const Json& value) {
    if (!value.is_number()) return Fail(value, schema);
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) {
      return Fail(value, schema, true);
    }
    const bool fits = value.is_number_integer() &&
                      (schema.wire == Wire::kInt64 || (value.get<std::int64_t>() >= INT32_MIN &&
                                                       value.get<std::int64_t>() <= INT32_MAX));
    if (!fits) Fail(value, schema, true);
  }

  void VisitBytes(const Schema& schema, const Json& value) {
    if (!value.is_string()) return Fail(value, schema);
    if (auto at = Base64Fault(value.get_ref<const std::string&>())) {
      fault_ = "illegal base64 data at input byte " + std::to_string(*at);
      if (decoder_ == Decoder::kTree) *fault_ = "error decoding from json: " + *fault_;
    }
  }

  void VisitTime(const Schema& schema, const Json& value) {
    if (!value.is_string()) return Tell(KindText(value), "string");
    const std::string& text = value.get_ref<const std::string&>();
    if (ParseTime(text) != -1) return;
    if (const std::string part = TimeRangeFault(text); !part.empty()) {
      fault_ = "parsing time " + Quoted(text) + ": " + part + " out of range";
    } else {
      const std::string fraction = schema.wire == Wire::kMicroTime ? ".000000" : "";
      fault_ = "parsing time " + Quoted(text) + " as \"2006-01-02T15:04:05" + fraction +
               "Z07:00\": cannot parse " + Quoted(text) + " as \"2006\"";
    }
  }

  void VisitQuantity(const Json& value) {
    if (value.is_number()) return;
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (IsQuantity(text)) return;
    if (!text.empty() &&
        MatchesPattern("^[+-]?[0-9]*(\\.[0-9]*)?[eEinumkKMGTP]*[-+]?[0-9]*$", text)) {
      fault_ = "unable to parse quantity's suffix";
      return;
    }
    fault_ =
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  }

  // Types that decode themselves.
  void VisitText(const Schema& schema, const Json& value) {
    if (value.is_string()) return;
    const bool number = value.is_number_integer() && schema.wire == Wire::kIntOrString;
    if (number && value.get<std::int64_t>() >= INT32_MIN &&
        value.get<std::int64_t>() <= INT32_MAX) {
      return;
    }
    const bool either = schema.wire == Wire::kIntOrString;
    Tell(either && value.is_number() ? "number " + value.dump() : KindText(value),
         either ? "int32" : "string");
  }

  const Decoder decoder_;
  const Schema* structure_ = nullptr;  // innermost
  std::string path_;                   // members from the root, list positions left out
  std::optional<std::string> fault_;
};

// Metadata of a custom resource and of resources embedded in it.
std::optional<std::string> CheckMetadataTypes(const Schema& schema, const Json& value,
                                              const std::string& path) {
  if (schema.is_object_meta) {
    auto fault = TypeChecker(Decoder::kJson).Run(schema, value);
    if (!fault || path == "metadata") return fault;  // the object's own is read by itself
    return path + ": Invalid value: " + CutText(GoJson(value), limits::kProblemValueBytes) + ": " +
           *fault;
  }
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = ElementPath(path, i);
      if (auto fault = CheckMetadataTypes(*schema.items, value[i], at)) return fault;
    }
  }
  if (!value.is_object()) return std::nullopt;
  for (const char* name : {"apiVersion", "kind"}) {
    const Json* text = schema.embedded_resource ? Find(value, {name}) : nullptr;
    if (text == nullptr || text->is_string()) continue;
    return MemberPath(path, name) + ": Invalid value: " +
           CutText(GoJson(*text), limits::kProblemValueBytes) + ": must be a string";
  }
  for (const auto& [name, member] : value.items()) {
    const Property* property = schema.Find(name);
    const Schema* child = property != nullptr ? property->schema : schema.additional;
    const bool inside = child != nullptr && (member.is_structured() || child->is_object_meta);
    if (!inside) continue;
    const std::string at = MemberPath(path, name);
    if (auto fault = CheckMetadataTypes(*child, member, at)) return fault;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> CheckBuiltinTypes(const ResourceType& type, const Json& object,
                                             Decoder decoder) {
  if (type.schema == nullptr) return std::nullopt;
  if (type.builtin) return TypeChecker(decoder).Run(*type.schema, object);
  return CheckMetadataTypes(*type.schema, object, "");
}

}  // namespace mailroom::openapi
