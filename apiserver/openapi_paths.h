// GET /openapi/v2 (JSON and the gnostic protobuf form) and /openapi/v3 and below: the index, and
// one document per group version and per path of the server itself, with its hash in the URL. URLs carry the workspace's prefix,
// which clients of every age understand.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/document_cache.h"
#include "apiserver/request_info.h"
#include "openapi/descriptions.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// A document as the client wants it; 304 when it has it already.
Response DocumentResponse(const Request& request, std::vector<SharedBytes> body,
                          const std::string& hash, std::string_view type);

class OpenApiPaths {
 public:
  // `docs` may be null.
  OpenApiPaths(DocumentCache& cache, const openapi::ApiDocs* docs) : cache_(cache), docs_(docs) {}
  // The answer, or nothing when the path is not one of these.
  std::optional<Response> Answer(const Request& request, const RequestInfo& info,
                                 const openapi::CatalogPtr& catalog);

  // The content type in which the v2 document is wanted; "" when it is none that there is.
  static std::string Version2Type(const Request& request);
  // The v2 document with what others serve: `others` is given ours, and answers with the paths and
  // definitions to stand beside it. In pieces, of which those of ours are shared by all workspaces
  // that serve the same; `hash` names the whole.
  std::vector<SharedBytes> Version2With(const openapi::CatalogPtr& catalog, std::string_view type,
                                        const std::function<Json(const Json& ours)>& others,
                                        std::string& hash);

 private:
  // `path` is what follows /openapi/v3/.
  Document DocumentOf(const openapi::CatalogPtr& catalog, const std::string& path);
  // Its hash, without keeping the document: the index names all of them, and few are ever asked for.
  std::string HashOf(const openapi::CatalogPtr& catalog, const std::string& path);
  Document Gnostic(const openapi::CatalogPtr& catalog, const std::string& path,
                   const Document& json);
  Document Version2(const openapi::CatalogPtr& catalog, std::string_view type);
  // A piece of the JSON form that ends where others' definitions, or paths, can be added.
  SharedBytes OpenPiece(const openapi::CatalogPtr& catalog, const char* member);
  Response Index(const Request& request, const RequestInfo& info,
                 const openapi::CatalogPtr& catalog);
  DocumentCache& cache_;
  const openapi::ApiDocs* docs_;
};

}  // namespace mailroom::apiserver
