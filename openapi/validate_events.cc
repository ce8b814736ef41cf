// Events of both groups. They share storage and rules; only member names differ.
#include "openapi/validate_builtin.h"
#include "openapi/validate_names.h"
#include "openapi/validate_shown.h"

namespace mailroom::openapi {
namespace {

struct EventMembers {
  std::string_view object, message, controller;
};

constexpr EventMembers kCore = {"involvedObject", "message", "reportingComponent"};
constexpr EventMembers kNew = {"regarding", "note", "reportingController"};

void CheckLength(const BuiltinCheck& check, std::string_view member, bool required,
                 std::size_t limit) {
  const std::string value = StringAt(check.object, {member});
  const std::string field(member);
  if (value.empty() && required) check.Required(field);
  if (value.size() > limit) {
    check.Invalid(field, "", "can have at most " + std::to_string(limit) + " characters");
  }
}

void CheckEvent(const BuiltinCheck& check, const EventMembers& members) {
  const std::string ns = StringAt(check.object, {"metadata", "namespace"});
  const std::string about = StringAt(check.object, {members.object, "namespace"});
  const bool timed = !StringAt(check.object, {"eventTime"}).empty();
  // Errors name the members of the core group, in which events are kept.
  const bool agrees = timed ? !about.empty() || ns == "default" || ns == "kube-system"
                            : about == ns || (about.empty() && ns == "default");
  if (!agrees) {
    check.Invalid("involvedObject.namespace", about, "does not match event.namespace");
  }
  if (!timed) return;
  const std::string controller = StringAt(check.object, {members.controller});
  if (controller.empty()) check.Required(std::string(members.controller));
  AddInvalid(check.causes, std::string(members.controller), controller,
             CheckQualifiedName(controller));
  CheckLength(check, "reportingInstance", true, 128);
  CheckLength(check, "action", true, 128);
  CheckLength(check, "reason", true, 128);
  if (StringAt(check.object, {members.message}).size() > 1024) {
    check.Invalid("message", "", "can have at most 1024 characters");
  }
}

void CheckSeries(const BuiltinCheck& check) {
  if (Find(check.object, {"series"}) == nullptr) return;
  if (IntAt(check.object, {"series", "count"}) < 2) {
    check.Invalid("series.count", "", "should be at least 2");
  }
  if (StringAt(check.object, {"series", "lastObservedTime"}).empty()) {
    check.Required("series.lastObservedTime");
  }
}

// Members that do not change, by the names they have in the core group.
constexpr std::pair<const char*, const char*> kFixed[] = {
    {"reason", "reason"},
    {"note", "message"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
    {"reason", "reason"},
    {"type", "type"},
    {"eventTime", "eventTime"},
    {"action", "action"},
    {"related", "related"},
    {"reportingController", "reportingController"},
    {"reportingInstance", "reportingInstance"},
};

void CheckReference(const BuiltinCheck& check, std::string_view member, const std::string& field) {
  const std::string now = ShownReference(Find(check.object, {member}));
  if (now == ShownReference(Find(*check.old, {member}))) return;
  check.causes.push_back(InvalidValue(field, now, "field is immutable"));
}

}  // namespace

void CheckCoreEvent(const BuiltinCheck& check) { CheckEvent(check, kCore); }

void CheckNewEvent(const BuiltinCheck& check) {
  CheckEvent(check, kNew);
  if (check.old != nullptr) {
    const Json* now = Find(check.object, {"series"});
    const Json* before = Find(*check.old, {"series"});
    if (now != nullptr && (before == nullptr || *now != *before)) CheckSeries(check);
    CheckReference(check, "regarding", "involvedObject");
    for (const auto& [member, field] : kFixed) {
      if (std::string_view(field) == "related") {
        CheckReference(check, member, field);
      } else {
        CheckImmutable(check.causes, field, Find(check.object, {member}), Find(*check.old, {member}));
      }
    }
    return;
  }
  CheckSeries(check);
  if (StringAt(check.object, {"eventTime"}).empty()) check.Required("eventTime");
  const std::string type = StringAt(check.object, {"type"});
  if (type != "Normal" && type != "Warning") {
    check.Invalid("type", "", "has invalid value: " + type);
  }
  static constexpr std::pair<const char*, const char*> kUnset[] = {
      {"deprecatedFirstTimestamp", "firstTimestamp"},
      {"deprecatedLastTimestamp", "lastTimestamp"},
      {"deprecatedCount", "count"}};
  for (const auto& [member, field] : kUnset) {
    const Json* found = Find(check.object, {member});
    if (found != nullptr && !found->is_null()) {
      check.Invalid(field, "", "needs to be unset");
    }
  }
  if (!StringAt(check.object, {"deprecatedSource", "component"}).empty()) {
    check.Invalid("source", "", "needs to be unset");
  }
}

}  // namespace mailroom::openapi
