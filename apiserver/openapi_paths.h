// GET /openapi/v2 (JSON and the gnostic protobuf form) and /openapi/v3 and below: the index, and
// one document per group version and per path of the server itself, with its hash in the URL. URLs carry the workspace's prefix,
// which clients of every age understand.
#pragma once

#include <optional>

#include "apiserver/document_cache.h"
#include "apiserver/request_info.h"
#include "openapi/descriptions.h"

namespace mailroom::apiserver {

class OpenApiPaths {
 public:
  // `docs` may be null.
  OpenApiPaths(DocumentCache& cache, const openapi::ApiDocs* docs) : cache_(cache), docs_(docs) {}
  // The answer, or nothing when the path is not one of these.
  std::optional<Response> Answer(const Request& request, const RequestInfo& info,
                                 const openapi::CatalogPtr& catalog);

 private:
  // `path` is what follows /openapi/v3/.
  Document DocumentOf(const openapi::CatalogPtr& catalog, const std::string& path);
  Document Gnostic(const openapi::CatalogPtr& catalog, const std::string& path,
                   const Document& json);
  Response Version2(const Request& request, const openapi::CatalogPtr& catalog);
  Response Index(const Request& request, const RequestInfo& info,
                 const openapi::CatalogPtr& catalog);
  DocumentCache& cache_;
  const openapi::ApiDocs* docs_;
};

}  // namespace mailroom::apiserver
