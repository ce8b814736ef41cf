// From schema nodes to types and programs.
#include "openapi/rules.h"

#include <algorithm>

#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

using cel::Kind;
using cel::TypePtr;

// kube-apiserver's figures for the estimate.
constexpr std::int64_t kRequestBytes = limits::kBodyBytes;
constexpr std::int64_t kMinText = 2, kMinBool = 4, kMinNumber = 1, kMinObject = 2;
constexpr std::int64_t kMinDuration = 3, kMaxDuration = 32;
constexpr std::int64_t kDateBytes = 12, kMinDateTime = 21, kMaxDateTime = 32;

TypePtr Sized(Kind kind, std::int64_t min_size, std::int64_t max_elements) {
  auto type = std::make_shared<cel::Type>();
  type->kind = kind;
  type->min_size = min_size;
  type->max_elements = max_elements;
  return type;
}

std::int64_t AtLeastZero(std::int64_t number) { return std::max<std::int64_t>(number, 0); }

// maxLength counts characters, a character takes up to four bytes.
std::int64_t MaxText(const Schema& node) {
  if (node.max_length) {
    const std::int64_t length = AtLeastZero(*node.max_length);
    return length > INT64_MAX / 4 ? INT64_MAX : length * 4;
  }
  if (node.int_or_string || node.enum_values.empty()) return kRequestBytes - 2;
  std::int64_t longest = 0;
  for (const Json& value : node.enum_values) {
    if (!value.is_string()) continue;
    longest = std::max(longest,
                       static_cast<std::int64_t>(value.get_ref<const std::string&>().size()));
  }
  return longest;
}

TypePtr TextType(const Schema& node) {
  if (node.format == "byte") {
    return Sized(Kind::kBytes, kMinText,
                 node.max_length ? AtLeastZero(*node.max_length) : kRequestBytes - 2);
  }
  if (node.format == "duration") return Sized(Kind::kDuration, kMinDuration, kMaxDuration);
  if (node.format == "date") return Sized(Kind::kTimestamp, kDateBytes, kDateBytes);
  if (node.format == "date-time") return Sized(Kind::kTimestamp, kMinDateTime, kMaxDateTime);
  return Sized(Kind::kString, kMinText, MaxText(node));
}

bool IsAnything(const Schema& node) {
  return node.type == Type::kAny && !node.int_or_string;
}

}  // namespace

TypePtr RuleTypes::Of(const Schema& node, const std::string& name) {
  const auto at = made_.find(&node);
  if (at != made_.end()) return at->second;
  TypePtr type = Make(node, name);
  made_.emplace(&node, type);
  return type;
}

TypePtr RuleTypes::Make(const Schema& node, const std::string& name) {
  if (node.int_or_string) return Sized(Kind::kDyn, 1, MaxText(node));
  switch (node.type) {
    case Type::kString: return TextType(node);
    case Type::kBoolean: return Sized(Kind::kBool, kMinBool, 0);
    case Type::kInteger: return Sized(Kind::kInt, kMinNumber, 0);
    case Type::kNumber: return Sized(Kind::kDouble, kMinNumber, 0);
    case Type::kAny: return nullptr;
    case Type::kArray: {
      const TypePtr element = node.items != nullptr ? Of(*node.items, name + ".@idx") : nullptr;
      if (element == nullptr) return nullptr;
      auto list = std::make_shared<cel::Type>(*cel::MakeList(element));
      list->min_size = kMinObject;
      list->max_elements = node.max_items ? AtLeastZero(*node.max_items)
                                          : (kRequestBytes - 2) / (element->min_size + 1);
      list->order = node.list_type == ListType::kSet   ? cel::ListOrder::kSet
                    : node.list_type == ListType::kMap ? cel::ListOrder::kMap
                                                       : cel::ListOrder::kAtomic;
      list->keys = node.list_map_keys;
      return list;
    }
    case Type::kObject: break;
  }
  if (node.additional != nullptr && !IsAnything(*node.additional)) {
    const TypePtr value = Of(*node.additional, name + ".@elem");
    if (value == nullptr) return nullptr;
    auto map = std::make_shared<cel::Type>(*cel::MakeMap(Sized(Kind::kString, kMinText, 0), value));
    map->min_size = kMinObject;
    map->max_elements = node.max_properties ? AtLeastZero(*node.max_properties)
                                            : (kRequestBytes - 2) / (value->min_size + 6);
    return map;
  }
  if (node.additional != nullptr && node.additional->preserve_unknown) return nullptr;
  std::vector<cel::Field> fields;
  std::int64_t size = kMinObject;
  for (const Property& property : node.properties) {
    // Of metadata, rules see the names only.
    if (node.is_object_meta && property.name != "name" && property.name != "generateName") continue;
    const TypePtr type = Of(*property.schema, name + "." + property.name);
    if (type == nullptr) continue;
    if (std::string escaped = cel::Escape(property.name); !escaped.empty()) {
      fields.push_back({std::move(escaped), property.name, type});
    }
    if (property.required && !property.schema->default_value) {
      size += static_cast<std::int64_t>(property.name.size()) + type->min_size + 4;
    }
  }
  auto object = std::make_shared<cel::Type>(*cel::MakeObject(name, std::move(fields)));
  object->min_size = size;
  object->max_elements = 0;
  return object;
}

