// What a list (or a delete of a collection) covers, settled and in the version of the request.
#pragma once

#include "apiserver/read_options.h"

namespace mailroom::apiserver {

// As the cache lists, with the selectors of `options` applied to the objects as they are served;
// may wait for a conversion webhook.
Result<storage::CacheListResult> ListMatching(const Call& call, const ReadOptions& options,
                                              storage::CacheListOptions cache);

}  // namespace mailroom::apiserver
