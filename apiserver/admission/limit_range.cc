#include "apiserver/admission/limit_range.h"

#include <cstdio>

#include "apiserver/admission/resource_list.h"
#include "openapi/normalize_quantity.h"
#include "openapi/validate_builtin.h"

namespace mailroom::admission {
namespace {

using openapi::ArrayAt;
using openapi::CompareQuantities;

constexpr const char* kAnnotation = "kubernetes.io/limit-ranger";

// What one container, pod or claim asks for, and the limit that is applied to it.
struct Subject {
  const std::string& type;  // Container, Pod, PersistentVolumeClaim
  const ResourceList& requests;
  const ResourceList& limits;
  std::vector<std::string>& problems;

  void Say(std::string text) const { problems.push_back(std::move(text)); }
};

const std::string* At(const ResourceList& list, const std::string& name) {
  auto it = list.find(name);
  return it == list.end() ? nullptr : &it->second;
}

void CheckMin(const Subject& subject, const std::string& name, const std::string& least) {
  const std::string head =
      "minimum " + name + " usage per " + subject.type + " is " + least;
  const std::string* request = At(subject.requests, name);
  const std::string* limit = At(subject.limits, name);
  if (request == nullptr) {
    subject.Say(head + ".  No request is specified");
  } else if (CompareQuantities(*request, least) < 0) {
    subject.Say(head + ", but request is " + *request);
  } else if (limit != nullptr && CompareQuantities(*limit, least) < 0) {
    subject.Say(head + ", but limit is " + *limit);
  }
}

void CheckMax(const Subject& subject, const std::string& name, const std::string& most) {
  const std::string head = "maximum " + name + " usage per " + subject.type + " is " + most;
  const std::string* request = At(subject.requests, name);
  const std::string* limit = At(subject.limits, name);
  if (subject.type == "PersistentVolumeClaim") {
    if (request == nullptr) {
      subject.Say(head + ".  No request is specified");
    } else if (CompareQuantities(*request, most) > 0) {
      subject.Say(head + ", but request is " + *request);
    }
  } else if (limit == nullptr) {
    subject.Say(head + ".  No limit is specified");
  } else if (CompareQuantities(*limit, most) > 0) {
    subject.Say(head + ", but limit is " + *limit);
  } else if (request != nullptr && CompareQuantities(*request, most) > 0) {
    subject.Say(head + ", but request is " + *request);
  }
}

void CheckRatio(const Subject& subject, const std::string& name, const std::string& most) {
  const std::string head =
      name + " max limit to request ratio per " + subject.type + " is " + most + ", but ";
  const std::string* request = At(subject.requests, name);
  const std::string* limit = At(subject.limits, name);
  if (request == nullptr || CompareQuantities(*request, "0") == 0) {
    return subject.Say(head + "no request is specified or request is 0");
  }
  if (limit == nullptr || CompareQuantities(*limit, "0") == 0) {
    return subject.Say(head + "no limit is specified or limit is 0");
  }
  const auto amount = [](const std::string& text) {
    return static_cast<double>(openapi::QuantityMillis(text).value_or(0));
  };
  const double ratio = amount(*limit) / amount(*request);
  if (ratio * 1000 <= amount(most)) return;
  char text[64];
  std::snprintf(text, sizeof text, "%f", ratio);
  subject.Say(head + "provided ratio is " + text);
}

void CheckItem(const Subject& subject, const Json& item) {
  for (const auto& [name, least] : ListAt(item, {"min"})) CheckMin(subject, name, least);
  for (const auto& [name, most] : ListAt(item, {"max"})) CheckMax(subject, name, most);
  if (subject.type == "PersistentVolumeClaim") return;
  for (const auto& [name, most] : ListAt(item, {"maxLimitRequestRatio"})) {
    CheckRatio(subject, name, most);
  }
}

void CheckPodAgainst(const Json& item, const std::string& type, const Json& pod,
                     std::vector<std::string>& problems) {
  if (type == "Pod") {
    const ResourceList requests = PodTotal(pod, "requests", Overhead::kIgnored);
    const ResourceList limits = PodTotal(pod, "limits", Overhead::kIgnored);
    return CheckItem({type, requests, limits, problems}, item);
  }
  if (type != "Container") return;
  for (const char* member : {"containers", "initContainers"}) {
    for (const Json& container : ArrayAt(pod, {"spec", member})) {
      const ResourceList requests = ListAt(container, {"resources", "requests"});
      const ResourceList limits = ListAt(container, {"resources", "limits"});
      CheckItem({type, requests, limits, problems}, item);
    }
  }
}

// `cpu, memory request for container x`, or "" when nothing was left open.
std::string Fill(Json& container, const char* part, const char* word, const ResourceList& defaults,
                 const std::string& what) {
  std::string names;
  for (const auto& [name, value] : defaults) {
    if (Find(container, {"resources", part, name}) != nullptr) continue;
    Set(container, {"resources", part, name}, value);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) return "";
  return names + " " + word + " for " + what + " " + StringAt(container, {"name"});
}

// As Go prints several errors: each once, in brackets when there is more than one.
std::string Joined(const std::vector<std::string>& problems) {
  std::vector<std::string> once;
  for (const std::string& problem : problems) {
    if (std::find(once.begin(), once.end(), problem) == once.end()) once.push_back(problem);
  }
  if (once.size() == 1) return once.front();
  std::string out;
  for (const std::string& problem : once) out += (out.empty() ? "[" : ", ") + problem;
  return out.empty() ? "" : out + "]";
}

}  // namespace

bool LimitsApply(const Attributes& attributes) {
  if (!attributes.type->gvk.group.empty() || attributes.operation == Operation::kDelete)
    return false;
  const std::string& plural = attributes.type->plural;
  const bool resize = plural == "pods" && attributes.subresource == "resize";
  if (!attributes.subresource.empty() && !resize) return false;
  if (plural == "pods" && !resize) return attributes.operation == Operation::kCreate;
  if (plural != "pods" && plural != "persistentvolumeclaims") return false;
  return attributes.old == nullptr ||
         Find(*attributes.old, {"metadata", "deletionTimestamp"}) == nullptr;
}

bool ApplyLimitDefaults(const Json& limit_range, Json& pod) {
  ResourceList requests, limits;
  for (const Json& item : ArrayAt(limit_range, {"spec", "limits"})) {
    if (StringAt(item, {"type"}) != "Container") continue;
    for (auto& [name, value] : ListAt(item, {"defaultRequest"})) requests[name] = value;
    for (auto& [name, value] : ListAt(item, {"default"})) limits[name] = value;
  }
  std::string notes;
  auto note = [&](const std::string& text) {
    if (!text.empty()) notes += (notes.empty() ? "" : "; ") + text;
  };
  for (const char* member : {"containers", "initContainers"}) {
    Json* containers = Find(pod, {"spec", member});
    if (containers == nullptr || !containers->is_array()) continue;
    const std::string what =
        std::string_view(member) == "containers" ? "container" : "init container";
    for (Json& container : *containers) {
      note(Fill(container, "requests", "request", requests, what));
      note(Fill(container, "limits", "limit", limits, what));
    }
  }
  if (notes.empty()) return false;
  Set(pod, {"metadata", "annotations", kAnnotation}, "LimitRanger plugin set: " + notes);
  return true;
}

std::string CheckLimits(const Json& limit_range, const openapi::ResourceType& type,
                        const Json& object) {
  std::vector<std::string> problems;
  for (const Json& item : ArrayAt(limit_range, {"spec", "limits"})) {
    const std::string kind = StringAt(item, {"type"});
    if (type.plural == "pods") {
      CheckPodAgainst(item, kind, object, problems);
    } else if (kind == "PersistentVolumeClaim") {
      const ResourceList requests = ListAt(object, {"spec", "resources", "requests"});
      CheckItem({kind, requests, {}, problems}, item);
    }
  }
  return Joined(problems);
}

}  // namespace mailroom::admission
