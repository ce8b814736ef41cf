// What a mailbox copy becomes on its way to the WEC, and how a WEC object is compared with it.
// Pure; owns the project's one notion of "everything desired is there".
#pragma once

#include <string>

#include "storage/object/json_fwd.h"
#include "syncer/ownership.h"

namespace mailroom::syncer {

// The apply configuration for the WEC: what only concerns the mailbox is dropped, the marks of
// ownership and the fingerprint are added.
Json DesiredBody(Json mailbox_copy, const GroupResource& resource, const Identity& identity);
// A Namespace of which only the existence is wanted.
Json BareNamespace(const std::string& name);

// Drops spec.replicas from `desired` when in `existing` the scale subresource decides it, as a
// horizontal autoscaler's does.
void YieldScale(const Json& existing, Json& desired);

// `actual` reduced to the members and elements that `desired` speaks of. Equal to `desired` when
// the WEC holds everything desired literally. A WEC that writes values its own way (quantities,
// defaults in lists) gives a projection that differs but stays the same until somebody changes
// one of these fields.
Json Project(const Json& actual, const Json& desired);

// Of any JSON value; short, for equality only.
std::string Fingerprint(const Json& value);

// The merge patch that makes `from` into `to`.
Json MergeDiff(const Json& from, const Json& to);

}  // namespace mailroom::syncer
