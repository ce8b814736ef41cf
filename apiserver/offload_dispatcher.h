// The dispatcher behind the workers: what Offload asks is answered by it.
#pragma once

#include "apiserver/dispatcher.h"
#include "apiserver/offload.h"

namespace mailroom::apiserver {

// `dispatcher` must outlive the result.
Offload OffloadOf(Dispatcher& dispatcher);

}  // namespace mailroom::apiserver
