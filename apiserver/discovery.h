// The documents that tell clients what a workspace serves: /api, /apis and below, legacy and
// aggregated, with ETags; /version; health. Rendered from a catalogue and remembered per
// catalogue, so workspaces that serve the same kinds share one rendering. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "apiserver/request_info.h"
#include "openapi/catalog.h"

namespace mailroom::apiserver {

class Discovery {
 public:
  // The answer to a GET of a discovery path, or nothing when it is not one (or names nothing).
  std::optional<Response> Answer(const Request& request, const RequestInfo& info,
                                 const openapi::CatalogPtr& catalog);

 private:
  struct Document {
    SharedBytes body;
    std::string etag;
  };
  struct Remembered {
    std::weak_ptr<const openapi::Catalog> catalog;
    std::map<std::string, Document> documents;
  };
  Document Render(const std::string& key, const openapi::CatalogPtr& catalog,
                  const std::function<Json()>& make);
  std::mutex mutex_;
  std::map<const openapi::Catalog*, Remembered> remembered_;  // guarded by mutex_
};

Json VersionDocument();

}  // namespace mailroom::apiserver
