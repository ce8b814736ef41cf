// Documents of the server itself (discovery, version, the list of paths) in the media type that the
// client accepts, and the answers for paths and methods that have none. Pure functions.
#pragma once

#include "apiserver/request_info.h"
#include "openapi/catalog.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// A JSON document as YAML or protobuf where Accept prefers that; NotAcceptable when no clause
// names a media type that documents have, or all ask for other forms. Answers that are no plain JSON
// stay as they are.
Result<Response> InAcceptedMedia(const Request& request, Response document);

// Whether the original routes the document by method and media type: those of versions and of the core
// group; the rest it hands to whoever listens below their path.
bool IsRoutedDocument(const RequestInfo& info, const openapi::Catalog& catalog);

// `/`: the paths under which something is served.
Response RootDocument(const openapi::Catalog& catalog);

// A GET of a path that names nothing: versions of groups that exist have another answer than the
// rest.
Result<Response> NothingThere(const RequestInfo& info, const openapi::Catalog& catalog);

}  // namespace mailroom::apiserver
