#include "apiserver/auth/rule.h"

#include <algorithm>
#include <map>
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

// `pattern` is a path, `*`, or a prefix followed by `*`.
bool PathCovers(std::string_view pattern, std::string_view path) {
  if (pattern == kAll || pattern == path) return true;
  return pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1));
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

// Whether `owner` covers a rule with one verb and at most one group, resource, name or URL.
bool CoversOne(const Rule& owner, const Rule& one) {
  if (!HasOrAll(owner.verbs, one.verbs.front())) return false;
  if (!one.urls.empty()) {
    return std::any_of(owner.urls.begin(), owner.urls.end(), [&](const std::string& pattern) {
      return PathCovers(pattern, one.urls.front());
    });
  }
  if (!HasOrAll(owner.groups, one.groups.front())) return false;
  const std::string& resource = one.resources.front();
  if (!HasOrAll(owner.resources, resource)) {
    const std::size_t slash = resource.find('/');
    if (slash == std::string::npos || !Has(owner.resources, "*" + resource.substr(slash))) {
      return false;
    }
  }
  if (owner.names.empty()) return true;
  return !one.names.empty() && Has(owner.names, one.names.front());
}

Rules BreakDown(const Rule& rule) {
  Rules out;
  for (const std::string& group : rule.groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        if (rule.names.empty()) out.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const std::string& name : rule.names) {
          out.push_back({{verb}, {group}, {resource}, {name}, {}});
        }
      }
    }
  }
  for (const std::string& url : rule.urls) {
    for (const std::string& verb : rule.verbs) out.push_back({{verb}, {}, {}, {}, {url}});
  }
  return out;
}

// Rules of one group and resource without names become one; the others stay apart.
Rules Merge(Rules rules) {
  Rules out;
  std::map<std::pair<std::string, std::string>, std::size_t> simple;
  for (Rule& rule : rules) {
    if (!rule.urls.empty() || !rule.names.empty()) {
      out.push_back(std::move(rule));
      continue;
    }
    auto [it, fresh] = simple.try_emplace({rule.groups.front(), rule.resources.front()}, out.size());
    if (fresh) {
      out.push_back(std::move(rule));
    } else if (std::vector<std::string>& verbs = out[it->second].verbs;
               !Has(verbs, rule.verbs.front())) {
      verbs.push_back(rule.verbs.front());
    }
  }
  return out;
}

}  // namespace

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

Rules Uncovered(const Rules& held, const Rules& wanted) {
  Rules missing;
  for (const Rule& rule : wanted) {
    for (Rule& one : BreakDown(rule)) {
      const bool covered = std::any_of(held.begin(), held.end(),
                                       [&](const Rule& owner) { return CoversOne(owner, one); });
      if (!covered) missing.push_back(std::move(one));
    }
  }
  return Merge(std::move(missing));
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
