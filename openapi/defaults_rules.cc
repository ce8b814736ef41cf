#include <optional>
#include <unordered_map>

#include "openapi/builtin.h"
#include "openapi/builtin_facts.h"
#include "openapi/builtin_files.h"
#include "openapi/defaults.h"

namespace mailroom::openapi {
namespace {

struct Condition {
  std::vector<std::string> path;
  std::optional<std::string> value;  // nothing: it is enough that the member is there
  bool negated = false;
};

struct Rule {
  DefaultFunction function = nullptr;  // when set, the rest is unused
  std::vector<std::string> path;
  bool pointer = false;  // an empty value counts as given
  Json value;
  std::optional<Condition> condition;
};

using RuleList = std::vector<Rule>;

std::vector<std::string> PathOf(std::string_view dotted) {
  std::vector<std::string> path;
  for (std::string_view piece : SplitFact(dotted, '.')) path.emplace_back(piece);
  return path;
}

// The declared member at `path`; aborts when the type has no such member.
const Property& Declared(const Schema& type, const std::vector<std::string>& path) {
  const Schema* at = &type;
  const Property* property = nullptr;
  for (const std::string& name : path) {
    property = at->Find(name);
    if (property == nullptr) BadFact(type.name, name);
    at = property->schema;
  }
  return *property;
}

std::optional<Condition> ParseCondition(const Schema& type, std::string_view& text) {
  for (std::string_view word : {" if ", " unless "}) {
    const std::size_t at = text.rfind(word);
    if (at == std::string_view::npos) continue;
    std::string_view test = text.substr(at + word.size());
    text = text.substr(0, at);
    Condition condition;
    condition.negated = word == " unless ";
    if (const std::size_t equals = test.find('='); equals != std::string_view::npos) {
      condition.value = std::string(test.substr(equals + 1));
      test = test.substr(0, equals);
    }
    condition.path = PathOf(test);
    Declared(type, condition.path);
    return condition;
  }
  return std::nullopt;
}

Rule ParseRule(const Schema& type, const FactLine& line) {
  Rule rule;
  if (line.key.empty()) {
    rule.function = FindDefaultFunction(line.value);
    if (rule.function == nullptr) BadFact(type.name, line.value);
    return rule;
  }
  rule.path = PathOf(line.key);
  rule.pointer = Declared(type, rule.path).pointer;
  std::string_view text = line.value;
  rule.condition = ParseCondition(type, text);
  auto value = ParseJson(text);
  rule.value = value.ok() ? std::move(value).value() : Json(std::string(text));
  return rule;
}

using RuleTable = std::unordered_map<std::string_view, RuleList>;

RuleTable LoadRules() {
  RuleTable table;
  RuleList* rules = nullptr;
  const Schema* type = nullptr;
  for (const FactLine& line : FactLines(EmbeddedText("builtin/defaults.yaml"))) {
    if (line.indent == 0) {
      type = BuiltinType(line.key);
      if (type == nullptr) BadFact("builtin/defaults.yaml", line.key);
      rules = &table[type->name];
    } else {
      rules->push_back(ParseRule(*type, line));
    }
  }
  return table;
}

// The rules of every type that has some, found by the type's name.
const RuleList* RulesOf(const Schema& schema) {
  static const RuleTable* table = new RuleTable(LoadRules());
  if (schema.name.empty()) return nullptr;
  auto at = table->find(schema.name);
  return at == table->end() ? nullptr : &at->second;
}

const Json* Walk(const Json& object, const std::vector<std::string>& path) {
  const Json* at = &object;
  for (const std::string& name : path) {
    if (!at->is_object()) return nullptr;
    auto member = at->find(name);
    if (member == at->end()) return nullptr;
    at = &*member;
  }
  return at;
}

bool IsBlank(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  if (value.is_number()) return value == 0;
  if (value.is_array()) return value.empty();
  return value.is_null();
}

bool Holds(const Condition& condition, const Json& object) {
  const Json* found = Walk(object, condition.path);
  bool holds = found != nullptr && !found->is_null() && !(found->is_string() && IsBlank(*found));
  if (holds && condition.value) holds = found->is_string() && *found == *condition.value;
  return holds != condition.negated;
}

void Apply(const Rule& rule, Json& object) {
  if (rule.function != nullptr) return rule.function(object);
  if (const Json* given = Walk(object, rule.path)) {
    if (rule.pointer ? !given->is_null() : !IsBlank(*given)) return;
  }
  if (rule.condition && !Holds(*rule.condition, object)) return;
  Json* at = &object;
  for (const std::string& name : rule.path) {
    if (!at->is_object()) *at = Json::object();
    at = &(*at)[name];
  }
  *at = rule.value;
}

// Defaults stated in the type facts themselves.
void ApplyDeclared(const Schema& schema, Json& object) {
  for (const Property& property : schema.properties) {
    const std::optional<Json>& value = property.schema->default_value;
    if (!value || (!property.pointer && IsBlank(*value))) continue;
    auto member = object.find(property.name);
    if (member == object.end() || (property.pointer ? member->is_null() : IsBlank(*member))) {
      object[property.name] = *value;
    }
  }
}

}  // namespace

void ApplyBuiltinDefaults(const Schema& schema, Json& value) {
  if (value.is_array() && schema.items != nullptr) {
    for (Json& item : value) ApplyBuiltinDefaults(*schema.items, item);
    return;
  }
  if (!value.is_object() || schema.type != Type::kObject || schema.wire == Wire::kRaw) return;
  ApplyDeclared(schema, value);
  if (const RuleList* rules = RulesOf(schema)) {
    for (const Rule& rule : *rules) Apply(rule, value);
  }
  for (auto& [name, member] : value.items()) {
    if (!member.is_structured()) continue;
    const Property* property = schema.Find(name);
    const Schema* child = property != nullptr ? property->schema : schema.additional;
    if (child != nullptr && !child->is_object_meta) ApplyBuiltinDefaults(*child, member);
  }
}

}  // namespace mailroom::openapi
