// The documents that tell clients what a workspace serves: /api, /apis and below, legacy and
// aggregated, with ETags; /version. Thread-safe.
#pragma once

#include <optional>

#include "apiserver/document_cache.h"
#include "apiserver/request_info.h"

namespace mailroom::apiserver {

class Discovery {
 public:
  explicit Discovery(DocumentCache& cache) : cache_(cache) {}
  // The answer to a GET of a discovery path, or nothing when it is not one (or names nothing).
  std::optional<Response> Answer(const Request& request, const RequestInfo& info,
                                 const openapi::CatalogPtr& catalog);

 private:
  DocumentCache& cache_;
};

Json VersionDocument();

}  // namespace mailroom::apiserver
