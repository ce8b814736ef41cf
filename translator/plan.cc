#include "translator/plan.h"

#include <algorithm>

#include "openapi/edge_names.h"

namespace mailroom::translator {
namespace {

bool LabelsDiffer(const ObjectPtr& a, const ObjectPtr& b) {
  if (a == nullptr || b == nullptr) return a != b;
  return a->meta().labels != b->meta().labels;
}

bool HasReportedState(const Object& object) {
  const auto& labels = object.meta().labels;
  return std::any_of(labels.begin(), labels.end(),
                     [](const auto& l) { return l.first == openapi::kSingletonStatusLabel; });
}

}  // namespace

Plan::Plan(std::function<bool(const GroupResource&)> is_builtin)
    : is_builtin_(std::move(is_builtin)) {}

Changes Plan::SetWorkspace(const std::string& name, std::optional<Role> role) {
  std::lock_guard lock(mutex_);
  Changes out;
  if (role == Role::kWds) {
    wdses_[name].present = true;
  } else if (const auto wds = wdses_.find(name); wds != wdses_.end()) {
    wds->second.present = false;
    wds->second.ready = false;
  }
  SetInventory(name, role == Role::kInventory, out);
  if (role != Role::kMailbox) {
    mailboxes_.erase(name);
    if (thinned_mailboxes_.Now(mailboxes_.size())) PutTogether(mailboxes_);
    return out;
  }
  if (!mailboxes_.insert(name).second) return out;
  thinned_mailboxes_.Grown(mailboxes_.size());
  // A mailbox that came, or came back, is filled from nothing.
  out.configs.insert(name);
  for (const auto& [wds_name, wds] : wdses_) {
    for (const auto& [key, state] : wds.placements) {
      if (state.destinations.contains(name)) TouchMailbox(key, state, name, out);
    }
  }
  return out;
}

std::set<std::string> Plan::Destinations(const Placement& placement) const {
  std::set<std::string> out;
  for (const auto& [mailbox, entry] : entries_) {
    if (Selects(placement, entry, location_list_)) out.insert(mailbox);
  }
  return out;
}

void Plan::TouchMailbox(const PlacementKey& key, const PlacementState& state,
                        const std::string& mailbox, Changes& out) const {
  for (const ObjectId& id : Closure(state)) {
    out.copies.emplace_back(mailbox, id);
    TouchRivals(key.wds, id, out);
  }
  const Wds& wds = wdses_.at(key.wds);
  for (const ObjectId& id : state.matched) {
    if (wds.objects.at(id).matches.at(key).singleton) out.reports.insert({key.wds, id});
  }
  out.configs.insert(mailbox);
  out.placements.insert(key);
}

void Plan::Redirect(const PlacementKey& key, PlacementState& state, std::set<std::string> next,
                    Changes& out) const {
  std::set<std::string> moved;
  std::set_symmetric_difference(state.destinations.begin(), state.destinations.end(), next.begin(),
                                next.end(), std::inserter(moved, moved.end()));
  state.destinations = std::move(next);
  for (const std::string& mailbox : moved) TouchMailbox(key, state, mailbox, out);
}

Changes Plan::SetEntry(const std::string& mailbox, std::optional<InventoryEntry> entry) {
  std::lock_guard lock(mutex_);
  Changes out;
  if (!entry.has_value()) {
    strays_.erase(mailbox);
    DropEntry(mailbox, out);
  } else if (inventories_.contains(entry->workspace)) {
    PutEntry(mailbox, *entry, out);
  } else {
    strays_.insert_or_assign(mailbox, *std::move(entry));
  }
  return out;
}

// The workspace and what it holds are told of in no order.
void Plan::SetInventory(const std::string& name, bool is, Changes& out) {
  if (is == inventories_.contains(name)) return;
  if (is) {
    inventories_.insert(name);
  } else {
    inventories_.erase(name);
  }
  std::map<std::string, InventoryEntry> moved;
  for (const auto& [mailbox, entry] : is ? strays_ : entries_) {
    if (entry.workspace == name) moved.emplace(mailbox, entry);
  }
  for (const auto& [mailbox, entry] : moved) {
    if (is) {
      strays_.erase(mailbox);
      PutEntry(mailbox, entry, out);
    } else {
      DropEntry(mailbox, out);
      strays_.emplace(mailbox, entry);
    }
  }
}

void Plan::PutEntry(const std::string& mailbox, const InventoryEntry& entry, Changes& out) {
  const auto known = entries_.find(mailbox);
  const bool fresh = known == entries_.end();
  // Heartbeats change an entry often; only its labels decide, and its leaving.
  const bool moved = fresh || LabelsDiffer(known->second.object, entry.object) ||
                     IsLeaving(*known->second.object) != IsLeaving(*entry.object);
  entries_.insert_or_assign(mailbox, entry);
  thinned_entries_.Grown(entries_.size());
  if (!moved) return;
  if (fresh) out.configs.insert(mailbox);
  Reselect(mailbox, &entry, out);
}

void Plan::DropEntry(const std::string& mailbox, Changes& out) {
  if (entries_.erase(mailbox) == 0) return;
  if (thinned_entries_.Now(entries_.size())) PutTogether(entries_);
  for (auto it = failures_.begin(); it != failures_.end();) {
    it->second.erase(mailbox);
    it = it->second.empty() ? failures_.erase(it) : std::next(it);
  }
  Reselect(mailbox, nullptr, out);
}

void Plan::Reselect(const std::string& mailbox, const InventoryEntry* entry, Changes& out) {
  for (auto& [name, wds] : wdses_) {
    for (auto& [key, state] : wds.placements) {
      const bool before = state.destinations.contains(mailbox);
      const bool now = entry != nullptr && Selects(state.placement, *entry, location_list_);
      if (before == now) continue;
      if (now) {
        state.destinations.insert(mailbox);
      } else {
        state.destinations.erase(mailbox);
      }
      TouchMailbox(key, state, mailbox, out);
    }
  }
}

Changes Plan::SetLocation(const std::string& workspace, const std::string& name,
                          const ObjectPtr& object) {
  std::lock_guard lock(mutex_);
  Changes out;
  if (object == nullptr) {
    locations_.erase({workspace, name});
  } else {
    locations_.insert_or_assign({workspace, name}, ParseLocation(workspace, object));
  }
  location_list_.clear();
  for (const auto& [key, location] : locations_) location_list_.push_back(location);
  for (auto& [wds_name, wds] : wdses_) {
    for (auto& [key, state] : wds.placements) {
      if (state.placement.location_selectors.empty()) continue;
      Redirect(key, state, Destinations(state.placement), out);
    }
  }
  return out;
}

Changes Plan::SetPlacement(const PlacementKey& key, std::optional<Placement> placement) {
  std::lock_guard lock(mutex_);
  Changes out;
  Wds& wds = wdses_[key.wds];
  auto found = wds.placements.find(key);
  out.placements.insert(key);
  if (!placement.has_value()) {
    if (found == wds.placements.end()) return out;
    const std::set<ObjectId> matched = found->second.matched;
    for (const ObjectId& id : matched) {
      Source& source = wds.objects.at(id);
      Matches next = source.matches;
      next.erase(key);
      Rematch(key.wds, wds, id, source, std::move(next), out);
    }
    wds.placements.erase(key);
    return out;
  }
  if (found != wds.placements.end() && found->second.placement.spec_text == placement->spec_text) {
    found->second.placement.generation = placement->generation;
    return out;
  }
  PlacementState& state = wds.placements[key];
  state.placement = *std::move(placement);
  Redirect(key, state, Destinations(state.placement), out);
  for (auto& [id, source] : wds.objects) {
    bool matched = false;
    const Bits bits = Test(wds, state.placement, id, source, matched);
    Matches next = source.matches;
    if (matched) {
      next.insert_or_assign(key, bits);
    } else {
      next.erase(key);
    }
    Rematch(key.wds, wds, id, source, std::move(next), out);
  }
  return out;
}

Bits Plan::Test(const Wds& wds, const Placement& placement, const ObjectId& id,
                const Source& source, bool& matched) const {
  Bits bits;
  matched = false;
  if (source.excluded) return bits;
  const auto ns = wds.objects.find(NamespaceId(id.ns));
  const LabelViews* ns_labels =
      id.ns.empty() || ns == wds.objects.end() ? nullptr : &ns->second.object->meta().labels;
  const Subject subject{
      .id = id, .labels = source.object->meta().labels, .namespace_labels = ns_labels};
  for (const Clause& clause : placement.clauses) {
    if (!translator::Matches(clause, subject)) continue;
    matched = true;
    bits.create_only |= clause.create_only;
    bits.singleton |= clause.want_singleton;
  }
  return bits;
}

Plan::Matches Plan::TestAll(const Wds& wds, const ObjectId& id, const Source& source) const {
  Matches out;
  for (const auto& [key, state] : wds.placements) {
    bool matched = false;
    const Bits bits = Test(wds, state.placement, id, source, matched);
    if (matched) out.emplace(key, bits);
  }
  return out;
}

void Plan::Rematch(const std::string& name, Wds& wds, const ObjectId& id, Source& source,
                   Matches next, Changes& out) {
  if (next == source.matches) return;
  Matches all = source.matches;
  all.insert(next.begin(), next.end());
  const std::vector<ObjectId> needs = Dependencies(id, is_builtin_);
  for (const auto& [key, unused] : all) {
    const auto was = source.matches.find(key);
    const auto is = next.find(key);
    const bool had = was != source.matches.end();
    const bool has = is != next.end();
    if (had && has && was->second == is->second) continue;
    PlacementState& state = wds.placements.at(key);
    out.placements.insert(key);
    if ((had && was->second.singleton) || (has && is->second.singleton)) {
      out.reports.insert({name, id});
    }
    for (const std::string& mailbox : state.destinations) {
      out.copies.emplace_back(mailbox, id);
      out.configs.insert(mailbox);
    }
    if (had == has) continue;
    if (has) {
      state.matched.insert(id);
    } else {
      state.matched.erase(id);
    }
    for (const ObjectId& need : needs) {
      auto& counts = wds.implied[need];
      int& count = counts[key];
      count += has ? 1 : -1;
      const bool edge = count == (has ? 1 : 0);
      if (count == 0) counts.erase(key);
      if (counts.empty()) wds.implied.erase(need);
      if (!edge) continue;
      for (const std::string& mailbox : state.destinations) out.copies.emplace_back(mailbox, need);
    }
  }
  source.matches = std::move(next);
  TouchRivals(name, id, out);
}

void Plan::Retest(const std::string& name, Wds& wds, const ObjectId& id, Source& source,
                  Changes& out) {
  Rematch(name, wds, id, source, TestAll(wds, id, source), out);
}

void Plan::RetestNamespace(const std::string& name, Wds& wds, const std::string& ns, Changes& out) {
  for (auto& [id, source] : wds.objects) {
    if (id.ns == ns) Retest(name, wds, id, source, out);
  }
}

void Plan::TouchImplied(const Wds& wds, const ObjectId& id, Changes& out) const {
  const auto implied = wds.implied.find(id);
  if (implied == wds.implied.end()) return;
  for (const auto& [key, count] : implied->second) {
    out.placements.insert(key);
    for (const std::string& mailbox : wds.placements.at(key).destinations) {
      out.copies.emplace_back(mailbox, id);
      out.configs.insert(mailbox);
    }
  }
}

void Plan::TouchRivals(const std::string& name, const ObjectId& id, Changes& out) const {
  for (const auto& [other, wds] : wdses_) {
    if (other == name) continue;
    const auto source = wds.objects.find(id);
    if (source == wds.objects.end()) continue;
    for (const auto& [key, bits] : source->second.matches) out.placements.insert(key);
  }
}

void Plan::Forget(const std::string& name, Wds& wds, const ObjectId& id, Changes& out) {
  const auto found = wds.objects.find(id);
  if (found == wds.objects.end()) return;
  Rematch(name, wds, id, found->second, {}, out);
  wds.objects.erase(found);
  TouchImplied(wds, id, out);
  TouchRivals(name, id, out);
  if (id.resource == kNamespaces) RetestNamespace(name, wds, id.name, out);
}

Changes Plan::SetObject(const SourceKey& key, const ObjectPtr& object) {
  std::lock_guard lock(mutex_);
  Changes out;
  Wds& wds = wdses_[key.wds];
  const ObjectId& id = key.id;
  if (object == nullptr || !object->meta().deletion_timestamp.empty()) {
    Forget(key.wds, wds, id, out);
    return out;
  }
  Source& source = wds.objects[id];
  const ObjectPtr before = std::exchange(source.object, object);
  source.created = object->ScalarAt("metadata.creationTimestamp");
  const auto defines = id.resource == kCrds ? DefinedBy(id.name) : std::nullopt;
  // A definition of a kind that every API server has would break the cluster it reaches.
  source.excluded = !GoesToEdge(id.resource) || IsSystemObject(id, *object) ||
                    (defines.has_value() && is_builtin_(*defines));
  if (HasReportedState(*object)) out.reports.insert(key);
  for (const auto& [placement, bits] : source.matches) {
    out.placements.insert(placement);
    if (bits.singleton) out.reports.insert(key);
    for (const std::string& mailbox : wds.placements.at(placement).destinations) {
      out.copies.emplace_back(mailbox, id);
    }
  }
  Retest(key.wds, wds, id, source, out);
  TouchImplied(wds, id, out);
  TouchRivals(key.wds, id, out);
  if (id.resource == kNamespaces && LabelsDiffer(before, object)) {
    RetestNamespace(key.wds, wds, id.name, out);
  }
  return out;
}

void Plan::SetResource(const std::string& wds, const ResourceFacts& facts) {
  std::lock_guard lock(mutex_);
  wdses_[wds].resources.insert_or_assign(facts.resource, facts);
}

Changes Plan::DropResource(const std::string& wds_name, const GroupResource& resource) {
  std::lock_guard lock(mutex_);
  Changes out;
  const auto found = wdses_.find(wds_name);
  if (found == wdses_.end()) return out;
  Wds& wds = found->second;
  std::vector<ObjectId> gone;
  for (auto it = wds.objects.lower_bound(ObjectId{resource, "", ""});
       it != wds.objects.end() && it->first.resource == resource; ++it) {
    gone.push_back(it->first);
  }
  for (const ObjectId& id : gone) Forget(wds_name, wds, id, out);
  wds.resources.erase(resource);
  if (!wds.present && wds.resources.empty() && wds.objects.empty() && wds.placements.empty()) {
    wdses_.erase(found);
  }
  return out;
}

Changes Plan::SetFailure(const std::string& mailbox, const ObjectId& id, const std::string& error) {
  std::lock_guard lock(mutex_);
  Changes out;
  const auto known = failures_.find(id);
  if (error.empty()) {
    if (known == failures_.end() || known->second.erase(mailbox) == 0) return out;
    if (known->second.empty()) failures_.erase(known);
  } else {
    std::string& text = failures_[id][mailbox];
    if (text == error) return out;
    text = error;
  }
  for (const auto& [name, wds] : wdses_) {
    if (const auto source = wds.objects.find(id); source != wds.objects.end()) {
      for (const auto& [key, bits] : source->second.matches) out.placements.insert(key);
    }
    if (const auto implied = wds.implied.find(id); implied != wds.implied.end()) {
      for (const auto& [key, count] : implied->second) out.placements.insert(key);
    }
  }
  return out;
}

void Plan::SetReady(const std::string& wds, bool ready) {
  std::lock_guard lock(mutex_);
  const auto found = wdses_.find(wds);
  if (found != wdses_.end()) found->second.ready = ready;
}

void Plan::SetListed() {
  std::lock_guard lock(mutex_);
  listed_ = true;
}

}  // namespace mailroom::translator
