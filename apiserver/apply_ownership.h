// The rules of ownership that apply and update share: which fields are never tracked, which an
// endpoint does not write, and how a change takes fields from their owners.
#pragma once

#include <vector>

#include "apiserver/apply.h"
#include "apiserver/field_set.h"
#include "apiserver/managed_fields.h"
#include "openapi/resource_type.h"

namespace mailroom::apiserver {

// Fields that a write to this endpoint leaves as they are: status for the main resource of a
// kind with a status subresource, everything else for that subresource.
const FieldSet& IgnoredFields(const openapi::ResourceType& type, const std::string& subresource);

// Through pods/resize containers are named only to say whose amounts are meant: removes their names
// from what is applied there, so that they stay with whoever made them.
void DropContainerNames(const std::string& subresource, FieldSet& wanted);

// Removes identity and server-kept metadata, which nobody owns.
void DropUntracked(FieldSet& set);

// The entry that `writer` writes under, without fields.
OwnerEntry EntryOf(const Writer& writer, Operation operation);

// What an object of this kind holds before anybody sets a field: for built-in kinds the parts that
// are always there, which therefore nobody comes to own by creating an object.
Json ZeroObject(const openapi::ResourceType& type);

// What changed between two objects, without what the endpoint does not write and without
// managedFields.
FieldChanges TrackedChanges(const openapi::ResourceType& type, const std::string& subresource,
                            const Json& before, const Json& after);

// Takes added and modified fields from every entry but `self`, and removed ones from all.
void TakeOver(const FieldChanges& changes, const OwnerEntry* self, ManagedFields& managed);

// Brings sets written under an older schema to the present one and drops those of versions that
// are no longer served.
void FollowSchema(const openapi::ResourceType& type, const Writer& writer, ManagedFields& managed);

// One owner that stands against a change.
struct Conflicting {
  const OwnerEntry* owner;
  FieldSet fields;
};
// The 409 of a refused apply; `conflicts` must not be empty. All are counted, and the first
// limits::kProblemsTold told.
Status ApplyConflict(std::vector<Conflicting> conflicts);

}  // namespace mailroom::apiserver
