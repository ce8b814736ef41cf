// Errors of the layer that knows a request's path, method and media types but no object, in the
// words Kubernetes' router uses, and the rule by which it refuses media types. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request_info.h"
#include "openapi/resource_type.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// 404, 405 and 422 have one text each; 406 and 415 say `message`.
Status RouterError(int code, std::string_view message = "");

// 406 when no clause of Accept names a media type that the route produces, 415 when a patch of a
// built-in kind has a type that is none. Whether a conversion in Accept is possible is decided
// later, by Negotiate.
Result<void> CheckRouteMedia(const Request& request, const RequestInfo& info,
                             const openapi::ResourceType& type);
// The same for documents about the API.
Result<void> CheckDocumentMedia(const Request& request);
// The same where JSON is all there is.
Result<void> CheckJsonMedia(const Request& request);

}  // namespace mailroom::apiserver
