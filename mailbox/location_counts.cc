#include "mailbox/location_counts.h"

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::mailbox {
namespace {

std::string LabelText(std::string_view key, std::string_view value) {
  return std::string(key) + "=" + std::string(value);
}

// Every label of the object, and "" that all objects share.
std::vector<std::string> LabelsOf(const Object& object) {
  std::vector<std::string> out = {""};
  for (const auto& [key, value] : object.meta().labels) out.push_back(LabelText(key, value));
  return out;
}

bool IsReady(const Object& target) {
  const Json tree = target.ToJson();
  const Json* conditions = Find(tree, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == "Ready") return StringAt(condition, {"status"}) == "True";
  }
  return false;
}

// What one target adds to a location that selects it.
Instances Share(const std::optional<LabelSelector>& selector, const ObjectPtr& target) {
  if (target == nullptr || !selector || !target->meta().deletion_timestamp.empty() ||
      !selector->Matches(target->meta().labels)) {
    return {};
  }
  return {1, IsReady(*target) ? 1 : 0};
}

}  // namespace

void LocationCounts::Count(const Inventory& inventory, Location& location) {
  location.instances = {};
  const auto candidates = inventory.targets_by_label.find(location.label);
  if (!location.selector || candidates == inventory.targets_by_label.end()) return;
  for (const std::string& name : candidates->second) {
    const Instances share = Share(location.selector, inventory.targets.at(name));
    location.instances.all += share.all;
    location.instances.available += share.available;
  }
}

std::vector<std::string> LocationCounts::PutTarget(const std::string& workspace,
                                                   const std::string& name, const ObjectPtr& now) {
  std::lock_guard lock(mutex_);
  Inventory& inventory = inventories_[workspace];
  const auto known = inventory.targets.find(name);
  const ObjectPtr before = known == inventory.targets.end() ? nullptr : known->second;
  std::set<std::string> concerned;
  for (const ObjectPtr& object : {before, now}) {
    if (object == nullptr) continue;
    for (const std::string& label : LabelsOf(*object)) {
      const auto found = inventory.locations_by_label.find(label);
      if (found == inventory.locations_by_label.end()) continue;
      concerned.insert(found->second.begin(), found->second.end());
    }
  }
  if (before != nullptr) {
    for (const std::string& label : LabelsOf(*before)) {
      auto& names = inventory.targets_by_label[label];
      names.erase(name);
      if (names.empty()) inventory.targets_by_label.erase(label);
    }
    inventory.targets.erase(name);
    if (inventory.thinned.Now(inventory.targets.size())) {
      PutTogether(inventory.targets);
      PutTogether(inventory.targets_by_label);
    }
  }
  if (now != nullptr) {
    for (const std::string& label : LabelsOf(*now)) inventory.targets_by_label[label].insert(name);
    inventory.targets[name] = now;
    inventory.thinned.Grown(inventory.targets.size());
  }
  std::vector<std::string> changed;
  for (const std::string& each : concerned) {
    Location& location = inventory.locations.at(each);
    const Instances old_share = Share(location.selector, before);
    const Instances new_share = Share(location.selector, now);
    if (old_share == new_share) continue;
    location.instances.all += new_share.all - old_share.all;
    location.instances.available += new_share.available - old_share.available;
    changed.push_back(each);
  }
  if (inventory.targets.empty() && inventory.locations.empty()) inventories_.erase(workspace);
  return changed;
}

void LocationCounts::PutLocation(const std::string& workspace, const std::string& name,
                                 const ObjectPtr& now) {
  std::lock_guard lock(mutex_);
  Inventory& inventory = inventories_[workspace];
  if (const auto known = inventory.locations.find(name); known != inventory.locations.end()) {
    auto& names = inventory.locations_by_label[known->second.label];
    names.erase(name);
    if (names.empty()) inventory.locations_by_label.erase(known->second.label);
    inventory.locations.erase(known);
  }
  if (now != nullptr) {
    Location location;
    const Json tree = now->ToJson();
    const Json* selector = Find(tree, {"spec", "instanceSelector"});
    if (selector != nullptr && selector->is_object()) {
      if (auto parsed = LabelSelector::FromJson(*selector); parsed.ok()) {
        location.selector = *std::move(parsed);
      }
      const Json* labels = Find(*selector, {"matchLabels"});
      if (labels != nullptr && labels->is_object() && !labels->empty()) {
        const std::string key = labels->begin().key();
        location.label = LabelText(key, StringAt(*labels, {key}));
      }
    }
    Count(inventory, location);
    inventory.locations_by_label[location.label].insert(name);
    inventory.locations[name] = std::move(location);
  }
  if (inventory.targets.empty() && inventory.locations.empty()) inventories_.erase(workspace);
}

std::optional<Instances> LocationCounts::Of(const std::string& workspace,
                                            const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto inventory = inventories_.find(workspace);
  if (inventory == inventories_.end()) return std::nullopt;
  const auto location = inventory->second.locations.find(name);
  if (location == inventory->second.locations.end()) return std::nullopt;
  return location->second.instances;
}

}  // namespace mailroom::mailbox
