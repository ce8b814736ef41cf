#include "apiserver/auth/uncovered.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

namespace mailroom::apiserver {
namespace {

using Number = std::uint32_t;
constexpr Number kUnheard = 0;  // of what nobody holds
constexpr Number kAll = 1;      // of "*"; the smallest of any list

// The texts of what is held, as numbers: they are compared often, and may be long.
class Words {
 public:
  Words() { Add("*"); }
  Number Add(std::string_view text) {
    return numbers_.try_emplace(text, static_cast<Number>(numbers_.size() + 1)).first->second;
  }
  Number Find(std::string_view text) const {
    const auto it = numbers_.find(text);
    return it == numbers_.end() ? kUnheard : it->second;
  }
  std::vector<Number> AddAll(const std::vector<std::string>& texts) {
    std::vector<Number> out;
    for (const std::string& text : texts) out.push_back(Add(text));
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  std::unordered_map<std::string_view, Number> numbers_;
};

bool Has(const std::vector<Number>& list, Number number) {
  return std::binary_search(list.begin(), list.end(), number);
}
bool HasOrAll(const std::vector<Number>& list, Number number) {
  return (!list.empty() && list.front() == kAll) || Has(list, number);
}

// A rule that is held; its lists sorted.
struct Owner {
  const Rule* rule;
  std::vector<Number> verbs, groups, resources, names;
};
using Owners = std::vector<const Owner*>;

// Collects what is missing, as far as it is told.
class Told {
 public:
  Told(Missing& missing, std::size_t most) : missing_(missing), most_(most) {}
  // Rights to one group and resource without names become one rule; the others stay apart.
  void Add(std::string_view group, std::string_view resource, std::string_view verb) {
    const auto [it, fresh] = simple_.try_emplace({group, resource}, missing_.rules.size());
    if (!fresh && !seen_.emplace(it->second, verb).second) return;
    if (!Takes(group.size() + resource.size() + verb.size(), fresh)) return;
    if (fresh) {
      missing_.rules.push_back({{}, {std::string(group)}, {std::string(resource)}, {}, {}});
      seen_.emplace(it->second, verb);
    }
    missing_.rules[it->second].verbs.emplace_back(verb);
  }
  void Add(Rule apart, std::size_t bytes) {
    if (Takes(bytes, true)) missing_.rules.push_back(std::move(apart));
  }
  bool full() const { return missing_.more; }

 private:
  bool Takes(std::size_t bytes, bool fresh) {
    missing_.more = (fresh && missing_.rules.size() == most_) ||
                    bytes_ > most_ * limits::kRuleToldBytes;
    bytes_ += bytes;
    return !missing_.more;
  }

  Missing& missing_;
  const std::size_t most_;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> simple_;  // to its rule
  std::set<std::pair<std::size_t, std::string_view>> seen_;  // verbs of those rules
  std::size_t bytes_ = 0;
};

class Comparison {
 public:
  Comparison(const Rules& held, std::size_t told) : told_(missing_, told) {
    owners_.reserve(held.size());
    for (const Rule& rule : held) {
      owners_.push_back({&rule, words_.AddAll(rule.verbs), words_.AddAll(rule.groups),
                         words_.AddAll(rule.resources), words_.AddAll(rule.names)});
    }
  }

  Missing Run(const Rules& wanted) {
    std::size_t rights = 0;
    for (const Rule& rule : wanted) {
      rights += RightsOf(rule);
      if (rights > limits::kRuleProduct) return {.too_many = true};
    }
    Owners all;
    for (const Owner& owner : owners_) all.push_back(&owner);
    for (const Rule& rule : wanted) {
      if (RightsOf(rule) == 0) continue;
      if (!Resources(rule, all) || !Urls(rule, all)) break;
    }
    if (steps_ > limits::kRuleComparisons) return {.too_many = true};
    return std::move(missing_);
  }

