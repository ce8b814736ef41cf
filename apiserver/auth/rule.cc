#include "apiserver/auth/rule.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/status.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kAll = "*";

bool Has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool HasOrAll(const std::vector<std::string>& list, std::string_view text) {
  return Has(list, kAll) || Has(list, text);
}

bool ResourceMatches(const Rule& rule, std::string_view resource, std::string_view subresource) {
  for (const std::string& entry : rule.resources) {
    if (entry == kAll) return true;
    if (subresource.empty()) {
      if (entry == resource) return true;
      continue;
    }
    const std::string_view text = entry;
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || text.substr(slash + 1) != subresource) continue;
    const std::string_view parent = text.substr(0, slash);
    if (parent == kAll || parent == resource) return true;
  }
  return false;
}

}  // namespace

bool PathCovers(std::string_view pattern, std::string_view path) {
  if (pattern == kAll || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
}

Rules ParseRules(const Json& rules) {
  Rules out;
  if (!rules.is_array()) return out;
  out.reserve(rules.size());
  for (const Json& rule : rules) {
    out.push_back({StringsAt(rule, {"verbs"}), StringsAt(rule, {"apiGroups"}),
                   StringsAt(rule, {"resources"}), StringsAt(rule, {"resourceNames"}),
                   StringsAt(rule, {"nonResourceURLs"})});
  }
  return out;
}

RulesPtr ShareRules(std::string_view text) {
  static std::mutex mutex;
  static auto* shared = new std::unordered_map<std::string, std::weak_ptr<const Rules>>();
  std::lock_guard lock(mutex);
  auto& slot = (*shared)[std::string(text)];
  if (RulesPtr known = slot.lock()) return known;
  const auto tree = ParseJson(text);
  auto rules = std::make_shared<const Rules>(tree.ok() ? ParseRules(*tree) : Rules());
  slot = rules;
  static std::size_t sweep_at = limits::kSharedRules;
  if (shared->size() > sweep_at) {
    std::erase_if(*shared, [](const auto& entry) { return entry.second.expired(); });
    sweep_at = std::max(limits::kSharedRules, 2 * shared->size());
  }
  return rules;
}

Json RuleToJson(const Rule& rule) {
  Json out = {{"verbs", rule.verbs}};
  if (!rule.groups.empty()) out["apiGroups"] = rule.groups;
  if (!rule.resources.empty()) out["resources"] = rule.resources;
  if (!rule.names.empty()) out["resourceNames"] = rule.names;
  if (!rule.urls.empty()) out["nonResourceURLs"] = rule.urls;
  return out;
}

bool Allows(const Rule& rule, const Attributes& asked) {
  if (!HasOrAll(rule.verbs, asked.verb)) return false;
  if (!asked.is_resource) {
    return std::any_of(rule.urls.begin(), rule.urls.end(), [&](const std::string& pattern) {
      return PathCovers(pattern, asked.path);
    });
  }
  return HasOrAll(rule.groups, asked.group) &&
         ResourceMatches(rule, asked.resource, asked.subresource) &&
         (rule.names.empty() || Has(rule.names, asked.name));
}

std::string QuotedList(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? " " : "") + Quoted(text);
  return out + "]";
}

std::string CompactText(const Rule& rule) {
  std::string out;
  auto add = [&](std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    out += (out.empty() ? "" : ", ") + std::string(name) + ":" + QuotedList(values);
  };
  add("APIGroups", rule.groups);
  add("Resources", rule.resources);
  add("NonResourceURLs", rule.urls);
  add("ResourceNames", rule.names);
  add("Verbs", rule.verbs);
  return "{" + out + "}";
}

}  // namespace mailroom::apiserver
