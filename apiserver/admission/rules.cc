#include "apiserver/admission/rules.h"

#include <algorithm>

#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

bool Lists(const std::vector<std::string>& items, std::string_view wanted) {
  return std::any_of(items.begin(), items.end(),
                     [&](const std::string& item) { return item == "*" || item == wanted; });
}

bool ResourceFits(const Rule& rule, std::string_view resource, std::string_view subresource) {
  for (const std::string& item : rule.resources) {
    const std::size_t slash = item.find('/');
    const std::string_view name = std::string_view(item).substr(0, slash);
    const std::string_view sub =
        slash == std::string::npos ? std::string_view() : std::string_view(item).substr(slash + 1);
    if ((name == "*" || name == resource) && (sub == "*" || sub == subresource)) return true;
  }
  return false;
}

bool ScopeFits(const Rule& rule, const Attributes& attributes) {
  if (rule.scope == "*" || rule.scope.empty()) return true;
  return (rule.scope == "Namespaced") == attributes.type->namespaced;
}

// Everything but group and version.
bool Near(const Rule& rule, const Attributes& attributes) {
  if (!ScopeFits(rule, attributes) || !Lists(rule.operations, OperationText(attributes.operation))) {
    return false;
  }
  return rule.names.empty() ||
         std::find(rule.names.begin(), rule.names.end(), attributes.name) != rule.names.end();
}

bool Fits(const Rule& rule, const Attributes& attributes, const openapi::ResourceType& type) {
  return Near(rule, attributes) && Lists(rule.groups, type.gvk.group) &&
         Lists(rule.versions, type.gvk.version) &&
         ResourceFits(rule, type.plural, attributes.subresource);
}

// Other versions (and groups) in which the same stored resource is served.
std::vector<openapi::ResourceTypePtr> Equivalents(const Attributes& attributes) {
  std::vector<openapi::ResourceTypePtr> out;
  for (const openapi::Group& group : attributes.catalog->groups()) {
    for (const openapi::GroupVersion& version : group.versions) {
      for (const openapi::ResourceTypePtr& type : version.resources) {
        if (type->stored_as == attributes.type->stored_as && type->gvk != attributes.type->gvk) {
          out.push_back(type);
        }
      }
    }
  }
  return out;
}

GroupVersionKind KindIn(const Attributes& attributes, const openapi::ResourceType& type) {
  return attributes.kind == attributes.type->gvk ? type.gvk : attributes.kind;
}

std::optional<Invocation> MatchRules(const Constraints& constraints, const Attributes& attributes) {
  for (const Rule& rule : constraints.rules) {
    if (Fits(rule, attributes, *attributes.type)) {
      return Invocation{attributes.type, attributes.kind};
    }
  }
  if (!constraints.equivalent) return std::nullopt;
  std::optional<std::vector<openapi::ResourceTypePtr>> equivalents;  // looked for when needed
  for (const Rule& rule : constraints.rules) {
    if (!Near(rule, attributes) ||
        !ResourceFits(rule, attributes.type->plural, attributes.subresource)) {
      continue;
    }
    if (!equivalents) equivalents = Equivalents(attributes);
    for (const openapi::ResourceTypePtr& type : *equivalents) {
      if (Fits(rule, attributes, *type)) return Invocation{type, KindIn(attributes, *type)};
    }
  }
  return std::nullopt;
}

bool LabelsFit(const LabelSelector& selector, const Json* object) {
  if (object == nullptr) return false;
  const Json* labels = Find(*object, {"metadata", "labels"});
  return selector.MatchesJson(labels != nullptr ? *labels : Json());
}

Result<bool> NamespaceFits(const LabelSelector& selector, const Attributes& attributes,
                           const Json* object, const FindNamespace& find) {
  if (selector.empty()) return true;
  const bool is_namespace = attributes.type->plural == "namespaces";
  if (attributes.ns.empty() && !is_namespace) return true;
  if (is_namespace && attributes.subresource.empty() && object != nullptr) {
    return LabelsFit(selector, object);
  }
  const ObjectPtr ns = find(attributes.ns);
  if (ns == nullptr) return NotFound("namespaces", "", attributes.ns);
  return selector.Matches(ns->meta().labels);
}

