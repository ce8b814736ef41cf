// The questions reconcilers ask of the plan.
#include <algorithm>

#include "storage/object/limits.h"
#include "translator/plan.h"

namespace mailroom::translator {
namespace {

constexpr std::size_t kExamples = 4;  // objects named in one error text

}  // namespace

bool Plan::CompleteLocked() const {
  return listed_ && std::all_of(wdses_.begin(), wdses_.end(), [](const auto& entry) {
           return !entry.second.present || entry.second.ready;
         });
}

bool Plan::Complete() const {
  std::lock_guard lock(mutex_);
  return CompleteLocked();
}

bool Plan::MayRemove(const std::string& wds) const {
  std::lock_guard lock(mutex_);
  if (!CompleteLocked()) return false;
  const auto found = wdses_.find(wds);
  if (found == wdses_.end()) return true;
  const auto& placements = found->second.placements;
  return std::all_of(placements.begin(), placements.end(),
                     [](const auto& p) { return p.second.placement.errors.empty(); });
}

bool Plan::Claims(const Wds& wds, const ObjectId& id, const Source& source,
                  const std::string& mailbox, Bits& bits) const {
  bool claimed = false;
  for (const auto& [key, wanted] : source.matches) {
    if (!wds.placements.at(key).destinations.contains(mailbox)) continue;
    claimed = true;
    bits.create_only |= wanted.create_only;
    bits.singleton |= wanted.singleton;
  }
  if (claimed || source.excluded) return claimed;
  const auto implied = wds.implied.find(id);
  if (implied == wds.implied.end()) return false;
  return std::any_of(implied->second.begin(), implied->second.end(), [&](const auto& entry) {
    return wds.placements.at(entry.first).destinations.contains(mailbox);
  });
}

const std::pair<const std::string, Plan::Wds>* Plan::Winner(const std::string& mailbox,
                                                            const ObjectId& id, Bits& bits) const {
  const std::pair<const std::string, Wds>* best = nullptr;
  std::string best_created;
  for (const auto& entry : wdses_) {
    const auto source = entry.second.objects.find(id);
    if (source == entry.second.objects.end()) continue;
    Bits wanted;
    if (!Claims(entry.second, id, source->second, mailbox, wanted)) continue;
    // Workspaces come in order of name, so a tie stays with the first.
    if (best != nullptr && source->second.created >= best_created) continue;
    best = &entry;
    best_created = source->second.created;
    bits = wanted;
  }
  return best;
}

Verdict Plan::Judge(const std::string& mailbox, const ObjectId& id) const {
  std::lock_guard lock(mutex_);
  Verdict out;
  out.serving = mailboxes_.contains(mailbox);
  out.in_inventory = entries_.contains(mailbox);
  Bits bits;
  const auto* winner = Winner(mailbox, id, bits);
  if (winner == nullptr) return out;
  out.source = winner->second.objects.at(id).object;
  out.wds = winner->first;
  out.create_only = bits.create_only;
  return out;
}

std::vector<ObjectId> Plan::DependenciesOf(const ObjectId& id) const {
  return Dependencies(id, is_builtin_);
}

std::set<ObjectId> Plan::Closure(const PlacementState& state) const {
  std::set<ObjectId> out = state.matched;
  for (const ObjectId& id : state.matched) {
    for (ObjectId& need : Dependencies(id, is_builtin_)) out.insert(std::move(need));
  }
  return out;
}

std::vector<ObjectId> Plan::Dependents(const std::string& mailbox, const ObjectId& id) const {
  std::lock_guard lock(mutex_);
  std::set<ObjectId> out;
  for (const auto& [name, wds] : wdses_) {
    const auto implied = wds.implied.find(id);
    if (implied == wds.implied.end()) continue;
    for (const auto& [key, count] : implied->second) {
      const PlacementState& state = wds.placements.at(key);
      if (!state.destinations.contains(mailbox)) continue;
      for (const ObjectId& matched : state.matched) {
        const auto needs = Dependencies(matched, is_builtin_);
        if (std::find(needs.begin(), needs.end(), id) != needs.end()) out.insert(matched);
      }
    }
  }
  return {out.begin(), out.end()};
}

bool Plan::Serves(const std::string& mailbox) const {
  std::lock_guard lock(mutex_);
  return mailboxes_.contains(mailbox) && entries_.contains(mailbox);
}

std::vector<ConfigItem> Plan::ConfigOf(const std::string& mailbox) const {
  std::lock_guard lock(mutex_);
  std::map<ObjectId, std::string> items;
  for (const auto& [name, wds] : wdses_) {
    for (const auto& [key, state] : wds.placements) {
      if (!state.destinations.contains(mailbox)) continue;
      for (const ObjectId& id : Closure(state)) {
        const auto source = wds.objects.find(id);
        if (source == wds.objects.end() || source->second.excluded) continue;
        const auto facts = wds.resources.find(id.resource);
        if (facts != wds.resources.end()) items.emplace(id, facts->second.version);
      }
    }
  }
  std::vector<ConfigItem> out;
  for (auto& [id, version] : items) out.push_back({id, version});
  return out;
}

bool Plan::HasRival(const std::string& name, const ObjectId& id) const {
  return std::any_of(wdses_.begin(), wdses_.end(), [&](const auto& entry) {
    return entry.first != name && entry.second.objects.contains(id);
  });
}

std::set<std::string> Plan::SingletonMailboxes(const Wds& wds, const Source& source) const {
  std::set<std::string> out;
  for (const auto& [key, bits] : source.matches) {
    if (!bits.singleton) continue;
    const auto& destinations = wds.placements.at(key).destinations;
    out.insert(destinations.begin(), destinations.end());
  }
  return out;
}

void Plan::AddSingletonErrors(const Wds& wds, const PlacementState& state, const PlacementKey& key,
                              PlacementView& out) const {
  std::size_t count = 0;
  std::string examples;
  for (const ObjectId& id : state.matched) {
    const Source& source = wds.objects.at(id);
    if (!source.matches.at(key).singleton) continue;
    const std::size_t mailboxes = SingletonMailboxes(wds, source).size();
    if (mailboxes == 1) continue;
    if (++count > kExamples) continue;
    if (!examples.empty()) examples += ", ";
    examples += Describe(id) + " (" + std::to_string(mailboxes) + ")";
  }
  if (count == 0) return;
  out.errors.push_back("singleton reported state is wanted for " + std::to_string(count) +
                       " objects that do not have exactly one destination: " + examples);
}

PlacementView Plan::ViewOf(const PlacementKey& key) const {
  std::lock_guard lock(mutex_);
  PlacementView out;
  const auto wds_found = wdses_.find(key.wds);
  if (wds_found == wdses_.end()) return out;
  const Wds& wds = wds_found->second;
  const auto found = wds.placements.find(key);
  if (found == wds.placements.end()) return out;
  const PlacementState& state = found->second;
  out.found = true;
  out.generation = state.placement.generation;
  out.errors = state.placement.errors;
  for (const std::string& mailbox : state.destinations) {
    out.clusters.emplace(entries_.at(mailbox).object->meta().name);
  }
  for (const ObjectId& id : Closure(state)) {
    const auto source = wds.objects.find(id);
    if (source == wds.objects.end() || source->second.excluded) continue;
    const auto facts = wds.resources.find(id.resource);
    const auto match = source->second.matches.find(key);
    out.items.push_back({.id = id,
                         .version = facts == wds.resources.end() ? "" : facts->second.version,
                         .source = source->second.object,
                         .bits = match == source->second.matches.end() ? Bits{} : match->second});
    Lost lost{
        .id = id, .ours = source->second.object, .theirs = nullptr, .wds = "", .mailboxes = 0};
    if (HasRival(key.wds, id)) {
      for (const std::string& mailbox : state.destinations) {
        Bits bits;
        const auto* winner = Winner(mailbox, id, bits);
        if (winner == nullptr || winner->first == key.wds) continue;
        lost.wds = winner->first;
        lost.theirs = winner->second.objects.at(id).object;
        ++lost.mailboxes;
      }
    }
    if (lost.mailboxes > 0) out.lost.push_back(std::move(lost));
    const auto failed = failures_.find(id);
    if (failed == failures_.end()) continue;
    for (const auto& [mailbox, text] : failed->second) {
      if (!state.destinations.contains(mailbox)) continue;
      if (out.errors.size() < limits::kPolicyErrors) {
        out.errors.push_back(Describe(id) + " in " + mailbox + ": " + text);
      }
    }
  }
  AddSingletonErrors(wds, state, key, out);
  return out;
}

ReportView Plan::ReportOf(const SourceKey& key) const {
  std::lock_guard lock(mutex_);
  ReportView out;
  const auto wds = wdses_.find(key.wds);
  if (wds == wdses_.end()) return out;
  const auto source = wds->second.objects.find(key.id);
  if (source == wds->second.objects.end()) return out;
  out.source = source->second.object;
  const auto& matches = source->second.matches;
  out.wanted =
      std::any_of(matches.begin(), matches.end(), [](const auto& m) { return m.second.singleton; });
  const std::set<std::string> mailboxes = SingletonMailboxes(wds->second, source->second);
  if (mailboxes.size() == 1) out.mailbox = *mailboxes.begin();
  const auto facts = wds->second.resources.find(key.id.resource);
  if (facts != wds->second.resources.end()) {
    out.version = facts->second.version;
    out.has_status = facts->second.has_status;
  }
  return out;
}

}  // namespace mailroom::translator
