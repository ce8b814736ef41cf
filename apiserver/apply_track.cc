// Ownership of the writes that are not an apply.
#include <utility>

#include "apiserver/apply.h"
#include "apiserver/apply_ownership.h"
#include "apiserver/managed_fields.h"
#include "apiserver/typed_merge.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

// The entries that tracking starts from: those the client sent on the main endpoint when they
// make sense, else the stored ones.
ManagedFields StartingEntries(const Json* before, const Json& after, const Writer& writer) {
  const Json* sent = Find(after, {"metadata", "managedFields"});
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

}  // namespace

void TrackUpdate(const openapi::ResourceType& type, const Json* before, Json& after,
                 const Writer& writer) {
  ManagedFields managed = StartingEntries(before, after, writer);
  Erase(after, {"metadata", "managedFields"});
  // An object that nobody tracks stays so until its first apply.
  if (before && managed.empty()) return;

  FollowSchema(type, managed);
  FieldChanges changes = TrackedChanges(type, writer.subresource,
                                        before ? *before : ZeroObject(type), after);
  TakeOver(changes, nullptr, managed);
  managed.DropEmpty();
  FieldSet taken = changes.modified.Empty() ? std::move(changes.added)
                                            : changes.added.Union(changes.modified);
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
  auto managed = ManagedFields::Of(object);
  if (!managed.ok()) return;
  bool changed = false;
  for (OwnerEntry& entry : managed->entries()) {
    if (!DropMissing(type.schema, object, entry.fields)) continue;
    entry.stored = nullptr;
    changed = true;
  }
  if (!changed) return;
  managed->DropEmpty();
  std::move(*managed).WriteTo(object);
}

}  // namespace mailroom::apiserver
