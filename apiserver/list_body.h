// Lists as text: their metadata, their items, and the body of a long list, which is written item
// by item as the reader takes it and so never exists as a whole, whatever its media type.
#pragma once

#include <string>

#include "apiserver/call.h"
#include "apiserver/negotiate.h"
#include "apiserver/render.h"

namespace mailroom::apiserver {

// `"metadata":{...}` of the list. `says_end`: where nothing follows, the token is empty rather than left
// out, as in lists of custom resources.
std::string ListMetadata(const ListPage& page, bool says_end = false);
// One item of a list of objects, as the list's type serves it.
void AppendListItem(std::string& out, const openapi::ResourceType& type, bool all_workspaces,
                    const storage::Entry& entry);
// `includeObject` of a table, checked.
Result<std::string> IncludeObject(const Query& query);

// Whether the list is long enough to be answered by StreamList.
bool StreamsList(const ListPage& page);
Result<Response> StreamList(const Call& call, const Accepted& accepted, ListPage page);

}  // namespace mailroom::apiserver
