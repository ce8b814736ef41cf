#include "openapi/policy_types.h"

#include <unordered_map>

#include "openapi/policy_expressions.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

using cel::Kind;
using cel::Simple;
using cel::TypePtr;

constexpr std::size_t kTypes = 10;  // kinds one policy is checked against, as kube-apiserver

// Types of schema nodes. A node inside itself is dynamic.
class NodeTypes {
 public:
  TypePtr Of(const Schema* node) {
    if (node == nullptr || node->int_or_string) return Simple(Kind::kDyn);
    auto [it, added] = made_.emplace(node, Simple(Kind::kDyn));
    if (!added) return it->second;
    TypePtr type = Make(*node);
    made_[node] = type;
    return type;
  }

 private:
  TypePtr Make(const Schema& node) {
    switch (node.type) {
      case Type::kBoolean: return Simple(Kind::kBool);
      case Type::kInteger: return Simple(Kind::kInt);
      case Type::kNumber: return Simple(Kind::kDouble);
      case Type::kArray: return cel::MakeList(Of(node.items));
      case Type::kString:
        if (node.wire == Wire::kTime || node.wire == Wire::kMicroTime ||
            node.format == "date-time") {
          return Simple(Kind::kTimestamp);
        }
        return Simple(node.wire == Wire::kBytes ? Kind::kBytes : Kind::kString);
      case Type::kObject: return MakeFields(node);
      case Type::kAny: break;
    }
    return Simple(Kind::kDyn);
  }
  TypePtr MakeFields(const Schema& node) {
    if (node.additional != nullptr) {
      return cel::MakeMap(Simple(Kind::kString), Of(node.additional));
    }
    if (node.properties.empty() || node.preserve_unknown) return Simple(Kind::kDyn);
    std::vector<cel::Field> fields;
    for (const Property& property : node.properties) {
      const std::string name = cel::Escape(property.name);
      if (!name.empty()) fields.push_back({name, property.name, Of(property.schema)});
    }
    return cel::MakeObject(node.name.empty() ? "object" : node.name, std::move(fields));
  }

  std::unordered_map<const Schema*, TypePtr> made_;
};

TypePtr ObjectType(const ResourceType& type) {
  if (type.schema == nullptr) return Simple(Kind::kDyn);
  NodeTypes types;
  return types.Of(type.schema);
}

// Rules without wildcards name kinds.
std::vector<const ResourceType*> TypesOf(const Json& policy, const Catalog& catalog) {
  std::vector<const ResourceType*> out;
  const Json* rules = Find(policy, {"spec", "matchConstraints", "resourceRules"});
  if (rules == nullptr || !rules->is_array()) return out;
  for (const Json& rule : *rules) {
    for (const std::string& group : StringsAt(rule, {"apiGroups"})) {
      for (const std::string& version : StringsAt(rule, {"apiVersions"})) {
        for (const std::string& resource : StringsAt(rule, {"resources"})) {
          const ResourceType* type = catalog.Find(group, version, resource);
          if (type != nullptr && out.size() < kTypes) out.push_back(type);
        }
      }
    }
  }
  return out;
}

// Adds what is wrong with one expression for one kind to the warning at `field`.
void CheckOne(const PolicyScope& scope, const std::string& text, PolicyResult result,
              const std::string& field, const GroupVersionKind& kind, Json& warnings) {
  if (text.empty()) return;
  auto program = scope.Compile(text, result);
  if (program.ok()) return;
  const std::string said = kind.ApiVersion() + ", Kind=" + kind.kind + ": " +
                           program.error().message() + "\n";
  for (Json& warning : warnings) {
    if (warning["fieldRef"] != field) continue;
    warning["warning"] = warning["warning"].get<std::string>() + said;
    return;
  }
  warnings.push_back({{"fieldRef", field}, {"warning", said}});
}

void CheckAgainst(const Json& policy, const ResourceType& type, Json& warnings) {
  const bool params = Find(policy, {"spec", "paramKind"}) != nullptr;
  PolicyScope scope(params ? PolicyScope::Params::kGiven : PolicyScope::Params::kNone,
                    PolicyScope::Patches::kNone);
  scope.ShapeObject(ObjectType(type));
  const Json& variables = ArrayAt(policy, {"spec", "variables"});
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string text = StringAt(variables[i], {"expression"});
    auto program = scope.Compile(text, PolicyResult::kAny);
    CheckOne(scope, text, PolicyResult::kAny,
             "spec.variables[" + std::to_string(i) + "].expression", type.gvk, warnings);
    scope.Declare(StringAt(variables[i], {"name"}),
                  program.ok() ? (*program)->type() : Simple(Kind::kDyn));
  }
  const Json& validations = ArrayAt(policy, {"spec", "validations"});
  for (std::size_t i = 0; i < validations.size(); ++i) {
    const std::string field = "spec.validations[" + std::to_string(i) + "]";
    CheckOne(scope, StringAt(validations[i], {"expression"}), PolicyResult::kBool,
             field + ".expression", type.gvk, warnings);
    CheckOne(scope, StringAt(validations[i], {"messageExpression"}), PolicyResult::kString,
             field + ".messageExpression", type.gvk, warnings);
  }
}

}  // namespace

Json CheckPolicyTypes(const Json& policy, const Catalog& catalog) {
  Json warnings = Json::array();
  for (const ResourceType* type : TypesOf(policy, catalog)) CheckAgainst(policy, *type, warnings);
  Json out = Json::object();
  if (!warnings.empty()) out["expressionWarnings"] = std::move(warnings);
  return out;
}

}  // namespace mailroom::openapi
