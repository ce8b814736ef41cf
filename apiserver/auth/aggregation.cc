#include "apiserver/auth/aggregation.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

std::string ChoiceText(const Role& role) {
  std::string out;
  for (const LabelSelector& selector : role.aggregates) out += selector.ToString() + "\n";
  return out;
}

std::size_t BytesOf(const Rule& rule) {
  std::size_t bytes = sizeof(Rule);
  for (const auto* list : {&rule.verbs, &rule.groups, &rule.resources, &rule.names, &rule.urls}) {
    for (const std::string& text : *list) bytes += sizeof(std::string) + text.size();
  }
  return bytes;
}

class Unions {
 public:
  explicit Unions(const std::vector<const Role*>& roles) : roles_(roles), choice_of_(roles.size()) {
    std::unordered_map<std::string, Choice*> known;
    std::size_t gathering = 0;
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (roles[i]->aggregates.empty()) continue;
      if (++gathering > limits::kAggregatedRoles) break;
      std::string text = ChoiceText(*roles[i]);
      const std::size_t weight = 1 + text.size() / kTextStep;
      auto [it, fresh] = known.try_emplace(std::move(text), nullptr);
      if (fresh) {
        choices_.push_back(std::make_unique<Choice>(Choice{roles[i], weight}));
        it->second = choices_.back().get();
      }
      choice_of_[i] = it->second;
    }
  }

  std::vector<RulesPtr> All() {
    std::vector<RulesPtr> out(roles_.size());
    for (std::size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i]->aggregates.empty()) continue;
      Choice* choice = choice_of_[i];
      if (choice != nullptr && choice->rules == nullptr) choice->rules = Unite(*choice);
      out[i] = choice == nullptr ? nothing_ : choice->rules;
      exceeded_ = exceeded_ || choice == nullptr;
    }
    if (exceeded_) Log(Level::kWarn, "a workspace has more aggregated ClusterRoles than are united");
    return out;
  }

 private:
  static constexpr std::size_t kTextStep = 64;  // bytes of selectors that take a step to compare

  // What roles with the same selectors have in common.
  struct Choice {
    const Role* first;
    std::size_t weight;                      // of trying one role, in steps
    bool looked = false;
    std::vector<std::size_t> chosen = {};    // by the selectors alone
    RulesPtr rules = nullptr;
  };

  bool Spend(std::size_t steps) {
    steps_ += steps;
    exceeded_ = exceeded_ || steps_ > limits::kAggregationSteps;
    return !exceeded_;
  }

  // False when it takes too long.
  bool Look(Choice& choice) {
    if (std::exchange(choice.looked, true)) return true;
    if (!Spend(choice.weight * roles_.size())) return false;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
      const LabelViews& labels = roles_[i]->object->meta().labels;
      const auto& selectors = choice.first->aggregates;
      const bool chosen =
          std::any_of(selectors.begin(), selectors.end(),
                      [&](const LabelSelector& selector) { return selector.Matches(labels); });
      if (chosen) choice.chosen.push_back(i);
    }
    return true;
  }

  // The rules of all roles that are chosen, also by those that are chosen.
  RulesPtr Unite(Choice& start) {
    std::vector<bool> known(roles_.size());
    std::vector<std::size_t> reached;
    std::set<const Choice*> followed = {&start};
    std::vector<Choice*> pending = {&start};
    while (!pending.empty()) {
      Choice& choice = *pending.back();
      pending.pop_back();
      if (!Look(choice) || !Spend(choice.chosen.size())) return nothing_;
      for (const std::size_t i : choice.chosen) {
        if (!known[i]) reached.push_back(i);
        known[i] = true;
        Choice* next = choice_of_[i];
        if (next != nullptr && followed.insert(next).second) pending.push_back(next);
      }
    }
    std::sort(reached.begin(), reached.end());
    return Gather(reached);
  }

  RulesPtr Gather(const std::vector<std::size_t>& reached) {
    auto rules = std::make_shared<Rules>();
    auto less = [](const Rule* a, const Rule* b) { return *a < *b; };
    std::set<const Rule*, decltype(less)> known(less);
    for (const std::size_t i : reached) {
      if (!roles_[i]->aggregates.empty()) continue;
      for (const Rule& rule : *roles_[i]->rules) {
        if (!known.insert(&rule).second) continue;
        bytes_ += BytesOf(rule);
        exceeded_ = exceeded_ || bytes_ > limits::kAggregatedRuleBytes;
        if (exceeded_) return nothing_;
        rules->push_back(rule);
      }
    }
    return rules;
  }

  const std::vector<const Role*>& roles_;
  std::vector<std::unique_ptr<Choice>> choices_;
  std::vector<Choice*> choice_of_;  // by role; null for one that gathers none, or is past the bound
  const RulesPtr nothing_ = std::make_shared<const Rules>();
  std::size_t steps_ = 0;
  std::size_t bytes_ = 0;
  bool exceeded_ = false;
};

}  // namespace

std::vector<RulesPtr> UnitedRules(const std::vector<const Role*>& roles) {
  return Unions(roles).All();
}

}  // namespace mailroom::apiserver
