#include "syncer/rewrite.h"

#include <algorithm>
#include <array>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "syncer/digest.h"
#include "syncer/keys.h"

namespace mailroom::syncer {
namespace {

constexpr std::array<std::string_view, 11> kServerMetadata = {
    "managedFields",     "uid",
    "resourceVersion",   "generation",
    "creationTimestamp", "deletionTimestamp",
    "selfLink",          "deletionGracePeriodSeconds",
    "ownerReferences",  // name objects of the mailbox by UIDs the WEC does not have
    "finalizers",       // promise controllers that the WEC need not run
    "generateName",
};
// Holds the whole object once more, secrets included.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// Members by which servers tell the elements of a list apart, most telling first.
constexpr std::array<std::string_view, 7> kElementKeys = {
    "name", "key", "mountPath", "containerPort", "port", "type", "ip"};

// The member of kElementKeys that all elements of both lists have and that is unique in each.
std::string_view KeyOf(const Json& actual, const Json& desired) {
  const auto distinct = [](const Json& list, std::string_view key) {
    for (auto it = list.begin(); it != list.end(); ++it) {
      const Json* mine = Find(*it, {key});
      if (mine == nullptr) return false;
      const auto same = [&](const Json& other) {
        const Json* theirs = Find(other, {key});
        return theirs != nullptr && *theirs == *mine;
      };
      if (std::any_of(std::next(it), list.end(), same)) return false;
    }
    return true;
  };
  for (std::string_view key : kElementKeys) {
    if (distinct(actual, key) && distinct(desired, key)) return key;
  }
  return "";
}

Json ProjectList(const Json& actual, const Json& desired) {
  const bool objects =
      std::all_of(desired.begin(), desired.end(), [](const Json& e) { return e.is_object(); });
  if (!objects || desired.empty()) return actual;
  Json out = Json::array();
  const std::string_view key = KeyOf(actual, desired);
  if (key.empty()) {
    if (actual.size() != desired.size()) return actual;
    for (std::size_t i = 0; i < actual.size(); ++i) out.push_back(Project(actual[i], desired[i]));
    return out;
  }
  for (const Json& wanted : desired) {
    const Json* id = Find(wanted, {key});
    for (const Json& element : actual) {
      if (*Find(element, {key}) == *id) out.push_back(Project(element, wanted));
    }
  }
  return out;
}

}  // namespace

Json DesiredBody(Json mailbox_copy, const GroupResource& resource, const Identity& identity) {
  Json body = std::move(mailbox_copy);
  Erase(body, {"status"});
  for (std::string_view field : kServerMetadata) Erase(body, {"metadata", field});
  Erase(body, {"metadata", "annotations", kLastApplied});
  if (StringAt(body, {"kind"}) == "Namespace") Erase(body, {"spec"});
  Set(body, {"metadata", "labels", kSyncedLabel}, identity.LabelValue());
  Set(body, {"metadata", "annotations", kDownsyncedAnnotation}, SelfName(body));
  Set(body, {"metadata", "annotations", kResourceAnnotation}, LaneOf(resource));
  Set(body, {"metadata", "annotations", kOwnerAnnotation}, identity.uid);
  Set(body, {"metadata", "annotations", kOwnerUrlAnnotation}, identity.url);
  Set(body, {"metadata", "annotations", kAppliedAnnotation}, Fingerprint(body));
  return body;
}

Json BareNamespace(const std::string& name) {
  return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
}

void YieldScale(const Json& existing, Json& desired) {
  const Json* managers = Find(existing, {"metadata", "managedFields"});
  if (managers == nullptr || !managers->is_array()) return;
  for (const Json& entry : *managers) {
    const bool scaled = StringAt(entry, {"subresource"}) == "scale" &&
                        Find(entry, {"fieldsV1", "f:spec", "f:replicas"}) != nullptr;
    if (scaled) Erase(desired, {"spec", "replicas"});
  }
}

Json Project(const Json& actual, const Json& desired) {
  if (actual.is_object() && desired.is_object()) {
    Json out = Json::object();
    for (const auto& [name, wanted] : desired.items()) {
      const auto found = actual.find(name);
      if (found != actual.end()) out.emplace(name, Project(*found, wanted));
    }
    return out;
  }
  if (actual.is_array() && desired.is_array()) return ProjectList(actual, desired);
  return actual;
}

std::string Fingerprint(const Json& value) { return HexDigest(DumpJson(value)).substr(0, 16); }

Json MergeDiff(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  Json patch = Json::object();
  for (const auto& [name, unused] : from.items()) {
    if (!to.contains(name)) patch.emplace(name, nullptr);
  }
  for (const auto& [name, wanted] : to.items()) {
    const auto found = from.find(name);
    if (found == from.end()) {
      patch.emplace(name, wanted);
    } else if (*found != wanted) {
      patch.emplace(name, MergeDiff(*found, wanted));
    }
  }
  return patch;
}

}  // namespace mailroom::syncer
