// OpenAPI v2 documents of servers that serve groups of a workspace's API, and how they come to stand
// beside our own: the document has room for all, so that clients that know no newer form find every
// kind in it. Pure functions over what another server said, which may be anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/remote_apis.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// What such a document says of the API: its paths and the definitions they lead to, as JSON with the
// members `paths` and `definitions`. Nothing when that is nothing, or longer than `most` bytes.
std::optional<std::string> Version2Part(const Json& document, const RemoteApi& api,
                                        std::size_t most);

// Such parts as one, without what `ours` has already: of one path the first counts, and a definition
// whose name is another's gets a number behind it, wherever it is meant.
Json MergeVersion2(const Json& ours, const std::vector<SharedBytes>& parts);

}  // namespace mailroom::apiserver
