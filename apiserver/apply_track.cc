// Ownership of the writes that are not an apply.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/apply.h"
#include "apiserver/apply_ownership.h"
#include "apiserver/apply_shape.h"
#include "apiserver/field_compare.h"
#include "apiserver/managed_fields.h"
#include "apiserver/typed_merge.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

// The entries that tracking starts from: those the client sent on the main endpoint when they
// make sense, else the stored ones.
ManagedFields StartingEntries(const Json* before, const Json* sent, const Writer& writer) {
  const bool main = writer.subresource.empty();
  if (main && IsTrackingReset(sent)) return {};
  const Json* stored = before ? Find(*before, {"metadata", "managedFields"}) : nullptr;
  for (const Json* list : {main ? sent : nullptr, stored}) {
    if (!list) continue;
    auto decoded = ManagedFields::Decode(*list);
    if (decoded.ok() && !decoded->empty()) return std::move(decoded).value();
  }
  return {};
}

// True when every owned path of a fieldsV1 tree leads to something in `value`.
bool AllPresent(const openapi::Schema* schema, const Json& value, const Json& fields) {
  std::optional<ListIndex> items;
  if (schema && value.is_array() && ShapeOf(schema, value) != Shape::kLeaf) {
    items.emplace(*schema, value);
  }
  for (const auto& [key, below] : fields.items()) {
    if (key == ".") continue;
    const Json* found = nullptr;
    const openapi::Schema* type = nullptr;
    if (key.starts_with("f:")) {
      const std::string_view name = std::string_view(key).substr(2);
      const MemberType member = MemberOf(schema, name);
      found = Find(value, {name});
      type = member.schema;
      if (!found && member.declared) continue;
    } else if (items) {
      const ListIndex::Item* item = items->Find(key);
      found = item ? item->value : nullptr;
      type = schema->items;
    }
    if (!found || (below.is_object() && !below.empty() && !AllPresent(type, *found, below))) {
      return false;
    }
  }
  return true;
}

bool SameButTime(const Json& a, const Json& b) {
  for (const auto& [key, value] : a.items()) {
    if (key == "time") continue;
    auto it = b.find(key);
    if (it == b.end() || *it != value) return false;
  }
  return a.size() - a.count("time") == b.size() - b.count("time");
}

// Entries are matched by content, because new times may have changed their order.
bool SameOwnership(const Json* a, const Json* b) {
  if (!a || !b) return a == b;
  if (!a->is_array() || !b->is_array() || a->size() != b->size()) return false;
  return std::all_of(a->begin(), a->end(), [&](const Json& entry) {
    return entry.is_object() && std::any_of(b->begin(), b->end(), [&](const Json& other) {
             return other.is_object() && SameButTime(entry, other);
           });
  });
}

// True when the members of two maps are equal, those named `except` aside.
bool SameMembers(const Json& a, const Json& b, std::string_view except) {
  if (!a.is_object() || !b.is_object()) return false;
  if (a.size() - a.count(except) != b.size() - b.count(except)) return false;
  for (const auto& [key, value] : a.items()) {
    if (key == except) continue;
    auto it = b.find(key);
    if (it == b.end() || *it != value) return false;
  }
  return true;
}

}  // namespace

void TrackUpdate(const openapi::ResourceType& type, const Json* before, Json& after,
                 const Writer& writer) {
  Json* list = Find(after, {"metadata", "managedFields"});
  const Json sent = list ? std::move(*list) : Json();
  if (list) Erase(after, {"metadata", "managedFields"});
  ManagedFields managed = StartingEntries(before, list ? &sent : nullptr, writer);
  // An object that nobody tracks stays so until its first apply.
  if (before && managed.empty()) return;

  FollowSchema(type, writer, managed);
  FieldChanges changes =
      TrackedChanges(type, writer.subresource, before ? *before : ZeroObject(type), after);
  TakeOver(changes, nullptr, managed);
  managed.DropEmpty();
  FieldSet taken =
      changes.modified.Empty() ? std::move(changes.added) : changes.added.Union(changes.modified);
  DropUntracked(taken);
  if (!taken.Empty()) {
    OwnerEntry& entry = managed.FindOrAdd(EntryOf(writer, Operation::kUpdate));
    entry.SetFields(entry.fields.Empty() ? std::move(taken) : entry.fields.Union(taken));
    entry.SetTime(writer.now);
  }
  managed.CapUpdaters();
  std::move(managed).WriteTo(after);
}

void StripMissingOwned(const openapi::ResourceType& type, Json& object) {
  const Json* list = Find(object, {"metadata", "managedFields"});
  if (!list || !list->is_array()) return;
  const bool complete = std::all_of(list->begin(), list->end(), [&](const Json& entry) {
    const Json* fields = Find(entry, {"fieldsV1"});
    return !fields || !fields->is_object() || AllPresent(type.schema, object, *fields);
  });
  if (complete) return;
  const Json entries = *list;
  auto managed = ManagedFields::Decode(entries);
  if (!managed.ok()) return;
  for (OwnerEntry& entry : managed->entries()) {
    if (DropMissing(type.schema, object, entry.fields)) entry.stored = nullptr;
  }
  managed->DropEmpty();
  std::move(*managed).WriteTo(object);
}

void KeepTimesWhenUnchanged(const Json& live, Json& object) {
  const Json* before = Find(live, {"metadata", "managedFields"});
  Json* after = Find(object, {"metadata", "managedFields"});
  if (!before || !after || *before == *after || !SameOwnership(before, after)) return;
  if (!SameMembers(live, object, "metadata")) return;
  const Json* old_metadata = Find(live, {"metadata"});
  const Json* new_metadata = Find(object, {"metadata"});
  if (SameMembers(*old_metadata, *new_metadata, "managedFields")) *after = *before;
}

}  // namespace mailroom::apiserver
