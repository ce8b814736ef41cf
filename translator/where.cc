#include "translator/where.h"

#include <algorithm>

#include "openapi/drain_names.h"
#include "storage/object/json_path.h"

namespace mailroom::translator {
namespace {

bool AnyMatches(const std::vector<LabelSelector>& selectors, const Object& object) {
  return std::any_of(selectors.begin(), selectors.end(), [&object](const LabelSelector& selector) {
    return selector.Matches(object.meta().labels);
  });
}

}  // namespace

Location ParseLocation(const std::string& workspace, const ObjectPtr& object) {
  Location out{.workspace = workspace, .object = object, .instances = std::nullopt};
  const Json tree = object->ToJson();
  const Json* selector = Find(tree, {"spec", "instanceSelector"});
  if (selector == nullptr || selector->is_null()) return out;
  auto parsed = LabelSelector::FromJson(*selector);
  if (parsed.ok()) out.instances = *std::move(parsed);
  return out;
}

bool IsLeaving(const Object& entry) {
  if (entry.meta().deletion_timestamp.empty() || !entry.meta().has_finalizers) return false;
  const auto finalizers = StringsAt(entry.ToJson(), {"metadata", "finalizers"});
  return std::find(finalizers.begin(), finalizers.end(), openapi::kDrainFinalizer) !=
         finalizers.end();
}

bool Selects(const Placement& placement, const InventoryEntry& entry,
             const std::vector<Location>& locations) {
  if (IsLeaving(*entry.object)) return false;
  if (AnyMatches(placement.cluster_selectors, *entry.object)) return true;
  if (placement.location_selectors.empty()) return false;
  if (entry.kind != InventoryEntry::Kind::kSyncTarget) return false;
  return std::any_of(locations.begin(), locations.end(), [&](const Location& location) {
    return location.workspace == entry.workspace && location.instances.has_value() &&
           AnyMatches(placement.location_selectors, *location.object) &&
           location.instances->Matches(entry.object->meta().labels);
  });
}

}  // namespace mailroom::translator
