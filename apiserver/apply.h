// Server-side apply and field ownership: the merge of an applied configuration into a live
// object, conflicts, pruning, and the bookkeeping of metadata.managedFields for every write.
// Pure functions over JSON trees and schemas.
#pragma once

#include <string>
#include <vector>

#include "openapi/resource_type.h"
#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

struct Writer {
  std::string manager;      // fieldManager
  std::string api_version;  // of the request
  std::string subresource;  // "", status, scale
  std::string now;          // RFC 3339 seconds
  // Versions in which the kind is served; entries of other versions are dropped. Empty: keep all.
  std::vector<std::string> served = {};
};

// 400 for a configuration of another kind or version than what it is applied to.
Result<void> CheckApplied(const GroupVersionKind& expected, const Json& config);

// Apply: returns the merged object with managedFields updated. `live` is null when the object
// does not exist. Conflicts without `force` are a 409 in kube-apiserver's words and causes.
Result<Json> Apply(const openapi::ResourceType& type, const Json* live, const Json& config,
                   const Writer& writer, bool force);

// Ownership for create, update and non-apply patch (operation Update): rewrites
// `after.metadata.managedFields` from `before`'s entries and the change. `before` is null on
// create. An explicit `managedFields: [{}]` or `[]` in `after` resets tracking.
void TrackUpdate(const openapi::ResourceType& type, const Json* before, Json& after,
                 const Writer& writer);

// After an apply, defaulting and admission may have changed the object: attributes nothing but
// drops owned list items and map keys that no longer exist. A named field stays owned even when
// it is absent, because an empty one is not written.
void StripMissingOwned(const openapi::ResourceType& type, Json& object);

// A write that changes nothing but the times of ownership is no change: gives `object` the
// managedFields of `live` when everything else is equal. Call last, with resourceVersion in place.
void KeepTimesWhenUnchanged(const Json& live, Json& object);

}  // namespace mailroom::apiserver
