// Whether a definition's rules compile and are cheap enough.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "openapi/cel/cost.h"
#include "openapi/crd.h"
#include "openapi/go_json.h"
#include "openapi/rules.h"
#include "openapi/validate_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
namespace {

using cel::AddSaturated;
using cel::MultiplySaturated;

std::string CostText(const std::string& what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  char times[64] = "more than 100x";
  if (factor <= 100.0) std::snprintf(times, sizeof times, factor < 1.5 ? "%fx" : "%.1fx", factor);
  return what + " exceeds budget by factor of " + times +
         " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where "
         "arrays, maps, and strings are declared)";
}

// The rule as errors quote it.
std::string RuleText(const CelRule& rule) {
  const std::string reason = rule.reason.empty() ? "null" : GoJsonQuote(rule.reason);
  return "{\"Rule\":" + GoJsonQuote(rule.rule) + ",\"Message\":" + GoJsonQuote(rule.message) +
         ",\"MessageExpression\":" + GoJsonQuote(rule.message_expression) + ",\"Reason\":" + reason +
         ",\"FieldPath\":" + GoJsonQuote(rule.field_path) +
         ",\"OptionalOldSelf\":" + (rule.optional_old_self ? "true" : "null") + "}";
}

class RuleChecker {
 public:
  Causes Run(const Schema& root, const std::string& path) {
    Visit(root, path, "selfType", 1, "");
    if (total_ <= limits::kCelSchemaEstimate) return std::move(causes_);
    std::stable_sort(costly_.begin(), costly_.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (costly_.size() > 4) costly_.resize(4);
    for (const auto& [rule, cost] : costly_) {
      causes_.push_back(ForbiddenValue(
          rule, "contributed to estimated rule cost total exceeding cost limit for entire "
                "OpenAPIv3 schema"));
    }
    causes_.push_back(ForbiddenValue(
        path, CostText("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 "
                       "schema",
                       total_, limits::kCelSchemaEstimate)));
    return std::move(causes_);
  }

 private:
  // How often values of a node may stand in one object; nothing: no bound is declared.
  using Count = std::optional<std::uint64_t>;

  static Count Times(Count count, std::optional<std::int64_t> most) {
    if (!count || !most) return std::nullopt;
    return MultiplySaturated(*count, static_cast<std::uint64_t>(std::max<std::int64_t>(*most, 0)));
  }

  void Visit(const Schema& node, const std::string& path, const std::string& name, Count count,
             const std::string& uncorrelated) {
    if (!HasRules(node)) return;
    if (node.additional != nullptr) {
      Visit(*node.additional, path + ".additionalProperties", name + ".@elem",
            Times(count, node.max_properties), uncorrelated);
    }
    for (const Property& property : node.properties) {
      if (property.schema->is_object_meta) continue;
      Visit(*property.schema, EntryPath(path + ".properties", property.name),
            name + "." + property.name, count, uncorrelated);
    }
    if (node.items != nullptr) {
      Visit(*node.items, path + ".items", name + ".@idx", Times(count, node.max_items),
            node.list_type == ListType::kMap ? uncorrelated : path);
    }
    if (node.rules.empty()) return;
    const cel::TypePtr type = types_.Of(node, name);
    if (type == nullptr) {
      causes_.push_back({"InternalError",
                         "Internal error: internal error: failed to construct type information "
                         "for x-kubernetes-validations rules: unable to convert structural schema "
                         "to CEL declarations",
                         path + ".x-kubernetes-validations"});
      return;
    }
    if (!count) {
      count = static_cast<std::uint64_t>(static_cast<std::int64_t>(limits::kBodyBytes) /
                                         (type->min_size + 1));
    }
    for (std::size_t i = 0; i < node.rules.size(); ++i) {
      Rule(node, node.rules[i], type, *count, uncorrelated,
           path + ".x-kubernetes-validations[" + std::to_string(i) + "]");
    }
  }

  void Observe(const std::string& path, std::uint64_t cost) {
    total_ = AddSaturated(total_, cost);
    if (cost >= limits::kCelSchemaEstimate / 100) costly_.emplace_back(path, cost);
  }

  void Rule(const Schema& node, const CelRule& rule, const cel::TypePtr& type,
            std::uint64_t count, const std::string& uncorrelated, const std::string& path) {
    if (!rule.field_path.empty() && !ReadFieldPath(rule.field_path, node).error.empty()) {
      causes_.push_back(
          InvalidValue(path + ".fieldPath", Quoted(rule.field_path), "must be a valid path"));
    }
    const CompiledRule compiled = CompileRule(rule, type);
    if (compiled.program == nullptr) {
      causes_.push_back(InvalidValue(path + ".rule", RuleText(rule), compiled.error));
    } else {
      const std::uint64_t cost = MultiplySaturated(compiled.program->cost().max, count);
      if (cost > limits::kCelRuleEstimate) {
        causes_.push_back(ForbiddenValue(
            path + ".rule", CostText("estimated rule cost", cost, limits::kCelRuleEstimate)));
      }
      Observe(path + ".rule", cost);
    }
    if (!compiled.message_error.empty()) {
      causes_.push_back(
          InvalidValue(path + ".messageExpression", RuleText(rule), compiled.message_error));
    } else if (compiled.message != nullptr) {
      const std::uint64_t cost = compiled.message->cost().max;
      if (cost > limits::kCelRuleEstimate) {
        causes_.push_back(
            ForbiddenValue(path + ".messageExpression",
                           CostText("estimated messageExpression cost", cost,
                                    limits::kCelRuleEstimate)));
      }
      Observe(path + ".messageExpression", cost);
    }
    if (compiled.program == nullptr) return;
    if (compiled.uses_old && !uncorrelated.empty()) {
      causes_.push_back(InvalidValue(path + ".rule", Quoted(rule.rule),
                                     "oldSelf cannot be used on the uncorrelatable portion of the "
                                     "schema within " +
                                         uncorrelated));
    } else if (!compiled.uses_old && rule.optional_old_self) {
      causes_.push_back(InvalidValue(path + ".optionalOldSelf", "true",
                                     "may not be set if oldSelf is not used in rule"));
    }
  }

  RuleTypes types_;
  std::uint64_t total_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> costly_;
  Causes causes_;
};

}  // namespace

Causes CheckRules(const Json& tree, const std::string& path) {
  SchemaSet set;
  auto root = RootSchemaFromOpenApi(tree, set);
  if (!root.ok()) return {};
  return RuleChecker().Run(**root, path);
}

}  // namespace mailroom::openapi
