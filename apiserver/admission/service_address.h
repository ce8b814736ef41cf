// Where a Service of a workspace is reached from this process.
#pragma once

#include <string>

#include "storage/cached_store.h"

namespace mailroom::admission {

// host:port, of its endpoints first: nothing routes cluster addresses here. Unavailable says why
// there is none.
Result<std::string> ServiceAddress(const storage::CachedStore& store, const Workspace& workspace,
                                   const std::string& ns, const std::string& name, int port);

}  // namespace mailroom::admission
