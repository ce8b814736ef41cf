// The value side of server-side apply: merging a configuration into an object by list and map
// types, and taking fields out again. Pure functions over JSON trees and schemas.
#pragma once

#include "apiserver/field_set.h"
#include "openapi/schema.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// Merges `config` into `target`. Leaves and atomic values of `config` win; nothing is removed.
// List items present on both sides come in the order of `config`, others stay where they were
// relative to their neighbours. Members that `skip` holds are left alone.
void MergeConfig(const openapi::Schema* schema, const Json& config, const FieldSet& skip,
                 Json& target);

// Removes every field and item of `fields` from `value`. A container that loses all its content
// becomes null, which decoding drops from built-ins: whoever owns the container itself does not lose
// it.
void RemoveFields(const openapi::Schema* schema, const FieldSet& fields, Json& value);

// Adds the named fields on the way to every member: a set with `spec.a` then also has `spec`,
// but a set with a key of a free-form map does not gain the map's key.
void AddNamedParents(const openapi::Schema* schema, FieldSet& set);

// Drops paths that do not lead to anything in `value`. Named fields stay even when absent: an
// empty one is not written, and its owner still owns it. True when something was dropped.
bool DropMissing(const openapi::Schema* schema, const Json& value, FieldSet& set);

// Follows types that became atomic after the set was written: what was owned below such a place
// is owned as a whole. True when the set changed.
bool FollowAtomic(const openapi::Schema* schema, FieldSet& set);

}  // namespace mailroom::apiserver