 private:
  // As many as it spells out, or more than any grant may.
  static std::size_t RightsOf(const Rule& rule) {
    auto times = [](std::size_t product, std::size_t more) {
      return std::min(product * more, limits::kRuleProduct + 1);
    };
    const std::size_t names = std::max<std::size_t>(1, rule.names.size());
    const std::size_t verbs = times(1, rule.verbs.size());
    return times(times(times(verbs, rule.groups.size()), rule.resources.size()), names) +
           times(verbs, rule.urls.size());
  }

  // Both are false when there is no need, or no time, to go on.
  bool Resources(const Rule& rule, const Owners& all) {
    if (rule.resources.empty()) return true;
    for (const std::string& group : rule.groups) {
      const Number of_group = words_.Find(group);
      const Owners there =
          Those(all, [&](const Owner& owner) { return HasOrAll(owner.groups, of_group); });
      for (const std::string& resource : rule.resources) {
        const Owners here = Those(there, OverResource(resource));
        for (const std::string& verb : rule.verbs) {
          Verb(rule, group, resource, verb, here);
          if (Done()) return false;
        }
      }
    }
    return true;
  }

  bool Urls(const Rule& rule, const Owners& all) {
    for (const std::string& url : rule.urls) {
      const Owners here = Those(all, [&](const Owner& owner) {
        steps_ += owner.rule->urls.size();
        return std::any_of(owner.rule->urls.begin(), owner.rule->urls.end(),
                           [&](const std::string& pattern) { return PathCovers(pattern, url); });
      });
      for (const std::string& verb : rule.verbs) {
        const bool covered = !Those(here, WithVerb(verb)).empty();
        if (!covered) told_.Add({{verb}, {}, {}, {}, {url}}, verb.size() + url.size());
        if (Done()) return false;
      }
    }
    return true;
  }

  void Verb(const Rule& rule, const std::string& group, const std::string& resource,
            const std::string& verb, const Owners& here) {
    const Owners able = Those(here, WithVerb(verb));
    const bool covered = std::any_of(able.begin(), able.end(), [](const Owner* owner) {
      return owner->rule->names.empty();
    });
    if (covered) return;
    if (rule.names.empty()) return told_.Add(group, resource, verb);
    for (const std::string& name : rule.names) {
      const Number number = words_.Find(name);
      const Owners over =
          Those(able, [&](const Owner& owner) { return Has(owner.names, number); });
      if (!over.empty()) continue;
      told_.Add({{verb}, {group}, {resource}, {name}, {}},
                verb.size() + group.size() + resource.size() + name.size());
      if (Done()) return;
    }
  }

  std::function<bool(const Owner&)> WithVerb(std::string_view verb) const {
    return [number = words_.Find(verb)](const Owner& owner) {
      return HasOrAll(owner.verbs, number);
    };
  }
  // `*/scale` covers the subresource of every resource.
  std::function<bool(const Owner&)> OverResource(const std::string& resource) const {
    const std::size_t slash = resource.find('/');
    const Number of_any =
        slash == std::string::npos ? kUnheard : words_.Find("*" + resource.substr(slash));
    return [number = words_.Find(resource), of_any](const Owner& owner) {
      return HasOrAll(owner.resources, number) || Has(owner.resources, of_any);
    };
  }

  Owners Those(const Owners& owners, const std::function<bool(const Owner&)>& cover) {
    Owners out;
    steps_ += owners.size();
    std::copy_if(owners.begin(), owners.end(), std::back_inserter(out),
                 [&](const Owner* owner) { return cover(*owner); });
    return out;
  }

  bool Done() const { return told_.full() || steps_ > limits::kRuleComparisons; }

  Words words_;
  std::vector<Owner> owners_;
  Missing missing_;
  Told told_;
  std::size_t steps_ = 0;
};

}  // namespace

Missing Uncovered(const Rules& held, const Rules& wanted, std::size_t told) {
  return Comparison(held, told).Run(wanted);
}

}  // namespace mailroom::apiserver
