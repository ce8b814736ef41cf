#include "apiserver/admission/plugins.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

const GroupResource kPriorityClasses{"scheduling.k8s.io", "priorityclasses"};

// Of the classes marked as the default the one with the lowest value; null when there is none.
Json DefaultClass(const PluginCall& call) {
  Json found;
  for (Json& item : call.List(kPriorityClasses)) {
    if (!BoolAt(item, {"globalDefault"})) continue;
    if (found.is_null() || IntAt(item, {"value"}) < IntAt(found, {"value"})) {
      found = std::move(item);
    }
  }
  return found;
}

// An update keeps what was settled at creation.
void Keep(const Json& old, const char* member, Json& pod) {
  const Json* before = Find(old, {"spec", member});
  if (before == nullptr || Find(pod, {"spec", member}) != nullptr) return;
  Set(pod, {"spec", member}, *before);
}

}  // namespace

Result<void> SetPriority(const PluginCall& call, Json& pod) {
  if (call.updates()) {
    if (call.attributes.old == nullptr) return Ok();
    Keep(*call.attributes.old, "priority", pod);
    Keep(*call.attributes.old, "preemptionPolicy", pod);
    return Ok();
  }
  const std::string wanted = StringAt(pod, {"spec", "priorityClassName"});
  const Json found = wanted.empty() ? DefaultClass(call) : call.Find(kPriorityClasses, wanted);
  if (found.is_null() && !wanted.empty()) {
    return Refuse(call.attributes, "no PriorityClass with name " + wanted + " was found");
  }
  if (wanted.empty() && !found.is_null()) {
    Set(pod, {"spec", "priorityClassName"}, StringAt(found, {"metadata", "name"}));
  }
  const std::int64_t priority = IntAt(found, {"value"});
  if (const Json* given = Find(pod, {"spec", "priority"});
      given != nullptr && !given->is_null() && *given != priority) {
    return Refuse(call.attributes,
                  "the integer value of priority (" + DumpJson(*given) +
                      ") must not be provided in pod spec; priority admission controller computed " +
                      std::to_string(priority) + " from the given PriorityClass name");
  }
  Set(pod, {"spec", "priority"}, priority);
  std::string policy = StringAt(found, {"preemptionPolicy"});
  if (policy.empty()) policy = "PreemptLowerPriority";
  const std::string given = StringAt(pod, {"spec", "preemptionPolicy"});
  if (!given.empty() && given != policy) {
    return Refuse(call.attributes,
                  "the string value of PreemptionPolicy (" + given +
                      ") must not be provided in pod spec; priority admission controller computed " +
                      policy + " from the given PriorityClass name");
  }
  Set(pod, {"spec", "preemptionPolicy"}, policy);
  return Ok();
}

Result<void> CheckPriorityClass(const PluginCall& call, const Json& object) {
  if (!BoolAt(object, {"globalDefault"})) return Ok();
  const Json other = DefaultClass(call);
  const std::string name = StringAt(other, {"metadata", "name"});
  if (other.is_null() || (call.updates() && name == StringAt(object, {"metadata", "name"}))) {
    return Ok();
  }
  return Refuse(call.attributes, "PriorityClass " + name +
                                     " is already marked as default. Only one default can exist");
}

}  // namespace mailroom::admission
