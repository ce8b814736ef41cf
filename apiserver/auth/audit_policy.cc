#include "apiserver/auth/audit_policy.h"

#include <algorithm>
#include <array>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

constexpr std::array<AuditLevel, 4> kLevels = {AuditLevel::kNone, AuditLevel::kMetadata,
                                               AuditLevel::kRequest, AuditLevel::kRequestResponse};
constexpr std::array<AuditStage, 4> kStages = {AuditStage::kRequestReceived,
                                               AuditStage::kResponseStarted,
                                               AuditStage::kResponseComplete, AuditStage::kPanic};

bool Has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

Result<std::vector<AuditStage>> StagesAt(const Json& node) {
  std::vector<AuditStage> out;
  for (const std::string& text : StringsAt(node, {"omitStages"})) {
    auto it = std::find_if(kStages.begin(), kStages.end(),
                           [&](AuditStage stage) { return AuditStageText(stage) == text; });
    if (it == kStages.end()) return BadRequest("audit policy: unknown stage " + Quoted(text));
    out.push_back(*it);
  }
  return out;
}

bool PathMatches(std::string_view pattern, std::string_view path) {
  if (pattern.ends_with('*')) return path.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == path;
}

bool CarriesSecrets(const Attributes& asked) {
  if (!asked.is_resource) return false;
  return asked.resource == "secrets" || asked.resource == "tokenreviews" ||
         asked.subresource == "token" || asked.resource == "tokenrequests";
}

// `pods`, `pods/log`, `pods/*`, `*/scale`, `*`; the parent alone does not cover subresources.
bool ResourceMatches(const std::vector<std::string>& patterns, const Attributes& asked) {
  std::string whole(asked.resource);
  if (!asked.subresource.empty()) whole += "/" + std::string(asked.subresource);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    if (pattern == "*" || pattern == whole) return true;
    const std::size_t slash = pattern.find('/');
    if (slash == std::string::npos || asked.subresource.empty()) return false;
    const std::string_view parent = std::string_view(pattern).substr(0, slash);
    const std::string_view sub = std::string_view(pattern).substr(slash + 1);
    return (parent == "*" || parent == asked.resource) && (sub == "*" || sub == asked.subresource);
  });
}

}  // namespace

std::string_view AuditLevelText(AuditLevel level) {
  switch (level) {
    case AuditLevel::kNone: return "None";
    case AuditLevel::kMetadata: return "Metadata";
    case AuditLevel::kRequest: return "Request";
    case AuditLevel::kRequestResponse: return "RequestResponse";
  }
  return "";
}

std::string_view AuditStageText(AuditStage stage) {
  switch (stage) {
    case AuditStage::kRequestReceived: return "RequestReceived";
    case AuditStage::kResponseStarted: return "ResponseStarted";
    case AuditStage::kResponseComplete: return "ResponseComplete";
    case AuditStage::kPanic: return "Panic";
  }
  return "";
}

bool AuditChoice::Wants(AuditStage stage) const {
  return level != AuditLevel::kNone &&
         std::find(omitted.begin(), omitted.end(), stage) == omitted.end();
}

AuditPolicy::AuditPolicy() {
  Rule everything{};
  everything.level = AuditLevel::kMetadata;
  everything.omitted = {AuditStage::kRequestReceived};
  rules_.push_back(std::move(everything));
}

Result<AuditPolicy> AuditPolicy::Parse(std::string_view text) {
  const Json tree = TRY(ParseYaml(text));
  if (StringAt(tree, {"kind"}) != "Policy" ||
      StringAt(tree, {"apiVersion"}) != "audit.k8s.io/v1") {
    return BadRequest("audit policy: want kind Policy of audit.k8s.io/v1");
  }
  AuditPolicy policy;
  policy.rules_.clear();
  const std::vector<AuditStage> omitted = TRY(StagesAt(tree));
  const Json* rules = Find(tree, {"rules"});
  if (rules == nullptr || !rules->is_array() || rules->empty()) {
    return BadRequest("audit policy: there are no rules");
  }
  for (const Json& entry : *rules) {
    Rule rule{};
    const std::string level = StringAt(entry, {"level"});
    auto it = std::find_if(kLevels.begin(), kLevels.end(),
                           [&](AuditLevel known) { return AuditLevelText(known) == level; });
    if (it == kLevels.end()) return BadRequest("audit policy: unknown level " + Quoted(level));
    rule.level = *it;
    rule.users = StringsAt(entry, {"users"});
    rule.groups = StringsAt(entry, {"userGroups"});
    rule.verbs = StringsAt(entry, {"verbs"});
    rule.namespaces = StringsAt(entry, {"namespaces"});
    rule.urls = StringsAt(entry, {"nonResourceURLs"});
    rule.workspaces = StringsAt(entry, {"workspaces"});
    rule.omitted = TRY(StagesAt(entry));
    rule.omitted.insert(rule.omitted.end(), omitted.begin(), omitted.end());
    rule.omit_managed_fields =
        BoolAt(entry, {"omitManagedFields"}, BoolAt(tree, {"omitManagedFields"}));
    const Json* resources = Find(entry, {"resources"});
    if (resources != nullptr && resources->is_array()) {
      for (const Json& one : *resources) {
        rule.resources.push_back({StringAt(one, {"group"}), StringsAt(one, {"resources"}),
                                  StringsAt(one, {"resourceNames"})});
      }
    }
    policy.rules_.push_back(std::move(rule));
  }
  return policy;
}

bool AuditPolicy::Matches(const Rule& rule, const User& user, const Attributes& asked) {
  if (!rule.users.empty() && !Has(rule.users, user.name)) return false;
  if (!rule.groups.empty() &&
      std::none_of(rule.groups.begin(), rule.groups.end(),
                   [&](const std::string& group) { return user.InGroup(group); })) {
    return false;
  }
  if (!rule.verbs.empty() && !Has(rule.verbs, asked.verb)) return false;
  if (!rule.workspaces.empty() && !Has(rule.workspaces, asked.workspace)) return false;
  if (rule.namespaces.empty() && rule.resources.empty() && rule.urls.empty()) return true;
  if (!asked.is_resource) {
    return std::any_of(rule.urls.begin(), rule.urls.end(), [&](const std::string& pattern) {
      return PathMatches(pattern, asked.path);
    });
  }
  if (!rule.namespaces.empty() && !Has(rule.namespaces, asked.ns)) return false;
  if (rule.resources.empty()) return !rule.namespaces.empty();
  return std::any_of(rule.resources.begin(), rule.resources.end(), [&](const Resources& one) {
    return one.group == asked.group &&
           (one.resources.empty() || ResourceMatches(one.resources, asked)) &&
           (one.names.empty() || Has(one.names, asked.name));
  });
}

AuditChoice AuditPolicy::Choose(const User& user, const Attributes& asked) const {
  for (const Rule& rule : rules_) {
    if (!Matches(rule, user, asked)) continue;
    AuditChoice choice{rule.level, rule.omitted, rule.omit_managed_fields};
    if (choice.level > AuditLevel::kMetadata && CarriesSecrets(asked)) {
      choice.level = AuditLevel::kMetadata;
    }
    return choice;
  }
  return {};
}

}  // namespace mailroom::apiserver