LabelSelector SelectorAt(const Json& owner, const char* member) {
  const Json* selector = Find(owner, {member});
  if (selector == nullptr || !selector->is_object()) return {};
  auto parsed = LabelSelector::FromJson(*selector);
  return parsed.ok() ? std::move(*parsed) : LabelSelector();
}

}  // namespace

std::string_view OperationText(Operation operation) {
  switch (operation) {
    case Operation::kCreate: return "CREATE";
    case Operation::kUpdate: return "UPDATE";
    case Operation::kDelete: return "DELETE";
    case Operation::kConnect: return "CONNECT";
  }
  return "";
}

Status Refuse(const Attributes& attributes, const std::string& why) {
  return Forbidden(attributes.type->plural, attributes.type->gvk.group, attributes.name, why);
}

std::vector<Rule> ParseRules(const Json& owner, const char* member) {
  std::vector<Rule> rules;
  const Json* list = Find(owner, {member});
  if (list == nullptr || !list->is_array()) return rules;
  for (const Json& item : *list) {
    Rule& rule = rules.emplace_back();
    rule.operations = StringsAt(item, {"operations"});
    rule.groups = StringsAt(item, {"apiGroups"});
    rule.versions = StringsAt(item, {"apiVersions"});
    rule.resources = StringsAt(item, {"resources"});
    rule.names = StringsAt(item, {"resourceNames"});
    if (const std::string scope = StringAt(item, {"scope"}); !scope.empty()) rule.scope = scope;
  }
  return rules;
}

Constraints ParseConstraints(const Json& owner, const char* rules_member) {
  Constraints constraints;
  constraints.rules = ParseRules(owner, rules_member);
  constraints.excluded = ParseRules(owner, "excludeResourceRules");
  constraints.equivalent = StringAt(owner, {"matchPolicy"}) != "Exact";
  constraints.namespaces = SelectorAt(owner, "namespaceSelector");
  constraints.objects = SelectorAt(owner, "objectSelector");
  return constraints;
}

Result<std::optional<Invocation>> Match(const Constraints& constraints,
                                        const Attributes& attributes, const Json* object,
                                        const FindNamespace& find) {
  // The namespace's absence is told only to those whose rules match.
  auto in_namespace = NamespaceFits(constraints.namespaces, attributes, object, find);
  if (in_namespace.ok() && !*in_namespace) return std::optional<Invocation>();
  if (!constraints.objects.empty() && !LabelsFit(constraints.objects, object) &&
      !LabelsFit(constraints.objects, attributes.old)) {
    return std::optional<Invocation>();
  }
  if (!constraints.excluded.empty()) {
    Constraints excluded;
    excluded.rules = constraints.excluded;
    excluded.equivalent = constraints.equivalent;
    if (MatchRules(excluded, attributes)) return std::optional<Invocation>();
  }
  std::optional<Invocation> invocation = MatchRules(constraints, attributes);
  if (constraints.rules.empty() && constraints.all_without_rules) {
    invocation = Invocation{attributes.type, attributes.kind};
  }
  if (invocation && !in_namespace.ok()) return std::move(in_namespace).error();
  return invocation;
}

bool IsExempt(const openapi::ResourceType& type) {
  if (!type.stored) return true;
  static const std::vector<std::string> kKinds = {
      "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
      "ValidatingAdmissionPolicy",      "ValidatingAdmissionPolicyBinding",
      "MutatingAdmissionPolicy",        "MutatingAdmissionPolicyBinding"};
  return type.gvk.group == "admissionregistration.k8s.io" &&
         std::find(kKinds.begin(), kKinds.end(), type.gvk.kind) != kKinds.end();
}

}  // namespace mailroom::admission
