#include "apiserver/finalize.h"

#include <algorithm>

#include "apiserver/kinds.h"
#include "apiserver/pods.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

void AddFinalizer(Json& object, std::string_view finalizer) {
  Json* list = Find(object, {"metadata", "finalizers"});
  if (list == nullptr || !list->is_array()) {
    list = &Set(object, {"metadata", "finalizers"}, Json::array());
  }
  list->push_back(finalizer);
}

// Which of the collector's finalizers a delete leaves on the object: what the request says, else
// what the object carries, else what its kind does by default.
std::string_view PropagationFinalizer(const Call& call, const DeleteRequest& request,
                                      const Json& object) {
  const Propagation own = RulesOf(*call.type).propagation;
  if (own == Propagation::kNone) return "";
  if (request.propagation == "Orphan") return kOrphanFinalizer;
  if (request.propagation == "Foreground") return kForegroundFinalizer;
  if (!request.propagation.empty()) return "";
  if (HasFinalizer(object, kOrphanFinalizer)) return kOrphanFinalizer;
  if (HasFinalizer(object, kForegroundFinalizer)) return kForegroundFinalizer;
  return own == Propagation::kOrphan ? kOrphanFinalizer : "";
}

// Where nobody collects garbage no finalizer may be added that nobody would remove: Orphan and
// Foreground end at once there.
void ApplyPropagation(const Call& call, const DeleteRequest& request, Json& object) {
  const std::string_view wanted = PropagationFinalizer(call, request, object);
  const bool collects = CollectsGarbage(call.workspace.type);
  if (!collects && request.propagation != "Background") return;
  if (!wanted.empty() && HasFinalizer(object, wanted) &&
      HasFinalizer(object, kOrphanFinalizer) != HasFinalizer(object, kForegroundFinalizer)) {
    return;
  }
  RemoveFinalizer(object, kOrphanFinalizer);
  RemoveFinalizer(object, kForegroundFinalizer);
  if (!wanted.empty()) AddFinalizer(object, wanted);
}

