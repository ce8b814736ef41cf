// Columns of the core kinds that hold configuration and of their relatives.
#include <algorithm>

#include "openapi/cells.h"

namespace mailroom::openapi {
namespace {

// The first of two fields that has a value: core and events.k8s.io name them differently.
std::string Either(const Json& object, std::string_view one, std::string_view other) {
  std::string text = TextAt(object, one);
  return text.empty() ? TextAt(object, other) : text;
}

std::string FirstSeen(const Json& event) {
  const std::string first = Either(event, "firstTimestamp", "deprecatedFirstTimestamp");
  return Age(first.empty() ? TextAt(event, "eventTime") : first);
}

Json LastSeen(const Json& event) {
  if (const Json* series = Find(event, {"series"}); series != nullptr && series->is_object()) {
    return Age(TextAt(*series, "lastObservedTime"));
  }
  const std::string last = Either(event, "lastTimestamp", "deprecatedLastTimestamp");
  return last.empty() ? FirstSeen(event) : Age(last);
}

Json EventCount(const Json& event) {
  if (const Json* series = Find(event, {"series"}); series != nullptr && series->is_object()) {
    return NumberAt(*series, "count");
  }
  const std::int64_t count = std::max(NumberAt(event, "count"), NumberAt(event, "deprecatedCount"));
  return count == 0 ? 1 : count;  // one that happened once carries no count
}

Json EventObject(const Json& event) {
  std::string target = Either(event, "involvedObject.kind", "regarding.kind");
  std::transform(target.begin(), target.end(), target.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string name = Either(event, "involvedObject.name", "regarding.name");
  if (!name.empty()) target += "/" + name;
  return target;
}

Json EventSource(const Json& event) {
  std::string component = Either(event, "source.component", "deprecatedSource.component");
  if (component.empty()) component = Either(event, "reportingComponent", "reportingController");
  std::string instance = Either(event, "source.host", "deprecatedSource.host");
  if (instance.empty()) instance = TextAt(event, "reportingInstance");
  return instance.empty() ? component : component + ", " + instance;
}

Json EventMessage(const Json& event) {
  const std::string text = Either(event, "message", "note");
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<Column> EventColumns() {
  return {Shown("Last Seen", LastSeen),
          Shown("Type", Text("type")),
          Shown("Reason", Text("reason")),
          Shown("Object", EventObject),
          Wide("Subobject",
               [](const Json& event) {
                 return Json(Either(event, "involvedObject.fieldPath", "regarding.fieldPath"));
               }),
          Wide("Source", EventSource),
          Shown("Message", EventMessage),
          Wide("First Seen", [](const Json& event) { return Json(FirstSeen(event)); }),
          Wide("Count", EventCount),
          [] {
            Column name = Wide("Name", Text("metadata.name"));
            name.format = "name";
            return name;
          }()};
}

// `cpu: 1/2, memory: 1Gi/2Gi` of the limits or of everything else.
Json QuotaUse(const Json& quota, bool limits) {
  const Json* hard = Find(quota, {"status", "hard"});
  if (hard == nullptr || !hard->is_object()) return "";
  std::vector<std::string> parts;
  for (const auto& [resource, value] : hard->items()) {
    if (resource.starts_with("limits.") != limits) continue;
    std::string used = Scalar(Find(quota, {"status", "used", resource}));
    if (used.empty()) used = "0";
    parts.push_back(resource + ": " + used + "/" + Scalar(&value));
  }
  return Join(parts, ", ");
}

Json DataCount(const Json& object) {
  return Count("data")(object).get<std::int64_t>() +
         Count("binaryData")(object).get<std::int64_t>();
}

const Json* HealthOf(const Json& component) {
  return OfType(ListAt(component, "conditions"), "Healthy");
}

Json ComponentHealth(const Json& component) {
  const Json* health = HealthOf(component);
  if (health == nullptr) return "Unknown";
  return StringAt(*health, {"status"}) == "True" ? "Healthy" : "Unhealthy";
}

Cell ComponentText(std::string_view member) {
  return [member](const Json& component) {
    const Json* health = HealthOf(component);
    return Json(health == nullptr ? "" : StringAt(*health, {member}));
  };
}

Json RevisionOwner(const Json& revision) {
  for (const Json& owner : ListAt(revision, "metadata.ownerReferences")) {
    if (!BoolAt(owner, {"controller"})) continue;
    std::string kind = StringAt(owner, {"kind"});
    const std::string api_version = StringAt(owner, {"apiVersion"});
    if (const std::size_t slash = api_version.find('/'); slash != std::string::npos) {
      kind += "." + api_version.substr(0, slash);
    }
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return kind + "/" + StringAt(owner, {"name"});
  }
  return "<none>";
}

}  // namespace

std::vector<KindColumns> CoreColumns() {
  return {
      {"", "Namespace", {NameColumn(), Shown("Status", Text("status.phase")), AgeColumn()}},
      {"", "ConfigMap", {NameColumn(), Shown("Data", DataCount), AgeColumn()}},
      {"",
       "Secret",
       {NameColumn(), Shown("Type", Text("type")), Shown("Data", Count("data")), AgeColumn()}},
      {"", "ServiceAccount", {NameColumn(), AgeColumn()}},
      {"", "Event", EventColumns()},
      {"events.k8s.io", "Event", EventColumns()},
      {"",
       "ResourceQuota",
       {NameColumn(), Shown("Request", [](const Json& quota) { return QuotaUse(quota, false); }),
        Shown("Limit", [](const Json& quota) { return QuotaUse(quota, true); }), AgeColumn()}},
      {"",
       "ComponentStatus",
       {NameColumn(), Shown("Status", ComponentHealth), Shown("Message", ComponentText("message")),
        Shown("Error", ComponentText("error"))}},
      {"apps",
       "ControllerRevision",
       {NameColumn(), Shown("Controller", RevisionOwner), Shown("Revision", Number("revision")),
        AgeColumn()}},
      {"coordination.k8s.io",
       "Lease",
       {NameColumn(), Shown("Holder", Text("spec.holderIdentity")), AgeColumn()}},
  };
}

}  // namespace mailroom::openapi
