// The eviction subresource of pods: a delete that first asks the pod's disruption budget. The
// budget's numbers are kept by whoever counts pods; here they are only taken from.
#include "apiserver/conditions.h"
#include "apiserver/finalize.h"
#include "apiserver/pods.h"
#include "apiserver/verbs.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/selector.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kTooSoon =
    "Cannot evict pod as it would violate the pod's disruption budget.";
constexpr int kRetryAfterSeconds = 10;

const openapi::ResourceType& EvictionType() {
  static const openapi::ResourceType type =
      OrderType({"policy", "v1", "Eviction"}, "policy/v1.Eviction");
  return type;
}

Status Because(Status status, std::string message) {
  status.mutable_details().causes.push_back({"DisruptionBudget", std::move(message), ""});
  return status;
}

// The budget has changed or the pod has, and nobody has counted since.
Status NotYetCounted(const std::string& budget) {
  StatusDetails details;
  details.retry_after_seconds = kRetryAfterSeconds;
  return Because(Status(Reason::kTooManyRequests, kTooSoon, std::move(details)),
                 "The disruption budget " + budget + " is still being processed by the server.");
}

Status NoneLeft(const std::string& name, const Json& budget) {
  const std::int64_t wanted = IntAt(budget, {"status", "desiredHealthy"});
  const std::int64_t healthy = IntAt(budget, {"status", "currentHealthy"});
  const Json* condition = ConditionOf(budget, "DisruptionAllowed");
  std::string reason, message;
  if (condition != nullptr && StringAt(*condition, {"status"}) == "False") {
    reason = StringAt(*condition, {"reason"});
    message = StringAt(*condition, {"message"});
  }
  std::string told = "The disruption budget " + name;
  // Numbers that could not be counted mean nothing.
  if (!message.empty() && reason == "SyncFailed") {
    told += " does not allow evicting pods currently because it failed sync: " + message;
  } else if (healthy <= wanted) {
    told += " needs " + std::to_string(wanted) + " healthy pods and has " +
            std::to_string(healthy) + " currently";
  } else {
    told += " does not allow evicting pods currently";
    if (!message.empty()) told += " (" + reason + "): " + message;
  }
  return Because(Status(Reason::kTooManyRequests, kTooSoon), std::move(told));
}

Result<void> CheckAllows(const std::string& name, const Json& budget) {
  if (IntAt(budget, {"status", "observedGeneration"}) < IntAt(budget, {"metadata", "generation"})) {
    return NotYetCounted(name);
  }
  const Json* pending = Find(budget, {"status", "disruptedPods"});
  if (pending != nullptr && pending->size() > limits::kPendingEvictions) {
    return Because(
        Forbidden("poddisruptionbudget", "policy", name,
                  "DisruptedPods map too big - too many evictions not confirmed by PDB controller"),
        "The disruption budget " + name +
            " does not allow evicting pods currently: too many pending evictions not confirmed by "
            "PDB controller");
  }
  if (IntAt(budget, {"status", "disruptionsAllowed"}) <= 0) return NoneLeft(name, budget);
  return Ok();
}

openapi::ResourceTypePtr BudgetType(const Call& call) {
  return call.workspace.catalog->FindShared("policy", "v1", "poddisruptionbudgets");
}

// The budget that covers the pod; null when none does. Where policy is payload, none acts.
Result<ObjectPtr> BudgetOf(const Call& call, const Json& pod) {
  const openapi::ResourceTypePtr type = BudgetType(call);
  if (type == nullptr || !openapi::PolicyIsLive(call.workspace.type)) return ObjectPtr();
  auto list =
      TRY(call.hub.store.List({.scope = {call.info.workspace, type->stored_as, call.info.ns},
                               .filter = {},
                               .start_after = "",
                               .limit = 0,
                               .at = {}}));
  const Json* labels = Find(pod, {"metadata", "labels"});
  ObjectPtr found;
  for (const storage::Entry& entry : list.entries) {
    const Json budget = entry.object->ToJson();
    const Json* selector = Find(budget, {"spec", "selector"});
    if (selector == nullptr) continue;
    const auto parsed = LabelSelector::FromJson(*selector);
    if (!parsed.ok() || !parsed->MatchesJson(labels != nullptr ? *labels : Json())) continue;
    if (found != nullptr) {
      return Status(Reason::kUnknown, 500,
                    "This pod has more than one PodDisruptionBudget, which the eviction "
                    "subresource does not support.");
    }
    found = entry.object;
  }
  return found;
}

// Counts the pod as gone before it is.
Result<void> TakeFromBudget(const Call& call, const std::string& name, bool dry_run) {
  Call own = OwnCall(call, BudgetType(call), name, "status");
  WriteOptions options;
  options.dry_run = dry_run;
  const std::string now = FormatTime(call.hub.clock.Now());
  TRY(Change(own, options, [&](const Json& live) -> Result<Draft> {
    TRY(CheckAllows(name, live));
    Json budget = live;
    const std::int64_t left = IntAt(live, {"status", "disruptionsAllowed"}) - 1;
    Set(budget, {"status", "disruptionsAllowed"}, left);
    if (left == 0) {
      SetCondition(budget,
                   {{"type", "DisruptionAllowed"},
                    {"status", "False"},
                    {"reason", "InsufficientPods"},
                    {"message", ""},
                    {"observedGeneration", IntAt(live, {"status", "observedGeneration"})}},
                   now);
    }
    Set(budget, {"status", "disruptedPods", call.info.name}, now);
    return Draft{std::move(budget), {}};
  }));
  return Ok();
}

