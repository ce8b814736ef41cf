// Running the rules on an object.
#include <algorithm>
#include <map>
#include <span>

#include "openapi/rules.h"
#include "openapi/validate_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

std::string Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::string RuleName(const CelRule& rule) {
  return Trimmed(rule.message.empty() ? rule.rule : rule.message);
}

}  // namespace

class RuleRunner {
 public:
  // A value, the value it replaces, and the nearest ancestor for which there is one. Errors at
  // a node are forgiven when that did not change.
  struct Pair {
    const Json* value = nullptr;
    const Json* old = nullptr;
    const Pair* parent = nullptr;
  };

  void Visit(const Rules::Place& place, const Pair& at, const std::string& path) {
    if (at.value->is_null() || stopped_ || causes_.full()) return;
    Node(place, at, path);
    if (stopped_) return;
    if (at.value->is_array() && place.items != nullptr) {
      Items(place, at, path);
    } else if (at.value->is_object()) {
      Members(place, at, path);
    }
  }

  Causes causes_;

 private:
  void Members(const Rules::Place& place, const Pair& at, const std::string& path) {
    const bool has_old = at.old != nullptr && at.old->is_object();
    for (const auto& [name, member] : at.value->items()) {
      const Rules::Place* below = nullptr;
      bool keyed = false;
      const auto found = std::lower_bound(
          place.properties.begin(), place.properties.end(), name,
          [](const auto& entry, const std::string& wanted) { return entry.first < wanted; });
      if (found != place.properties.end() && found->first == name) {
        below = found->second.get();
      } else if (place.additional != nullptr) {
        below = place.additional.get();
        keyed = true;
      }
      if (below == nullptr) continue;
      Pair inner{&member, has_old ? Find(*at.old, {name}) : nullptr, &at};
      Visit(*below, inner,
            keyed ? EntryPath(path, name) : MemberPath(path, name));
      if (stopped_) return;
    }
  }

  void Items(const Rules::Place& place, const Pair& at, const std::string& path) {
    std::map<std::string, const Json*> old_items;
    const Schema& schema = *place.schema;
    const bool keyed = schema.list_type == ListType::kMap && at.old != nullptr &&
                       at.old->is_array();
    if (keyed) {
      for (const Json& item : *at.old) old_items.emplace(KeyOf(schema, item), &item);
    }
    for (std::size_t i = 0; i < at.value->size() && !stopped_; ++i) {
      const Json& item = (*at.value)[i];
      Pair inner{&item, nullptr, &at};
      if (keyed) {
        const auto found = old_items.find(KeyOf(schema, item));
        if (found != old_items.end()) inner.old = found->second;
      }
      Visit(*place.items, inner, ElementPath(path, i));
    }
  }

  static std::string KeyOf(const Schema& schema, const Json& item) {
    std::string key;
    for (const std::string& name : schema.list_map_keys) {
      const Json* part = Find(item, {name});
      key += part == nullptr ? "-" : DumpJson(*part);
      key += ',';
    }
    return key;
  }

  static bool Unchanged(const Pair& at) {
    const Pair* nearest = &at;
    while (nearest != nullptr && nearest->old == nullptr) nearest = nearest->parent;
    return nearest != nullptr && *nearest->value == *nearest->old;
  }

  void Fail(Cause cause) {
    if (cause.field.empty()) cause.field = "<nil>";
    causes_.push_back(std::move(cause));
  }
  void Broken(const Schema& schema, const std::string& path, std::string detail) {
    Fail(InvalidValue(path, Quoted(TypeText(schema.type)), std::move(detail)));
  }

  bool Spend(std::uint64_t cost) {
    if (cost > budget_) return false;
    budget_ -= cost;
    return true;
  }

  void Node(const Rules::Place& place, const Pair& at, const std::string& path) {
    const Schema& schema = *place.schema;
    if (place.rules.empty()) return;
    static constexpr const char* kOutOfBudget =
        "validation failed due to running out of cost budget, no further validation rules will be "
        "run";
    const bool has_old = at.old != nullptr && !at.old->is_null();
    const cel::Value self = cel::Value::FromJson(*at.value, place.type.get());
    const cel::Value old =
        has_old ? cel::Value::FromJson(*at.old, place.type.get()) : cel::Value();
    for (std::size_t i = 0; i < place.rules.size() && !stopped_; ++i) {
      const CompiledRule& compiled = place.rules[i];
      const CelRule& rule = schema.rules[i];
      if (compiled.program == nullptr) {
        if (!compiled.error.empty()) {
          Broken(schema, path, "rule compile error: " + compiled.error);
        }
        continue;
      }
      if (compiled.uses_old && !has_old && !rule.optional_old_self) continue;
      if (budget_ == 0) {
        stopped_ = true;
        return Broken(schema, path, kOutOfBudget);
      }
      const cel::Value variables[] = {
          self, !rule.optional_old_self ? old
                : has_old               ? cel::Value::Optional(old)
                                        : cel::Value::None()};
      const cel::Outcome outcome = compiled.program->Run(variables, limits::kCelCallCost);
      if (!outcome.exceeded && !Spend(outcome.cost)) {
        stopped_ = true;
        return Broken(schema, path, kOutOfBudget);
      }
      if (outcome.value.is_error()) {
        Errored(schema, rule, outcome, path);
      } else if (!outcome.value.is_true()) {
        if (!compiled.uses_old && Unchanged(at)) continue;
        Failed(schema, rule, compiled, *at.value, variables, path);
      }
    }
  }

