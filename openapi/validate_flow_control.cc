#include "openapi/validate_flow_control.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "openapi/builtin.h"
#include "openapi/validate_internal.h"
#include "openapi/validate_names.h"
#include "openapi/validate_pods.h"

namespace mailroom::openapi {
namespace {

constexpr std::int64_t kLastPrecedence = 10000;
constexpr std::int64_t kMostQueues = 10'000'000;
constexpr int kHashBits = 60;

using Strings = std::vector<std::string>;

bool Has(const Strings& items, std::string_view wanted) {
  return std::find(items.begin(), items.end(), wanted) != items.end();
}

// `*` stands alone. Whether the list is to be looked at further.
bool CheckList(const BuiltinCheck& check, const Strings& items, const std::string& field,
               const std::string& missing, const std::string& what) {
  if (items.empty()) {
    check.Required(field, missing);
    return false;
  }
  if (!Has(items, "*")) return true;
  if (items.size() > 1) check.Invalid(field, items, "if '*' is present, must not specify other " + what);
  return false;
}

void CheckVerbs(const BuiltinCheck& check, const Json& rule, const std::string& path) {
  static const Strings kVerbs = {"create", "delete", "deletecollection", "get",  "list",
                                 "patch",  "proxy",  "update",           "watch"};
  const Strings verbs = StringsAt(rule, {"verbs"});
  const std::string field = path + ".verbs";
  if (!CheckList(check, verbs, field, "verbs must contain at least one value", "verbs")) return;
  const auto known = [](const std::string& verb) { return Has(kVerbs, verb); };
  if (!std::all_of(verbs.begin(), verbs.end(), known)) {
    check.causes.push_back(NotSupported(field, verbs, kVerbs));
  }
}

void CheckResourceRule(const BuiltinCheck& check, const Json& rule, const std::string& path) {
  CheckVerbs(check, rule, path);
  CheckList(check, StringsAt(rule, {"apiGroups"}), path + ".apiGroups",
            "resource rules must supply at least one api group", "api groups");
  CheckList(check, StringsAt(rule, {"resources"}), path + ".resources",
            "resource rules must supply at least one resource", "resources");
  const Strings namespaces = StringsAt(rule, {"namespaces"});
  const std::string field = path + ".namespaces";
  if (namespaces.empty() && BoolAt(rule, {"clusterScope"})) return;
  if (!CheckList(check, namespaces, field,
                 "resource rules that are not cluster scoped must supply at least one namespace",
                 "namespaces")) {
    return;
  }
  for (std::size_t i = 0; i < namespaces.size() && !check.causes.full(); ++i) {
    for (const std::string& why : CheckLabel(namespaces[i])) {
      check.Invalid(Indexed(field, i), namespaces[i],
                    "each member of this list must be '*' or a DNS-1123 label; " + why);
    }
  }
}

std::string UrlFault(const std::string& url) {
  if (url.empty()) return "must not be empty";
  if (url == "/") return "";
  if (url[0] != '/') return "must start with slash";
  if (url.find(' ') != std::string::npos) return "must not contain white-space";
  if (url.find("//") != std::string::npos) return "must not contain double slash";
  const auto stars = std::count(url.begin(), url.end(), '*');
  if (stars > 1 || (stars == 1 && !url.ends_with("/*"))) return "wildcard can only do suffix matching";
  return "";
}

void CheckUrlRule(const BuiltinCheck& check, const Json& rule, const std::string& path) {
  CheckVerbs(check, rule, path);
  const Strings urls = StringsAt(rule, {"nonResourceURLs"});
  const std::string field = path + ".nonResourceURLs";
  if (!CheckList(check, urls, field, "nonResourceURLs must contain at least one value",
                 "non-resource URLs")) {
    return;
  }
  for (std::size_t i = 0; i < urls.size() && !check.causes.full(); ++i) {
    const std::string fault = UrlFault(urls[i]);
    if (!fault.empty()) check.Invalid(Indexed(field, i), urls[i], fault);
  }
}

// Kinds of subjects, and the member of each.
constexpr std::pair<const char*, const char*> kSubjects[] = {
    {"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}};

void CheckSubjectMember(const BuiltinCheck& check, const Json& subject, const std::string& kind,
                        const std::string& member, const std::string& path) {
  const std::string field = path + "." + member;
  const Json* found = Find(subject, {member});
  if (found == nullptr) {
    return check.Required(field, member + " is required when subject kind is '" + kind + "'");
  }
  const std::string name = StringAt(*found, {"name"});
  if (name.empty()) check.Required(field + ".name");
  if (kind != "ServiceAccount") return;
  if (!name.empty() && name != "*") {
    AddInvalid(check.causes, field + ".name", name, CheckSubdomain(name));
  }
  const std::string home = StringAt(*found, {"namespace"});
  if (home.empty()) {
    check.Required(field + ".namespace", "must specify namespace for service account");
  } else {
    AddInvalid(check.causes, field + ".namespace", home, CheckLabel(home));
  }
}

void CheckSubject(const BuiltinCheck& check, const Json& subject, const std::string& path) {
  const std::string kind = StringAt(subject, {"kind"});
  const auto* own = std::find_if(std::begin(kSubjects), std::end(kSubjects),
                                 [&](const auto& each) { return kind == each.first; });
  if (own == std::end(kSubjects)) {
    return check.causes.push_back(
        NotSupported(path + ".kind", kind, {"Group", "ServiceAccount", "User"}));
  }
  CheckSubjectMember(check, subject, kind, own->second, path);
  for (const auto& other : kSubjects) {
    if (&other == own || Find(subject, {other.second}) == nullptr) continue;
    const std::string member = other.second;
    check.Forbidden(path + "." + member,
                    member + " is forbidden when subject kind is not '" + other.first + "'");
  }
}

void CheckRule(const BuiltinCheck& check, const Json& rule, const std::string& path) {
  const Json& subjects = ArrayAt(rule, {"subjects"});
  if (subjects.empty()) check.Required(path + ".subjects", "subjects must contain at least one value");
  for (std::size_t i = 0; i < subjects.size() && !check.causes.full(); ++i) {
    CheckSubject(check, subjects[i], Indexed(path + ".subjects", i));
  }
  const Json& resources = ArrayAt(rule, {"resourceRules"});
  const Json& urls = ArrayAt(rule, {"nonResourceRules"});
  if (resources.empty() && urls.empty()) {
    check.Required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  for (std::size_t i = 0; i < resources.size() && !check.causes.full(); ++i) {
    CheckResourceRule(check, resources[i], Indexed(path + ".resourceRules", i));
  }
  for (std::size_t i = 0; i < urls.size() && !check.causes.full(); ++i) {
    CheckUrlRule(check, urls[i], Indexed(path + ".nonResourceRules", i));
  }
}

void CheckSchemaSpec(const BuiltinCheck& check, const Json& spec) {
  const std::int64_t precedence = IntAt(spec, {"matchingPrecedence"});
  const std::string field = "spec.matchingPrecedence";
  if (precedence <= 0) check.Invalid(field, precedence, "must be a positive value");
  if (precedence > kLastPrecedence) {
    check.Invalid(field, precedence, "must not be greater than 10000");
  }
  if (precedence == 1 && StringAt(check.object, {"metadata", "name"}) != "exempt") {
    check.Invalid(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
  const Json* method = Find(spec, {"distinguisherMethod"});
  const std::string type = method == nullptr ? "ByUser" : StringAt(*method, {"type"});
  if (type != "ByUser" && type != "ByNamespace") {
    check.causes.push_back(UnsupportedValue(
        "spec.distinguisherMethod.type",
        InternalText(*BuiltinType("flowcontrol/v1.FlowDistinguisherMethod"), method),
        {"ByNamespace", "ByUser"}));
  }
  const std::string level = StringAt(spec, {"priorityLevelConfiguration", "name"});
  const std::string home = "spec.priorityLevelConfiguration.name";
  if (level.empty()) {
    check.Required(home, "must reference a priority level");
  } else {
    AddInvalid(check.causes, home, level, CheckSubdomain(level));
  }
  const Json& rules = ArrayAt(spec, {"rules"});
  for (std::size_t i = 0; i < rules.size() && !check.causes.full(); ++i) {
    CheckRule(check, rules[i], Indexed("spec.rules", i));
  }
}

void CheckConditions(const BuiltinCheck& check) {
  const Json& conditions = ArrayAt(check.object, {"status", "conditions"});
  std::set<std::string> known;
  for (std::size_t i = 0; i < conditions.size() && !check.causes.full(); ++i) {
    const std::string type = StringAt(conditions[i], {"type"});
    const std::string field = Indexed("status.conditions", i) + ".type";
    if (!known.insert(type).second) check.causes.push_back(DuplicateValue(field, Quoted(type)));
    if (type.empty()) check.Required(field);
  }
}

void CheckShares(const BuiltinCheck& check, const Json& part, const std::string& path) {
  const std::int64_t shares = IntAt(part, {"nominalConcurrencyShares"});
  if (shares < 0) {
    check.Invalid(path + ".nominalConcurrencyShares", shares, "must be a non-negative integer");
  }
}

void CheckLendable(const BuiltinCheck& check, const Json& part, const std::string& path) {
  const std::int64_t percent = IntAt(part, {"lendablePercent"});
  if (percent >= 0 && percent <= 100) return;
  check.Invalid(path + ".lendablePercent", percent, "must be between 0 and 100, inclusive");
}

void CheckQueuing(const BuiltinCheck& check, const Json& queuing, const std::string& path) {
  const std::int64_t length = IntAt(queuing, {"queueLengthLimit"});
  if (length <= 0) check.Invalid(path + ".queueLengthLimit", length, "must be positive");
  const std::int64_t queues = IntAt(queuing, {"queues"});
  if (queues <= 0) {
    check.Invalid(path + ".queues", queues, "must be positive");
  } else if (queues > kMostQueues) {
    check.Invalid(path + ".queues", queues, "must not be greater than 10000000");
  }
  const std::int64_t hand = IntAt(queuing, {"handSize"});
  const std::string field = path + ".handSize";
  if (hand <= 0) return check.Invalid(field, hand, "must be positive");
  if (hand > queues) {
    return check.Invalid(field, hand,
                         "should not be greater than queues (" + std::to_string(queues) + ")");
  }
  const double bits =
      std::ceil(std::log2(static_cast<double>(queues)) * static_cast<double>(hand));
  if (bits <= kHashBits) return;
  check.Invalid(field, hand,
                "required entropy bits of deckSize " + std::to_string(queues) + " and handSize " +
                    std::to_string(hand) + " should not be greater than 60");
}

void CheckResponse(const BuiltinCheck& check, const Json& limited, const std::string& path) {
  const std::string type = StringAt(limited, {"limitResponse", "type"});
  const Json* queuing = Find(limited, {"limitResponse", "queuing"});
  if (type == "Reject") {
    if (queuing == nullptr) return;
    check.Forbidden(path + ".queuing", "must be nil if limited.limitResponse.type is not Limited");
  } else if (type == "Queue") {
    if (queuing != nullptr) return CheckQueuing(check, *queuing, path + ".queuing");
    check.Required(path + ".queuing", "must not be empty if limited.limitResponse.type is Limited");
  } else if (type.empty()) {
    check.Required(path + ".type");
  } else {
    check.causes.push_back(NotSupported(path + ".type", type, {"Queue", "Reject"}));
  }
}

void CheckLimited(const BuiltinCheck& check, const Json& limited) {
  const std::string path = "spec.limited";
  CheckShares(check, limited, path);
  CheckResponse(check, limited, path + ".limitResponse");
  CheckLendable(check, limited, path);
  const std::int64_t borrowed = IntAt(limited, {"borrowingLimitPercent"});
  if (borrowed >= 0) return;
  check.Invalid(path + ".borrowingLimitPercent", borrowed,
                "if specified, must be a non-negative integer");
}

void CheckLevelSpec(const BuiltinCheck& check, const Json& spec) {
  const std::string type = StringAt(spec, {"type"});
  const Json *limited = Find(spec, {"limited"}), *exempt = Find(spec, {"exempt"});
  if ((StringAt(check.object, {"metadata", "name"}) == "exempt") != (type == "Exempt")) {
    check.Invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'");
  }
  if (type == "Exempt") {
    if (limited != nullptr) check.Forbidden("spec.limited", "must be nil if the type is not Limited");
    if (exempt == nullptr) return;
    CheckShares(check, *exempt, "spec.exempt");
    CheckLendable(check, *exempt, "spec.exempt");
  } else if (type == "Limited") {
    if (exempt != nullptr) check.Forbidden("spec.exempt", "must be nil if the type is Limited");
    if (limited != nullptr) return CheckLimited(check, *limited);
    check.Required("spec.limited", "must not be empty when type is Limited");
  } else if (type.empty()) {
    check.Required("spec.type");
  } else {
    check.causes.push_back(NotSupported("spec.type", type, {"Exempt", "Limited"}));
  }
}

const Json& SpecOf(const Json& object) {
  static const Json kEmpty = Json::object();
  const Json* spec = Find(object, {"spec"});
  return spec != nullptr ? *spec : kEmpty;
}

}  // namespace

Json MandatoryFlowSpec(std::string_view kind, std::string_view name) {
  const bool exempt = name == "exempt";
  if (!exempt && name != "catch-all") return nullptr;
  if (kind == "PriorityLevelConfiguration") {
    if (exempt) {
      return {{"type", "Exempt"},
              {"exempt", {{"nominalConcurrencyShares", 0}, {"lendablePercent", 0}}}};
    }
    return {{"type", "Limited"},
            {"limited",
             {{"nominalConcurrencyShares", 5},
              {"lendablePercent", 0},
              {"limitResponse", {{"type", "Reject"}}}}}};
  }
  const Strings groups = exempt ? Strings{"system:masters"}
                                : Strings{"system:unauthenticated", "system:authenticated"};
  Json subjects = Json::array();
  for (const std::string& group : groups) {
    subjects.push_back({{"kind", "Group"}, {"group", {{"name", group}}}});
  }
  const Json all = Json::array({"*"});
  Json spec = {{"priorityLevelConfiguration", {{"name", name}}},
               {"matchingPrecedence", exempt ? 1 : 10000},
               {"rules",
                Json::array({{{"subjects", std::move(subjects)},
                              {"resourceRules", Json::array({{{"verbs", all},
                                                              {"apiGroups", all},
                                                              {"resources", all},
                                                              {"clusterScope", true},
                                                              {"namespaces", all}}})},
                              {"nonResourceRules",
                               Json::array({{{"verbs", all}, {"nonResourceURLs", all}}})}}})}};
  if (!exempt) spec["distinguisherMethod"] = {{"type", "ByUser"}};
  return spec;
}

void CheckFlowSchema(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckConditions(check);
  const std::string name = StringAt(check.object, {"metadata", "name"});
  const Json& spec = SpecOf(check.object);
  CheckSchemaSpec(check, spec);
  const Json wanted = MandatoryFlowSpec("FlowSchema", name);
  const std::string_view type = "flowcontrol/v1.FlowSchemaSpec";
  if (!wanted.is_null() && !IsSameValue(*BuiltinType(type), &spec, &wanted)) {
    InvalidInternal(check, "spec", type, &spec, "spec of '" + name + "' must equal the fixed value");
  }
}

void CheckPriorityLevel(const BuiltinCheck& check) {
  if (check.subresource == "status") return CheckConditions(check);
  const std::string roundtrip = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
  if (Find(check.object, {"metadata", "annotations", roundtrip}) != nullptr) {
    check.Forbidden("metadata.annotations", "annotation '" + roundtrip + "' is forbidden");
  }
  const std::string name = StringAt(check.object, {"metadata", "name"});
  const Json& spec = SpecOf(check.object);
  CheckLevelSpec(check, spec);
  Json wanted = MandatoryFlowSpec("PriorityLevelConfiguration", name);
  if (wanted.is_null()) return;
  std::string free;
  if (name == "exempt") {
    Erase(wanted, {"exempt"});
    if (const Json* exempt = Find(spec, {"exempt"})) wanted["exempt"] = *exempt;
    free = " except the 'spec.exempt' field";
  }
  const std::string_view type = "flowcontrol/v1.PriorityLevelConfigurationSpec";
  if (IsSameValue(*BuiltinType(type), &spec, &wanted)) return;
  InvalidInternal(check, "spec", type, &spec,
                  "spec of '" + name + "'" + free + " must equal the fixed value");
}

}  // namespace mailroom::openapi
