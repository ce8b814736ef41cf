#include "apiserver/apply.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/apply_last_applied.h"
#include "apiserver/apply_ownership.h"
#include "apiserver/apply_typecheck.h"
#include "apiserver/managed_fields.h"
#include "apiserver/typed_merge.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kBeforeFirstApply = "before-first-apply";

std::string KindText(const GroupVersionKind& gvk) {
  return gvk.group + "/" + gvk.version + ", Kind=" + gvk.kind;
}

GroupVersionKind KindOf(const Json& config) {
  GroupVersionKind gvk;
  gvk.version = StringAt(config, {"apiVersion"});
  gvk.kind = StringAt(config, {"kind"});
  if (auto slash = gvk.version.find('/'); slash != std::string::npos) {
    gvk.group = gvk.version.substr(0, slash);
    gvk.version.erase(0, slash + 1);
  }
  return gvk;
}

}  // namespace

Result<void> CheckApplied(const GroupVersionKind& expected, const Json& config) {
  if (const GroupVersionKind gvk = KindOf(config); gvk != expected) {
    return BadRequest("invalid object type: " + KindText(gvk));
  }
  return Ok();
}

namespace {

Result<void> CheckConfig(const openapi::ResourceType& type, const Json& config) {
  TRY(CheckApplied(type.gvk, config));
  const Json* sent = Find(config, {"metadata", "managedFields"});
  if (sent && !sent->is_null()) return BadRequest("metadata.managedFields must be nil");
  std::string error = CheckTyped(type.schema, config);
  if (error.empty()) return Ok();
  return Status(Reason::kUnknown, "failed to create typed patch object (" +
                                      StringAt(config, {"metadata", "namespace"}) + "/" +
                                      StringAt(config, {"metadata", "name"}) + "; " +
                                      KindText(type.gvk) + "): " + error);
}

// A copy that leaves out the entries, which are about to be rewritten anyway.
Json WithoutManagedFields(const Json& object) {
  Json out = Json::object();
  for (const auto& [name, value] : object.items()) {
    Json& slot = out[name];
    if (name != "metadata" || !value.is_object()) {
      slot = value;
      continue;
    }
    slot = Json::object();
    for (const auto& [member, content] : value.items()) {
      if (member != "managedFields") slot[member] = content;
    }
  }
  return out;
}

// One run of the merge, against one set of entries.
class Merge {
 public:
  Merge(const openapi::ResourceType& type, const Json& live, const Json& config,
        const Writer& writer)
      : type_(type), live_(live), config_(config), writer_(writer) {}

  Result<Json> Run(ManagedFields managed, bool force) {
    FollowSchema(type_, writer_, managed);
    if (managed.empty()) AdoptExisting(managed);

    OwnerEntry like = EntryOf(writer_, Operation::kApply);
    static const FieldSet kNothing;
    OwnerEntry* self = managed.Find(like);
    const FieldSet& last = self ? self->fields : kNothing;
    const bool fresh = !self || self->api_version != writer_.api_version;
    FieldSet wanted = FieldsOf(type_.schema, config_);
    const FieldSet& ignored = IgnoredFields(type_, writer_.subresource);
    if (!ignored.Empty()) wanted = wanted.RecursiveDifference(ignored);
    DropContainerNames(writer_.subresource, wanted);

    Json merged = WithoutManagedFields(live_);
    MergeConfig(type_.schema, config_, ignored, merged);
    Prune(managed, like, last, wanted, merged);

    const bool changed = Differs(merged);
    if (changed && managed.entries().size() > (self ? 1u : 0u)) {
      FieldChanges changes = TrackedChanges(type_, writer_.subresource, live_, merged);
      if (!force) TRY(CheckConflicts(changes, managed, self));
      TakeOver(changes, self, managed);
    }

    DropUntracked(wanted);
    if (fresh || changed || !(wanted == last)) {
      OwnerEntry& entry = managed.FindOrAdd(like);
      entry.api_version = writer_.api_version;
      entry.SetFields(std::move(wanted));
      if (changed) entry.SetTime(writer_.now);
    }
    managed.DropEmpty();
    std::move(managed).WriteTo(merged);
    return merged;
  }

