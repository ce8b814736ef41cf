#include "translator/binding.h"

#include "openapi/edge_names.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "translator/conditions.h"
#include "translator/copy.h"

namespace mailroom::translator {
namespace {

const client::Gvr kPolicies{std::string(openapi::kControlApi), "bindingpolicies"};
const client::Gvr kBindings{std::string(openapi::kControlApi), "bindings"};

client::ObjectRef RefOf(const client::Gvr& gvr, const std::string& name,
                        std::string subresource = "") {
  return {.gvr = gvr, .ns = "", .name = name, .subresource = std::move(subresource)};
}

Json RenderItem(const PlacementItem& item) {
  Json out = {{"group", item.id.resource.group},
              {"version", item.version},
              {"resource", item.id.resource.resource},
              {"name", item.id.name},
              {"resourceVersion", item.source->revision().ToString()}};
  if (!item.id.ns.empty()) Set(out, {"namespace"}, item.id.ns);
  if (item.bits.create_only) Set(out, {"createOnly"}, true);
  if (item.bits.singleton) Set(out, {"wantSingletonReportedState"}, true);
  return out;
}

Json OwnerOf(const Object& policy) {
  return {{"apiVersion", openapi::kControlApi},
          {"kind", "BindingPolicy"},
          {"name", std::string(policy.meta().name)},
          {"uid", std::string(policy.meta().uid)},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

// Brings a Binding, or an empty tree, to what the view says.
bool BringBinding(const PlacementView& view, const Object& policy, Json& binding) {
  const Json before = binding;
  if (binding.is_null()) {
    binding = {{"apiVersion", openapi::kControlApi},
               {"kind", "Binding"},
               {"metadata", {{"name", std::string(policy.meta().name)}}}};
  }
  Set(binding, {"metadata", "ownerReferences"}, Json::array({OwnerOf(policy)}));
  Set(binding, {"spec"}, RenderBindingSpec(view));
  return binding != before;
}

}  // namespace

client::WorkKey ToWorkKey(const PlacementKey& key) { return {key.wds, key.name}; }

Json RenderBindingSpec(const PlacementView& view) {
  Json cluster = Json::array();
  Json namespaced = Json::array();
  for (const PlacementItem& item : view.items) {
    (item.id.ns.empty() ? cluster : namespaced).push_back(RenderItem(item));
  }
  Json destinations = Json::array();
  for (const std::string& name : view.clusters) destinations.push_back({{"clusterId", name}});
  return {{"workload",
           {{"clusterScope", std::move(cluster)}, {"namespaceScope", std::move(namespaced)}}},
          {"destinations", std::move(destinations)}};
}

std::vector<std::string> RenderErrors(const PlacementView& view) {
  std::vector<std::string> errors = view.errors;
  for (const Lost& lost : view.lost) {
    // Two workspaces that want the very same thing do not disagree.
    if (SameContent(lost.ours->ToJson(), lost.theirs->ToJson())) continue;
    errors.push_back(Describe(lost.id) + " is taken from workspace " + lost.wds +
                     ", whose object is older, in " + std::to_string(lost.mailboxes) +
                     " mailboxes");
  }
  if (errors.size() > limits::kPolicyErrors) {
    const std::size_t more = errors.size() - limits::kPolicyErrors;
    errors.resize(limits::kPolicyErrors);
    errors.push_back("and " + std::to_string(more) + " more");
  }
  return errors;
}

bool BringStatus(const PlacementView& view, const std::vector<std::string>& errors,
                 const std::string& now, Json& object) {
  const Json before = object;
  SetCondition(object,
               {.type = "Ready",
                .status = true,
                .reason = "Available",
                .message = std::to_string(view.items.size()) + " objects to " +
                           std::to_string(view.clusters.size()) + " clusters"},
               now);
  SetCondition(object,
               {.type = "Synced",
                .status = errors.empty(),
                .reason = errors.empty() ? "ReconcileSuccess" : "ReconcileError",
                .message = errors.empty() ? "" : errors.front()},
               now);
  Set(object, {"status", "observedGeneration"}, IntAt(object, {"metadata", "generation"}));
  if (errors.empty()) {
    Erase(object, {"status", "errors"});
  } else {
    Set(object, {"status", "errors"}, errors);
  }
  return object != before;
}

Result<void> BindingReconciler::RemoveOrphan(const client::WorkKey& key,
                                             const ObjectPtr& binding) const {
  if (binding == nullptr || !binding->meta().deletion_timestamp.empty()) return Ok();
  const Json tree = binding->ToJson();
  const Json* owners = Find(tree, {"metadata", "ownerReferences"});
  const bool ours = owners != nullptr && owners->is_array() && !owners->empty() &&
                    StringAt(owners->front(), {"kind"}) == "BindingPolicy";
  if (!ours) return Ok();
  auto removed = hub_.InWorkspace(key.lane).Delete(
      RefOf(kBindings, key.id),
      {.uid = std::string(binding->meta().uid), .resource_version = "", .propagation = ""});
  if (!removed.ok() && removed.error().reason() == Reason::kNotFound) return Ok();
  return removed;
}

Result<client::Requeue> BindingReconciler::Reconcile(const client::WorkKey& key) {
  const auto ready = [this] { return plan_.Complete() && caches_.bindings->synced(); };
  if (!ready()) return parked_.Park(key, ready);
  const client::ObjectKey cache_key{.workspace = key.lane, .ns = "", .name = key.id};
  const ObjectPtr policy = caches_.policies->Get(cache_key);
  const ObjectPtr binding = caches_.bindings->Get(cache_key);
  const PlacementView view =
      plan_.ViewOf({.wds = key.lane, .kind = PlacementKind::kBindingPolicy, .name = key.id});
  if (policy == nullptr) {
    TRY(RemoveOrphan(key, binding));
    return client::Requeue{};
  }
  if (!view.found) return client::Requeue{};  // being deleted
  const client::Client wds = hub_.InWorkspace(key.lane);
  Json body = binding == nullptr ? Json() : binding->ToJson();
  if (BringBinding(view, *policy, body)) {
    if (binding == nullptr) {
      auto created = wds.Create(kBindings, "", body);
      if (!created.ok() && created.error().reason() != Reason::kAlreadyExists) {
        return std::move(created).error();
      }
    } else {
      TRY(wds.Update(RefOf(kBindings, key.id), body));
    }
    return client::Requeue{};
  }
  const std::string now = FormatTime(Clock::Real().Now());
  const std::vector<std::string> errors = RenderErrors(view);
  if (BringStatus(view, errors, now, body)) {
    TRY(wds.Update(RefOf(kBindings, key.id, "status"), body));
    return client::Requeue{};
  }
  body = policy->ToJson();
  if (BringStatus(view, errors, now, body)) {
    TRY(wds.Update(RefOf(kPolicies, key.id, "status"), body));
  }
  return client::Requeue{};
}

}  // namespace mailroom::translator
