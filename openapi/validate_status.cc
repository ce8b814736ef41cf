// Counts in the status of workloads, checked when a status is written.
#include <initializer_list>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {
namespace {

struct Bound {
  const char* member;
  const char* most;  // the member it may not exceed
  const char* text;  // how that one is named
};

bool IsWritten(const BuiltinCheck& check) {
  if (check.old == nullptr) return false;
  const Json* now = Find(check.object, {"status"});
  const Json* before = Find(*check.old, {"status"});
  return now != nullptr && (before == nullptr || *now != *before);
}

void CheckCounts(const BuiltinCheck& check, std::initializer_list<const char*> counts,
                 std::initializer_list<Bound> bounds) {
  if (!IsWritten(check)) return;
  for (const char* member : counts) check.NonNegative({"status", member});
  for (const Bound& bound : bounds) {
    const std::int64_t value = IntAt(check.object, {"status", bound.member});
    if (value <= IntAt(check.object, {"status", bound.most})) continue;
    check.Invalid(std::string("status.") + bound.member, value,
                  std::string("cannot be greater than ") + bound.text);
  }
  const std::int64_t collisions = IntAt(check.object, {"status", "collisionCount"});
  const Json* before = Find(*check.old, {"status", "collisionCount"});
  if (before == nullptr) return;
  if (Find(check.object, {"status", "collisionCount"}) == nullptr) {
    check.Invalid("status.collisionCount", Json(), "cannot be decremented");
  } else if (before->is_number_integer() && collisions < before->get<std::int64_t>()) {
    check.Invalid("status.collisionCount", collisions, "cannot be decremented");
  }
}

}  // namespace

void CheckDeploymentStatus(const BuiltinCheck& check) {
  CheckCounts(check,
              {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas",
               "availableReplicas", "unavailableReplicas", "terminatingReplicas", "collisionCount"},
              {{"updatedReplicas", "replicas", "status.replicas"},
               {"readyReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "readyReplicas", "readyReplicas"}});
}

void CheckReplicaSetStatus(const BuiltinCheck& check) {
  CheckCounts(check,
              {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
               "observedGeneration", "terminatingReplicas"},
              {{"fullyLabeledReplicas", "replicas", "status.replicas"},
               {"readyReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "readyReplicas", "readyReplicas"}});
}

void CheckReplicationControllerStatus(const BuiltinCheck& check) {
  CheckCounts(check,
              {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
               "observedGeneration"},
              {{"fullyLabeledReplicas", "replicas", "status.replicas"},
               {"readyReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "readyReplicas", "readyReplicas"}});
}

void CheckStatefulSetStatus(const BuiltinCheck& check) {
  CheckCounts(check,
              {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
               "observedGeneration", "availableReplicas", "collisionCount"},
              {{"readyReplicas", "replicas", "status.replicas"},
               {"currentReplicas", "replicas", "status.replicas"},
               {"updatedReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "replicas", "status.replicas"},
               {"availableReplicas", "readyReplicas", "status.readyReplicas"}});
}

void CheckDaemonSetStatus(const BuiltinCheck& check) {
  CheckCounts(check,
              {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled",
               "numberReady", "observedGeneration", "updatedNumberScheduled", "numberAvailable",
               "numberUnavailable", "collisionCount"},
              {});
}

}  // namespace mailroom::openapi