CompiledRule CompileRule(const CelRule& rule, const TypePtr& type) {
  CompiledRule out;
  cel::Environment environment;
  environment.variables = {
      {"self", type}, {"oldSelf", rule.optional_old_self ? cel::MakeOptional(type) : type}};
  auto program = cel::Compile(rule.rule, environment);
  if (!program.ok()) {
    out.error = "compilation failed: " + program.error().message();
    return out;
  }
  if ((*program)->type()->kind != Kind::kBool) {
    out.error = "cel expression must evaluate to a bool";
    return out;
  }
  out.program = *program;
  out.uses_old = (*program)->Uses(1);
  if (rule.message_expression.empty()) return out;
  auto message = cel::Compile(rule.message_expression, environment);
  if (!message.ok()) {
    out.message_error = "messageExpression compilation failed: " + message.error().message();
  } else if ((*message)->type()->kind != Kind::kString) {
    out.message_error = "messageExpression must evaluate to a string";
  } else {
    out.message = *message;
  }
  return out;
}

RulePath ReadFieldPath(const std::string& path, const Schema& node, PathForm form) {
  RulePath out;
  const Schema* at = &node;
  std::size_t i = 0;
  auto step = [&](const std::string& name) {
    if (!at->properties.empty()) {
      const Property* property = at->Find(name);
      if (property == nullptr) {
        out.error = "does not refer to a valid field";
        return false;
      }
      at = property->schema;
      out.text += (out.text.empty() ? "" : ".") + name;
      return true;
    }
    if (at->additional == nullptr) {
      out.error = "does not refer to a valid field";
      return false;
    }
    at = at->additional;
    out.text += "[" + name + "]";
    return true;
  };
  while (i < path.size()) {
    std::string name;
    if (path[i] == '.') {
      std::size_t end = std::min(path.find_first_of(".[]", i + 1), path.size());
      if (end == i + 1 && end < path.size()) ++end;  // a delimiter where a name should be
      name = path.substr(i + 1, end - i - 1);
      i = end;
      if (name.empty()) out.error = "unexpected end of JSON path";
    } else if (path[i] == '[' && form == PathForm::kDotted) {
      out.error = "array notation is not allowed";
    } else if (path[i] == '[') {
      if (i + 1 >= path.size() || path[i + 1] != '\'') {
        out.error = "expected single quoted string but got " + path.substr(i + 1, 1);
        return out;
      }
      i += 2;
      while (i < path.size() && path[i] != '\'') {
        if (path[i] == '\\' && i + 1 < path.size()) ++i;
        name += path[i++];
      }
      if (path.substr(i, 2) != "']") out.error = "unexpected end of JSON path";
      i += 2;
    } else {
      const std::size_t end = path[i] == ']' ? i + 1 : path.find_first_of(".[]", i);
      out.error = "expected [ or . but got: " + path.substr(i, end - i);
    }
    if (!out.error.empty() || !step(name)) return out;
  }
  out.schema = at;
  return out;
}

bool HasRules(const Schema& root) {
  if (!root.rules.empty()) return true;
  if (root.items != nullptr && HasRules(*root.items)) return true;
  if (root.additional != nullptr && HasRules(*root.additional)) return true;
  // Built-in types may refer to themselves; they carry no rules.
  if (root.is_object_meta) return false;
  return std::any_of(root.properties.begin(), root.properties.end(),
                     [](const Property& property) { return HasRules(*property.schema); });
}

}  // namespace mailroom::openapi
