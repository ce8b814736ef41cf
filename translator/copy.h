// The copy of a source object as it should stand in a mailbox, and its comparison with the copy
// that is there. Pure functions over JSON trees.
#pragma once

#include <string>

#include "storage/object/json.h"

namespace mailroom::translator {

enum class Overwrite { kAlways, kCreateOnly };

// `source` without what belongs to its own workspace (identity, bookkeeping, owners, finalizers,
// status), marked as a projected copy from `wds`.
Json DesiredCopy(Json source, const std::string& wds, Overwrite overwrite);

// Brings `copy`, as found in a mailbox, to `desired`: labels, annotations and all top-level
// sections but status become exactly the desired ones. What the mailbox's server itself puts into
// a Namespace stays. Returns whether anything changed.
bool BringTo(const Json& desired, Json& copy);

// Whether two sources would give the same copy, wherever they come from.
bool SameContent(const Json& source, const Json& other);

}  // namespace mailroom::translator