  void Errored(const Schema& schema, const CelRule& rule, const cel::Outcome& outcome,
               const std::string& path) {
    const std::string text(outcome.value.text());
    if (text.starts_with("no such overload")) {
      Broken(schema, path,
             "'" + text + "': call arguments did not match a supported operator, function or macro "
             "signature for rule: " + RuleName(rule));
    } else if (outcome.exceeded) {
      Broken(schema, path,
             "'" + text + "': no further validation rules will be run due to call cost exceeds "
             "limit for rule: " + RuleName(rule));
      stopped_ = true;
    } else {
      Broken(schema, path, text + " evaluating rule: " + RuleName(rule));
    }
  }

  void Failed(const Schema& schema, const CelRule& rule, const CompiledRule& compiled,
              const Json& value, std::span<const cel::Value> variables, const std::string& path) {
    std::string where = path;
    if (!rule.field_path.empty()) {
      const RulePath relative = ReadFieldPath(rule.field_path, schema);
      if (relative.error.empty() && !relative.text.empty()) {
        const bool keyed = relative.text[0] == '[';
        where += (where.empty() || keyed ? "" : ".") + relative.text;
      }
    }
    std::string detail;
    if (compiled.message != nullptr) detail = Message(schema, rule, compiled, variables, where);
    if (stopped_) return;
    if (detail.empty()) {
      detail = rule.message.empty() ? "failed rule: " + RuleName(rule) : RuleName(rule);
    }
    const bool shown = schema.type != Type::kObject && schema.type != Type::kArray;
    if (rule.reason == "FieldValueForbidden") return Fail(ForbiddenValue(where, detail));
    if (rule.reason == "FieldValueRequired") return Fail(RequiredValue(where, detail));
    if (rule.reason == "FieldValueDuplicate") {
      if (shown) return Fail(DuplicateValue(where, Rendered(value)));
      return Fail({"FieldValueDuplicate", "Duplicate value", where});
    }
    if (shown) return Fail(InvalidValue(where, Rendered(value), detail));
    Fail({"FieldValueInvalid", "Invalid value: " + detail, where});
  }

  // The text that messageExpression makes; "" when it makes none that may be used.
  std::string Message(const Schema& schema, const CelRule& rule, const CompiledRule& compiled,
                      std::span<const cel::Value> variables, const std::string& where) {
    const cel::Outcome outcome = compiled.message->Run(variables, limits::kCelCallCost);
    if (outcome.exceeded) {
      stopped_ = true;
      Broken(schema, where,
             "no further validation rules will be run due to call cost exceeds limit for "
             "messageExpression: " + Quoted(rule.message_expression));
      return "";
    }
    if (!Spend(outcome.cost)) {
      stopped_ = true;
      Broken(schema, where,
             "messageExpression evaluation failed due to running out of cost budget, no further "
             "validation rules will be run");
      return "";
    }
    if (!outcome.value.is(cel::Kind::kString)) return "";
    std::string text = Trimmed(outcome.value.text());
    const bool usable =
        text.size() <= limits::kCelMessageBytes && text.find('\n') == std::string::npos;
    return usable ? text : "";
  }

  std::uint64_t budget_ = limits::kCelObjectCost;
  bool stopped_ = false;
};

std::unique_ptr<Rules::Place> Rules::Compile(const Schema& node, const std::string& name,
                                             RuleTypes& types) {
  if (!HasRules(node)) return nullptr;
  auto place = std::make_unique<Place>();
  place->schema = &node;
  if (!node.rules.empty()) place->type = types.Of(node, name);
  for (const CelRule& rule : node.rules) {
    if (place->type == nullptr) {
      CompiledRule broken;
      broken.error = "unable to convert structural schema to CEL declarations";
      place->rules.push_back(std::move(broken));
    } else {
      place->rules.push_back(CompileRule(rule, place->type));
    }
  }
  if (node.items != nullptr) place->items = Compile(*node.items, name + ".@idx", types);
  if (node.additional != nullptr) {
    place->additional = Compile(*node.additional, name + ".@elem", types);
  }
  for (const Property& property : node.properties) {
    if (property.schema->is_object_meta) continue;
    if (auto below = Compile(*property.schema, name + "." + property.name, types)) {
      place->properties.emplace_back(property.name, std::move(below));
    }
  }
  std::sort(place->properties.begin(), place->properties.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return place;
}

Causes Rules::Check(const Json& object, const Json* old) const {
  std::call_once(once_, [this] {
    RuleTypes types;
    places_ = Compile(root_, "selfType", types);
  });
  if (places_ == nullptr) return {};
  RuleRunner runner;
  RuleRunner::Pair root{&object, old, nullptr};
  runner.Visit(*places_, root, "");
  return std::move(runner.causes_);
}

}  // namespace mailroom::openapi
