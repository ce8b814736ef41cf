// Defaults, names and conditions of the definition object.
#include <algorithm>

#include "openapi/crd.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

Json* FindCondition(Json& crd, std::string_view type) {
  Json* conditions = Find(crd, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  for (Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

std::string ConditionStatus(const Json& crd, std::string_view type) {
  const Json* conditions = Find(crd, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return "";
  for (const Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == type) return StringAt(condition, {"status"});
  }
  return "";
}

struct ConditionText {
  std::string_view type, status, reason;
  std::string message;
};

// The transition time moves only when the status does.
void SetCondition(Json& crd, const ConditionText& text, const std::string& now) {
  Json* condition = FindCondition(crd, text.type);
  if (condition == nullptr) {
    Json* list = Find(crd, {"status", "conditions"});
    if (list == nullptr || !list->is_array()) {
      list = &Set(crd, {"status", "conditions"}, Json::array());
    }
    list->push_back({{"type", text.type}});
    condition = &list->back();
  }
  if (StringAt(*condition, {"status"}) != text.status) {
    Set(*condition, {"lastTransitionTime"}, now);
  }
  Set(*condition, {"status"}, text.status);
  Set(*condition, {"reason"}, text.reason);
  Set(*condition, {"message"}, text.message);
}

template <typename Text>
bool Contains(const std::vector<Text>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Decides each wished name against those in use; what is free becomes accepted.
class NameClaim {
 public:
  NameClaim(Json& crd, const TakenNames& taken) : crd_(crd), taken_(taken) {}

  ConditionText Decide() {
    Single("plural", "PluralConflict", &NameClaim::ResourceTaken);
    Single("singular", "SingularConflict", &NameClaim::ResourceTaken);
    ShortNames();
    Single("kind", "KindConflict", &NameClaim::KindTaken);
    Single("listKind", "ListKindConflict", &NameClaim::KindTaken);
    if (const Json* categories = Find(crd_, {"spec", "names", "categories"})) {
      const Json copy = *categories;
      Set(crd_, {"status", "acceptedNames", "categories"}, copy);
    } else {
      Erase(crd_, {"status", "acceptedNames", "categories"});
    }
    if (!reason_.empty()) return {"NamesAccepted", "False", reason_, message_};
    return {"NamesAccepted", "True", "NoConflicts", "no conflicts found"};
  }

 private:
  bool ResourceTaken(const std::string& name) const {
    return Contains(taken_.plurals, name) || Contains(taken_.singulars, name) ||
           Contains(taken_.short_names, name);
  }
  bool KindTaken(const std::string& name) const {
    return Contains(taken_.kinds, name) || Contains(taken_.list_kinds, name);
  }

  void Single(std::string_view member, std::string_view conflict,
              bool (NameClaim::*is_taken)(const std::string&) const) {
    const std::string wished = StringAt(crd_, {"spec", "names", member});
    const std::string accepted = StringAt(crd_, {"status", "acceptedNames", member});
    if (wished != accepted && (this->*is_taken)(wished)) {
      reason_ = conflict;
      message_ = Quoted(wished) + " is already in use";
    } else if (!wished.empty()) {
      Set(crd_, {"status", "acceptedNames", member}, wished);
    }
  }

  void ShortNames() {
    const auto wished = StringsAt(crd_, {"spec", "names", "shortNames"});
    const auto accepted = StringsAt(crd_, {"status", "acceptedNames", "shortNames"});
    std::vector<std::string> conflicts;
    for (const std::string& name : wished) {
      if (!Contains(accepted, name) && ResourceTaken(name)) {
        conflicts.push_back(Quoted(name) + " is already in use");
      }
    }
    if (conflicts.empty()) {
      if (wished.empty()) {
        Erase(crd_, {"status", "acceptedNames", "shortNames"});
      } else {
        Set(crd_, {"status", "acceptedNames", "shortNames"}, wished);
      }
      return;
    }
    reason_ = "ShortNamesConflict";
    message_ = conflicts.front();
    for (std::size_t i = 1; i < conflicts.size(); ++i) message_ += ", " + conflicts[i];
    if (conflicts.size() > 1) message_ = "[" + message_ + "]";
  }

  Json& crd_;
  const TakenNames& taken_;
  std::string_view reason_;
  std::string message_;
};

void AddStoredVersion(Json& crd) {
  const Json* versions = Find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return;
  std::vector<std::string> stored = StringsAt(crd, {"status", "storedVersions"});
  for (const Json& version : *versions) {
    const std::string name = StringAt(version, {"name"});
    if (BoolAt(version, {"storage"}) && !Contains(stored, name)) stored.push_back(name);
  }
  Set(crd, {"status", "storedVersions"}, stored);
}

void SetApproval(Json& crd, const std::string& now) {
  constexpr std::string_view kType = "KubernetesAPIApprovalPolicyConformant";
  if (!IsProtectedGroup(StringAt(crd, {"spec", "group"}))) return;
  const std::string approval = StringAt(crd, {"metadata", "annotations", kApprovalAnnotation});
  if (approval.empty()) {
    SetCondition(crd,
                 {kType, "False", "MissingAnnotation",
                  "protected groups must have approval annotation " + Quoted(kApprovalAnnotation) +
                      ", see https://github.com/kubernetes/enhancements/pull/1111"},
                 now);
  } else if (approval.starts_with("unapproved")) {
    SetCondition(crd, {kType, "False", "UnapprovedAnnotation", "not approved: " + approval}, now);
  } else {
    SetCondition(crd, {kType, "True", "ApprovedAnnotation", "approved in " + approval}, now);
  }
}

}  // namespace

bool IsProtectedGroup(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

void DefaultCrd(Json& crd) {
  const std::string kind = StringAt(crd, {"spec", "names", "kind"});
  if (!kind.empty()) {
    if (StringAt(crd, {"spec", "names", "singular"}).empty()) {
      Set(crd, {"spec", "names", "singular"}, LowerCase(kind));
    }
    if (StringAt(crd, {"spec", "names", "listKind"}).empty()) {
      Set(crd, {"spec", "names", "listKind"}, kind + "List");
    }
  }
  if (Find(crd, {"spec"}) == nullptr) return;
  if (Find(crd, {"spec", "conversion"}) == nullptr) {
    Set(crd, {"spec", "conversion", "strategy"}, "None");
  }
  Json* service = Find(crd, {"spec", "conversion", "webhook", "clientConfig", "service"});
  if (service != nullptr && service->is_object() && Find(*service, {"port"}) == nullptr) {
    Set(*service, {"port"}, 443);
  }
  if (StringsAt(crd, {"status", "storedVersions"}).empty()) AddStoredVersion(crd);
}

void EstablishCrd(Json& crd, const TakenNames& taken, const std::string& now) {
  AddStoredVersion(crd);
  const ConditionText names = NameClaim(crd, taken).Decide();
  SetCondition(crd, names, now);
  SetApproval(crd, now);
  if (ConditionStatus(crd, "Established") == "True") return;
  if (names.status == "True" && !HasValidBundle(crd)) {
    SetCondition(crd,
                 {"Established", "False", "InvalidCABundle",
                  "The conversion webhook CABundle is invalid"},
                 now);
  } else if (names.status == "True") {
    SetCondition(
        crd,
        {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"},
        now);
  } else {
    SetCondition(crd, {"Established", "False", "NotAccepted", "not all names are accepted"}, now);
  }
}

void TerminateCrd(Json& crd, const std::string& now) {
  SetCondition(crd,
               {"Terminating", "True", "InstanceDeletionInProgress",
                "CustomResource deletion is in progress"},
               now);
}

bool IsEstablished(const Json& crd) { return ConditionStatus(crd, "Established") == "True"; }

bool IsTerminating(const Json& crd) { return ConditionStatus(crd, "Terminating") == "True"; }

}  // namespace mailroom::openapi
