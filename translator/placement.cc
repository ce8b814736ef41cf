#include "translator/placement.h"

#include "storage/object/json_path.h"

namespace mailroom::translator {
namespace {

std::vector<LabelSelector> Selectors(const Json& parent, std::string_view field,
                                     const std::string& where, std::vector<std::string>& errors) {
  std::vector<LabelSelector> out;
  const Json* list = Find(parent, {field});
  if (list == nullptr || !list->is_array()) return out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto selector = LabelSelector::FromJson(list->at(i));
    if (selector.ok()) {
      out.push_back(*std::move(selector));
    } else {
      errors.push_back(where + "." + std::string(field) + "[" + std::to_string(i) +
                       "]: " + selector.error().message());
    }
  }
  return out;
}

bool HasPredicate(const Json& clause, std::string_view object_selectors) {
  for (std::string_view field :
       {std::string_view("apiGroup"), std::string_view("resources"), std::string_view("namespaces"),
        std::string_view("namespaceSelectors"), object_selectors,
        std::string_view("objectNames")}) {
    const Json* value = Find(clause, {field});
    if (value != nullptr && !value->is_null()) return true;
  }
  return false;
}

// Appends the clauses of spec.downsync. The two kinds differ in the name of one predicate.
void ReadClauses(const Json& spec, std::string_view object_selectors, Placement& out) {
  const Json* list = Find(spec, {"downsync"});
  if (list == nullptr || !list->is_array()) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& from = list->at(i);
    const std::string where = "spec.downsync[" + std::to_string(i) + "]";
    if (!HasPredicate(from, object_selectors)) {
      out.errors.push_back(where + ": selects by nothing; name at least one predicate");
      continue;
    }
    const std::size_t errors_before = out.errors.size();
    Clause clause;
    const Json* group = Find(from, {"apiGroup"});
    if (group != nullptr && group->is_string()) clause.api_group = group->get<std::string>();
    clause.resources = StringsAt(from, {"resources"});
    clause.namespaces = StringsAt(from, {"namespaces"});
    clause.object_names = StringsAt(from, {"objectNames"});
    clause.namespace_selectors = Selectors(from, "namespaceSelectors", where, out.errors);
    clause.object_selectors = Selectors(from, object_selectors, where, out.errors);
    clause.create_only = BoolAt(from, {"createOnly"});
    clause.want_singleton = BoolAt(from, {"wantSingletonReportedState"});
    // With a selector missing the clause would choose more than its author meant.
    if (out.errors.size() == errors_before) out.clauses.push_back(std::move(clause));
  }
}

Placement Begin(const Json& object) {
  Placement out;
  out.generation = IntAt(object, {"metadata", "generation"});
  if (const Json* spec = Find(object, {"spec"})) out.spec_text = DumpJson(*spec);
  return out;
}

}  // namespace

Placement ParseBindingPolicy(const Json& policy) {
  Placement out = Begin(policy);
  const Json* spec = Find(policy, {"spec"});
  if (spec == nullptr) return out;
  out.cluster_selectors = Selectors(*spec, "clusterSelectors", "spec", out.errors);
  ReadClauses(*spec, "objectSelectors", out);
  return out;
}

Placement ParseEdgePlacement(const Json& placement) {
  Placement out = Begin(placement);
  const Json* spec = Find(placement, {"spec"});
  if (spec == nullptr) return out;
  out.location_selectors = Selectors(*spec, "locationSelectors", "spec", out.errors);
  ReadClauses(*spec, "labelSelectors", out);
  if (BoolAt(*spec, {"wantSingletonReportedState"})) {
    for (Clause& clause : out.clauses) clause.want_singleton = true;
  }
  return out;
}

}  // namespace mailroom::translator
