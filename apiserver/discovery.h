// The documents that tell clients what a workspace serves: /api, /apis and below, legacy and
// aggregated, with ETags; /version. Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "apiserver/document_cache.h"
#include "apiserver/request_info.h"

namespace mailroom::apiserver {

class Discovery {
 public:
  // `url` is where clients find the server; "" when nobody is told.
  Discovery(DocumentCache& cache, const std::string& url) : cache_(cache), url_(url) {}
  // The answer to a GET of a discovery path, or nothing when it is not one (or names nothing).
  std::optional<Response> Answer(const Request& request, const RequestInfo& info,
                                 const openapi::CatalogPtr& catalog);

 private:
  DocumentCache& cache_;
  const std::string& url_;
};

Json VersionDocument();

}  // namespace mailroom::apiserver