std::chrono::sys_seconds ToSeconds(std::chrono::system_clock::time_point time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

// Seconds for which a pod on a node is left to end by itself; everything else goes at once.
std::int64_t GraceSeconds(const Call& call, const DeleteRequest& request, const Json& object) {
  if (call.type->stored_as != kPodsResource) return 0;
  const std::string phase = StringAt(object, {"status", "phase"});
  if (StringAt(object, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed") {
    return 0;
  }
  const std::int64_t own = IntAt(object, {"spec", "terminationGracePeriodSeconds"}, 30);
  const std::int64_t grace = request.grace_seconds.value_or(own);
  return grace < 0 ? 1 : grace;
}

void SetEnd(std::chrono::sys_seconds end, std::int64_t grace, Json& object) {
  Set(object, {"metadata", "deletionTimestamp"}, FormatTime(end));
  Set(object, {"metadata", "deletionGracePeriodSeconds"}, grace);
}

// Of a pod that has been told to end `running` seconds later: whether it is told to end sooner,
// counted from when it was told first, but no sooner than now. It may not be told to end later.
bool ShortenGrace(const Call& call, const DeleteRequest& request, std::int64_t running, Json& object) {
  if (!request.grace_seconds) return false;
  std::int64_t grace = *request.grace_seconds < 0 ? 1 : *request.grace_seconds;
  if (grace >= running) return false;
  const std::chrono::sys_seconds now = ToSeconds(call.hub.clock.Now());
  std::chrono::sys_seconds end{
      std::chrono::seconds(ParseTime(StringAt(object, {"metadata", "deletionTimestamp"})) - running + grace)};
  if (end < now) {
    end = now;
    if (grace != 0) grace = 1;  // whoever ends it is still to hear of this
  }
  SetEnd(end, grace, object);
  return true;
}

bool Held(const Call& call, const Json& object) {
  const Json* finalizers = Find(object, {"metadata", "finalizers"});
  if (finalizers != nullptr && !finalizers->empty()) return true;
  const KindRules& rules = RulesOf(*call.type);
  return rules.holds != nullptr && rules.holds(object);
}

}  // namespace

bool CollectsGarbage(openapi::WorkspaceType type) {
  return type != openapi::WorkspaceType::kMailbox;
}

bool HasFinalizer(const Json& object, std::string_view finalizer) {
  const Json* list = Find(object, {"metadata", "finalizers"});
  return list != nullptr && list->is_array() &&
         std::find(list->begin(), list->end(), Json(finalizer)) != list->end();
}

void RemoveFinalizer(Json& object, std::string_view finalizer) {
  Json* list = Find(object, {"metadata", "finalizers"});
  if (list == nullptr || !list->is_array()) return;
  auto it = std::find(list->begin(), list->end(), Json(finalizer));
  if (it != list->end()) list->erase(it);
  if (list->empty()) Erase(object, {"metadata", "finalizers"});
}

Result<void> CheckDeletePreconditions(const Call& call, const Object& stored,
                                      const DeleteRequest& request) {
  auto conflict = [&](std::string_view what, std::string_view given, std::string_view record,
                      std::string_view perhaps) {
    return Conflict(call.type->gvk.kind, call.type->gvk.group, stored.meta().name,
                    "the " + std::string(what) + " in the precondition (" + std::string(given) +
                        ") does not match the " + std::string(what) + " in record (" +
                        std::string(record) + "). " + std::string(perhaps));
  };
  if (!request.uid.empty() && request.uid != stored.meta().uid) {
    if (RulesOf(*call.type).store_preconditions) {
      return Conflict(call.type->plural, call.type->gvk.group, stored.meta().name,
                      "Precondition failed: UID in precondition: " + request.uid +
                          ", UID in object meta: " + std::string(stored.meta().uid));
    }
    return conflict("UID", request.uid, stored.meta().uid,
                    "The object might have been deleted and then recreated");
  }
  if (!request.resource_version.empty() &&
      request.resource_version != stored.revision().ToString()) {
    return conflict("ResourceVersion", request.resource_version, stored.revision().ToString(),
                    "The object might have been modified");
  }
  return Ok();
}

bool GoesAtOnce(const Call& call, const DeleteRequest& request, const Object& stored) {
  if (stored.meta().has_finalizers || RulesOf(*call.type).holds != nullptr) return false;
  if (call.type->stored_as == kPodsResource) return false;
  return PropagationFinalizer(call, request, Json::object()).empty();
}

bool MarkDeleted(const Call& call, const DeleteRequest& request, Json& object) {
  const bool again = Find(object, {"metadata", "deletionTimestamp"}) != nullptr;
  const std::int64_t running = again ? IntAt(object, {"metadata", "deletionGracePeriodSeconds"}) : 0;
  if (running > 0 && call.type->stored_as == kPodsResource) {
    if (!ShortenGrace(call, request, running, object)) return false;
    ApplyPropagation(call, request, object);
    return *request.grace_seconds == 0 && !Held(call, object);
  }
  ApplyPropagation(call, request, object);
  const std::int64_t grace = again ? 0 : GraceSeconds(call, request, object);
  const bool gone = grace == 0 && !Held(call, object);
  // Only pods are shown as they end, for which they may be given time.
  if (again || (gone && call.type->stored_as != kPodsResource)) return gone;
  SetEnd(ToSeconds(call.hub.clock.Now()) + std::chrono::seconds(grace), grace, object);
  if (const std::int64_t generation = IntAt(object, {"metadata", "generation"}); generation > 0) {
    Set(object, {"metadata", "generation"}, generation + 1);
  }
  const KindRules& rules = RulesOf(*call.type);
  if (rules.on_terminating != nullptr) rules.on_terminating(object);
  return gone;
}

bool IsGone(const Call& call, const Json& object) {
  return Find(object, {"metadata", "deletionTimestamp"}) != nullptr && !Held(call, object) &&
         IntAt(object, {"metadata", "deletionGracePeriodSeconds"}) == 0;
}

void AddRemoval(const Call& call, const ResourceKey& key, const Object& stored, storage::Txn& txn) {
  storage::Operation remove;
  remove.type = storage::Operation::Type::kDelete;
  remove.key = key.ToStoreKey();
  txn.operations.push_back(std::move(remove));
  const KindRules& rules = RulesOf(*call.type);
  if (rules.on_remove != nullptr) rules.on_remove(call, stored, txn);
}

}  // namespace mailroom::apiserver
