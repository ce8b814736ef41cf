// Status on its way home: the status of a WEC object is written to the mailbox copy when the two
// differ. A status that is absent in the WEC clears nothing.
#pragma once

#include <string>

#include "storage/object/json_fwd.h"
#include "storage/object/result.h"
#include "syncer/parts.h"

namespace mailroom::syncer {

// Writes at most once. Both objects are this syncer's pair for `place`.
Result<void> ReturnStatus(Parts& parts, const Place& place, const std::string& api_version,
                          const Json& wec_object, Json mailbox_copy);

}  // namespace mailroom::syncer
