// Documents rendered from a catalogue, remembered per catalogue so that workspaces that serve the
// same kinds share one rendering; bounded. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "openapi/catalog.h"
#include "storage/object/object.h"

namespace mailroom::apiserver {

struct Document {
  SharedBytes body;
  std::string hash;  // upper-case hexadecimal SHA-512 of the body
};

std::string DocumentHash(std::string_view text);

class DocumentCache {
 public:
  // The document remembered under `key`, or the result of `make`.
  Document Get(const openapi::CatalogPtr& catalog, const std::string& key,
               const std::function<std::string()>& make);
  // Its hash alone; a document made for that is not remembered.
  std::string Hash(const openapi::CatalogPtr& catalog, const std::string& key,
                   const std::function<std::string()>& make);
  // Drops what was rendered from catalogues that are gone. New documents do so too.
  void Sweep();

 private:
  struct Remembered {
    std::weak_ptr<const openapi::Catalog> catalog;
    std::map<std::string, Document> documents;  // some without their body
  };
  // Nothing when it is not remembered.
  std::optional<Document> Find(const openapi::CatalogPtr& catalog, const std::string& key);
  void Remember(const openapi::CatalogPtr& catalog, const std::string& key, const Document& document);
  void SweepLocked();

  std::mutex mutex_;
  std::map<const openapi::Catalog*, Remembered> remembered_;  // guarded by mutex_
};

}  // namespace mailroom::apiserver
