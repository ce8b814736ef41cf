// Which requests a webhook or policy wants to see: operations, groups, versions, resources and
// scope with their wildcards, namespace and object selectors, and equivalent versions of the same
// resource. Pure functions over parsed configurations.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/admission/attributes.h"
#include "storage/object/object.h"
#include "storage/object/selector.h"

namespace mailroom::admission {

struct Rule {
  std::vector<std::string> operations, groups, versions, resources;
  std::string scope = "*";
  std::vector<std::string> names;  // policies only; empty: all
};
std::vector<Rule> ParseRules(const Json& owner, const char* member);

// A webhook's or policy's wish, parsed.
struct Constraints {
  std::vector<Rule> rules;
  std::vector<Rule> excluded;  // policies only
  bool equivalent = true;
  bool all_without_rules = false;  // bindings narrow their policy's choice
  LabelSelector namespaces;
  LabelSelector objects;
};
// From a webhook (`rules`) or from matchConstraints or matchResources (`resourceRules`).
Constraints ParseConstraints(const Json& owner, const char* rules_member);

// The form in which the request is shown: its own, or an equivalent one.
struct Invocation {
  openapi::ResourceTypePtr type;  // the resource's, in the matched version
  GroupVersionKind kind;          // of the object shown
};

// The Namespace object of that name, or null.
using FindNamespace = std::function<ObjectPtr(const std::string& name)>;

// Nothing when the request is of no interest. NotFound when the namespace whose labels decide
// does not exist.
Result<std::optional<Invocation>> Match(const Constraints& constraints,
                                        const Attributes& attributes, const Json* object,
                                        const FindNamespace& find);

// Webhook configurations and policies are never subject to themselves, nor are reviews.
bool IsExempt(const openapi::ResourceType& type);

}  // namespace mailroom::admission
