// The entries of metadata.managedFields: who owns which fields, written how and when. Decoded
// from a list, changed, and encoded back; entries that did not change keep their stored JSON, to
// which they point: the list must outlive them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/field_set.h"
#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

enum class Operation { kApply, kUpdate };

struct OwnerEntry {
  std::string manager;
  Operation operation = Operation::kUpdate;
  std::string api_version;
  std::string subresource;
  std::string time;  // RFC 3339, "" when never given
  FieldSet fields;
  const Json* stored = nullptr;  // the entry as decoded; null once it no longer holds

  // Replaces the field set; the stored form is dropped.
  void SetFields(FieldSet set);
  void SetTime(const std::string& now);
  // Appliers are one per manager and subresource, updaters also one per version.
  bool SameOwner(const OwnerEntry& other) const;
  // Orders entries as kube-apiserver sorts its manager identifiers.
  std::string Identifier() const;
};

class ManagedFields {
 public:
  // `list` may be null. An undecodable entry fails the whole list.
  static Result<ManagedFields> Decode(const Json& list);
  // The entries of an object; none when it has none.
  static Result<ManagedFields> Of(const Json& object);

  std::vector<OwnerEntry>& entries() { return entries_; }
  const std::vector<OwnerEntry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  OwnerEntry* Find(const OwnerEntry& like);
  OwnerEntry& FindOrAdd(const OwnerEntry& like);
  void DropEmpty();
  // Merges the oldest updaters of a version into `ancient-changes` until at most
  // limits::kUpdateManagers are left.
  void CapUpdaters();
  // Writes the sorted entries to metadata.managedFields, or removes it when there are none.
  void WriteTo(Json& object) &&;

 private:
  std::vector<OwnerEntry> entries_;
};

// True for `[]` and `[{}]`, by which a client gives up all tracking.
bool IsTrackingReset(const Json* list);

}  // namespace mailroom::apiserver
