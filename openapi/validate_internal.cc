#include "openapi/validate_internal.h"

#include <algorithm>
#include <array>
#include <utility>

#include "openapi/builtin.h"
#include "storage/object/json.h"

namespace mailroom::openapi {
namespace {

// Member names that Go spells otherwise than with one capital.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSpelled = {{
    {"apiGroup", "APIGroup"},
    {"apiGroups", "APIGroups"},
    {"apiVersion", "APIVersion"},
    {"caBundle", "CABundle"},
    {"cel", "CEL"},
    {"cidrs", "CIDRs"},
    {"ips", "IPs"},
    {"uid", "UID"},
    {"url", "URL"},
}};

std::string GoName(const Schema& owner, const std::string& member) {
  if (owner.name == "resource/v1.DeviceAttribute") {
    const bool list = member.ends_with('s');
    std::string name = GoName(Schema(), list ? member.substr(0, member.size() - 1) : member);
    return name + (list ? "Values" : "Value");
  }
  for (const auto& [name, spelled] : kSpelled) {
    if (name == member) return std::string(spelled);
  }
  std::string name = member;
  if (name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

bool IsBlank(const Json* value) {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_string()) return value->get_ref<const std::string&>().empty();
  if (value->is_number()) return *value == 0;
  if (value->is_boolean()) return !value->get<bool>();
  return value->empty();
}

class Printer {
 public:
  // Whether empty lists and maps look like absent ones.
  explicit Printer(bool fold) : fold_(fold) {}
  std::string Take() && { return std::move(out_); }

  void Print(const Schema& schema, const Json* value) {
    if (value != nullptr && value->is_null()) value = nullptr;
    if (schema.wire == Wire::kRaw) return AppendJson(out_, value == nullptr ? Json() : *value);
    if (schema.type == Type::kArray) return PrintList(schema, value);
    if (schema.additional != nullptr) return PrintMap(schema, value);
    if (!schema.properties.empty()) {
      out_ += '{';
      const std::size_t start = out_.size();
      PrintMembers(schema, value, start);
      out_ += '}';
      return;
    }
    if (value != nullptr) return AppendJson(out_, *value);
    out_ += Zero(schema);
  }

 private:
  // Types of which there is but one form: that which clients see.
  static bool IsPublic(const Schema& schema) { return schema.name.starts_with("meta/"); }

  static const char* Zero(const Schema& schema) {
    switch (schema.type) {
      case Type::kBoolean:
        return "false";
      case Type::kInteger:
      case Type::kNumber:
        return "0";
      case Type::kString:
        if (schema.wire == Wire::kTime || schema.wire == Wire::kMicroTime) return "null";
        return schema.wire == Wire::kQuantity ? "\"0\"" : "\"\"";
      default:
        return "null";
    }
  }

  void PrintList(const Schema& schema, const Json* value) {
    if (value == nullptr || (fold_ && value->empty())) {
      out_ += "null";
      return;
    }
    out_ += '[';
    for (std::size_t i = 0; i < value->size(); ++i) {
      if (i > 0) out_ += ',';
      Print(*schema.items, &(*value)[i]);
    }
    out_ += ']';
  }

  void PrintMap(const Schema& schema, const Json* value) {
    if (value == nullptr || (fold_ && value->empty())) {
      out_ += "null";
      return;
    }
    out_ += '{';
    const std::size_t start = out_.size();
    for (const auto& [name, member] : value->items()) {
      if (out_.size() > start) out_ += ',';
      AppendQuoted(out_, name);
      out_ += ':';
      Print(*schema.additional, &member);
    }
    out_ += '}';
  }

  void PrintMembers(const Schema& schema, const Json* value, std::size_t start) {
    for (const Property& property : schema.properties) {
      const Json* member = value == nullptr ? nullptr : mailroom::Find(*value, {property.name});
      if (IsPublic(schema) && IsBlank(member) && !property.always) continue;
      if (property.schema->is_object_meta) {  // its members stand among the others
        if (member != nullptr) PrintMembers(*property.schema, member, start);
        continue;
      }
      if (out_.size() > start) out_ += ',';
      AppendQuoted(out_, IsPublic(schema) ? property.name : GoName(schema, property.name));
      out_ += ':';
      if ((member == nullptr || member->is_null()) && property.pointer) {
        out_ += "null";
      } else {
        Print(*property.schema, member);
      }
    }
  }

  bool fold_;
  std::string out_;
};

std::string Print(const Schema& schema, const Json* value, bool fold) {
  Printer printer(fold);
  printer.Print(schema, value);
  return std::move(printer).Take();
}

}  // namespace

std::string InternalText(const Schema& schema, const Json* value) { return Print(schema, value, false); }

bool IsSameValue(const Schema& schema, const Json* a, const Json* b) {
  return Print(schema, a, true) == Print(schema, b, true);
}

void InvalidInternal(const BuiltinCheck& check, const std::string& field, std::string_view type,
                     const Json* value, std::string detail) {
  check.causes.push_back(
      InvalidValue(field, InternalText(*BuiltinType(type), value), std::move(detail)));
}

void CheckInternalImmutable(const BuiltinCheck& check, Path path, std::string_view type) {
  if (check.old == nullptr) return;
  const Json *now = Find(check.object, path), *before = Find(*check.old, path);
  if (IsSameValue(*BuiltinType(type), now, before)) return;
  InvalidInternal(check, DottedPath(path), type, now, "field is immutable");
}

}  // namespace mailroom::openapi