bool IsEnding(const Json& pod) {
  const std::string phase = StringAt(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed" ||
         Find(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

// Nothing is disrupted by the end of a pod that does not run yet, or no longer.
bool NeedsNoBudget(const Json& pod) {
  return IsEnding(pod) || StringAt(pod, {"status", "phase"}) == "Pending";
}

// A pod that is not ready is not among the healthy ones that the budget keeps.
bool GoesUncounted(const Json& pod, const Json& budget) {
  const Json* ready = ConditionOf(pod, "Ready");
  if (ready != nullptr && StringAt(*ready, {"status"}) == "True") return false;
  if (StringAt(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow") return true;
  const std::int64_t wanted = IntAt(budget, {"status", "desiredHealthy"});
  return wanted > 0 && IntAt(budget, {"status", "currentHealthy"}) >= wanted;
}

// Tells in the pod's status why it goes, and deletes it.
Result<void> MarkAndDelete(const Call& call, DeleteRequest request) {
  Call own = OwnCall(call, call.type, call.info.name, "status");
  if (!request.dry_run) {
    const ObjectPtr stored = call.hub.store.Get(call.Key());
    if (stored == nullptr) return call.NotFoundHere();
    TRY(CheckDeletePreconditions(call, *stored, request));
    const Outcome marked = TRY(Change(own, {}, [&](const Json& live) -> Result<Draft> {
      Json pod = live;
      SetCondition(pod,
                   {{"type", "DisruptionTarget"},
                    {"status", "True"},
                    {"reason", "EvictionByEvictionAPI"},
                    {"message", "Eviction API: evicting"}},
                   FormatTime(call.hub.clock.Now()));
      if (!request.uid.empty()) Set(pod, {"metadata", "uid"}, request.uid);
      if (!request.resource_version.empty()) {
        Set(pod, {"metadata", "resourceVersion"}, request.resource_version);
      }
      return Draft{std::move(pod), {}, true};
    }));
    if (!request.resource_version.empty()) {
      request.resource_version = marked.object->revision().ToString();
    }
  }
  own.info.verb = "delete";
  own.info.subresource.clear();
  TRY(Remove(own, call.info.name, request));
  return Ok();
}

Result<void> EvictCounted(const Call& call, const DeleteRequest& request, const Object& pod) {
  const Json tree = pod.ToJson();
  const ObjectPtr budget = TRY(BudgetOf(call, tree));
  if (budget == nullptr) return MarkAndDelete(call, request);
  const std::string name(budget->meta().name);
  if (!GoesUncounted(tree, budget->ToJson())) {
    TRY(TakeFromBudget(call, name, request.dry_run));
    return MarkAndDelete(call, request);
  }
  // Only as long as it is not ready.
  DeleteRequest pinned = request;
  pinned.resource_version = pod.revision().ToString();
  auto done = MarkAndDelete(call, pinned);
  if (!done.ok() && done.error().reason() == Reason::kConflict &&
      request.resource_version.empty()) {
    return NotYetCounted(name);
  }
  return done;
}

Result<void> EvictPod(const Call& call, const DeleteRequest& request) {
  const bool pinned = !request.resource_version.empty();
  TRY(call.hub.store.Freshen());
  for (int attempt = 0;; ++attempt) {
    const ObjectPtr pod = call.hub.store.Get(call.Key());
    if (pod == nullptr) return call.NotFoundHere();
    const Json tree = pod->ToJson();
    if (!NeedsNoBudget(tree)) return EvictCounted(call, request, *pod);
    DeleteRequest now = request;
    // It may have begun to run meanwhile.
    if (!IsEnding(tree) && !pinned) now.resource_version = pod->revision().ToString();
    auto done = MarkAndDelete(call, now);
    const bool raced = !done.ok() && done.error().reason() == Reason::kConflict && !pinned;
    if (!raced || attempt == limits::kCommitRetries) return done;
  }
}

}  // namespace

Result<Response> Evict(Call& call) {
  const WriteOptions options = TRY(ParseWriteOptions(call, "CreateOptions"));
  const Json eviction = TRY(ReadOrder(call, options, EvictionType(), "v1beta1"));
  if (StringAt(eviction, {"metadata", "name"}) != call.info.name) {
    return BadRequest("name in URL does not match name in Eviction object");
  }
  const Json* given = Find(eviction, {"deleteOptions"});
  if (given != nullptr && BoolAt(*given, {"ignoreStoreReadErrorWithClusterBreakingPotential"})) {
    return Invalid(
        "Eviction", "policy", call.info.name,
        {InvalidValue("deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential", "true",
                      "can not be set for pod eviction, try after removing the "
                      "option")});
  }
  DeleteRequest request = TRY(DeleteRequestOf(given != nullptr ? *given : Json::object()));
  request.dry_run = request.dry_run || options.dry_run;
  TRY(EvictPod(call, request));
  return OrderDone(call);
}

}  // namespace mailroom::apiserver