 private:
  // Whether the merge changed anything but managedFields, be it only the order of a list.
  bool Differs(const Json& merged) const {
    for (const auto& [name, value] : merged.items()) {
      auto it = live_.find(name);
      if (it == live_.end()) return true;
      const bool metadata = name == "metadata" && value.is_object() && it->is_object();
      if (metadata ? MetadataDiffers(*it, value) : *it != value) return true;
    }
    return merged.size() != live_.size();
  }

  static bool MetadataDiffers(const Json& before, const Json& after) {
    if (before.size() - before.count("managedFields") != after.size()) return true;
    for (const auto& [name, value] : after.items()) {
      auto it = before.find(name);
      if (it == before.end() || *it != value) return true;
    }
    return false;
  }

  // What an untracked object holds before its first apply belongs to a manager of its own, so
  // that the apply conflicts with it rather than taking it silently.
  void AdoptExisting(ManagedFields& managed) {
    if (live_.empty()) return;
    FieldChanges found = TrackedChanges(type_, writer_.subresource, ZeroObject(type_), live_);
    FieldSet existing = found.added.Union(found.modified);
    DropUntracked(existing);
    if (existing.Empty()) return;
    OwnerEntry entry = EntryOf(writer_, Operation::kUpdate);
    entry.manager = kBeforeFirstApply;
    entry.SetFields(std::move(existing));
    entry.SetTime(writer_.now);
    managed.entries().push_back(std::move(entry));
  }

  // Removes what this manager applied last time, does not apply now, and nobody else owns.
  //
  // A field that only its owner's parent keeps alive, such as an unowned child of a list item
  // that goes, is removed with the item but never on its own account: hence the two rounds.
  void Prune(const ManagedFields& managed, const OwnerEntry& self, const FieldSet& last,
             const FieldSet& wanted, Json& merged) {
    if (last.Difference(wanted).Empty()) return;
    auto named = [&](FieldSet set) {
      AddNamedParents(type_.schema, set);
      return set;
    };
    const FieldSet previous = named(last);
    const FieldSet all = named(FieldsOf(type_.schema, merged));
    FieldSet owned = wanted;
    for (const OwnerEntry& entry : managed.entries()) {
      if (!entry.SameOwner(self)) owned = owned.Union(entry.fields);
    }
    const FieldSet untouched = all.RecursiveDifference(previous);
    const FieldSet unowned = all.Difference(untouched.Union(named(std::move(owned))));
    const FieldSet left = all.RecursiveDifference(unowned);
    RemoveFields(type_.schema, all.Difference(left).Intersection(previous), merged);
  }

  // Conflicts that kubectl's own client-side apply left behind do not count against kubectl.
  Result<void> CheckConflicts(const FieldChanges& changes, const ManagedFields& managed,
                              const OwnerEntry* self) {
    std::vector<Conflicting> conflicts;
    for (const OwnerEntry& entry : managed.entries()) {
      if (&entry == self) continue;
      FieldSet fields = entry.fields.Intersection(changes.added)
                            .Union(entry.fields.Intersection(changes.modified));
      if (!fields.Empty()) conflicts.push_back({&entry, std::move(fields)});
    }
    if (conflicts.empty()) return Ok();
    if (writer_.manager == kKubectl) {
      const FieldSet allowed = UnchangedSinceLastApplied(type_, live_);
      for (Conflicting& conflict : conflicts) {
        conflict.fields = conflict.fields.Difference(allowed);
      }
      std::erase_if(conflicts, [](const Conflicting& c) { return c.fields.Empty(); });
      if (conflicts.empty()) return Ok();
    }
    return ApplyConflict(std::move(conflicts));
  }

  const openapi::ResourceType& type_;
  const Json& live_;
  const Json& config_;
  const Writer& writer_;
};

}  // namespace

Result<Json> Apply(const openapi::ResourceType& type, const Json* live, const Json& config,
                   const Writer& writer, bool force) {
  TRY(CheckConfig(type, config));
  const Json empty = Json::object();
  const Json& existing = live ? *live : empty;
  auto managed = ManagedFields::Of(existing);
  if (!managed.ok()) {
    return Status(Reason::kUnknown,
                  "failed to decode managed fields: " + managed.error().message());
  }
  Json merged = TRY(Merge(type, existing, config, writer).Run(std::move(*managed), force));
  if (writer.manager == kKubectl) RefreshLastApplied(config, merged);
  return merged;
}

}  // namespace mailroom::apiserver
