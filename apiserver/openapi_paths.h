// GET /openapi/v2 (JSON and the gnostic protobuf form) and /openapi/v3 and below: the index, and
// one document per group version with its hash in the URL. URLs carry the workspace's prefix,
// which clients of every age understand.
#pragma once

#include <optional>

#include "apiserver/document_cache.h"
#include "apiserver/request_info.h"

namespace mailroom::apiserver {

class OpenApiPaths {
 public:
  explicit OpenApiPaths(DocumentCache& cache) : cache_(cache) {}
  // The answer, or nothing when the path is not one of these.
  std::optional<Response> Answer(const Request& request, const RequestInfo& info,
                                 const openapi::CatalogPtr& catalog);

 private:
  Document DocumentOf(const openapi::CatalogPtr& catalog, const std::string& group,
                      const std::string& version);
  Document Gnostic(const openapi::CatalogPtr& catalog, const std::string& group,
                   const std::string& version, const Document& json);
  Response Version2(const Request& request, const openapi::CatalogPtr& catalog);
  Response Index(const Request& request, const RequestInfo& info,
                 const openapi::CatalogPtr& catalog);
  DocumentCache& cache_;
};

}  // namespace mailroom::apiserver
