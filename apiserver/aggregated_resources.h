// The part of discovery that another server's list of resources yields, as text that is made once
// and then shared by every answer. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "apiserver/remote_apis.h"

namespace mailroom::apiserver {

// The `resources` of an APIResourceList as the aggregated form of discovery has them, a JSON array;
// nothing when that is longer than `max_bytes`: what takes a server little to say may be long here.
std::optional<std::string> AggregatedResources(const Json& resources, const RemoteApi& api,
                                               std::size_t max_bytes);

}  // namespace mailroom::apiserver
