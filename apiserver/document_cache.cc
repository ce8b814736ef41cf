#include "apiserver/document_cache.h"

#include <openssl/evp.h>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// One body for equal documents, whichever catalogues they were made from: those of built-in groups
// are the same in all workspaces that differ in their definitions.
SharedBytes SharedBody(const std::string& hash, std::string text) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const std::string>> bodies;  // by hash
  std::lock_guard lock(mutex);
  std::erase_if(bodies, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const std::string>& slot = bodies[hash];
  SharedBytes body = slot.lock();
  if (body == nullptr) slot = body = std::make_shared<const std::string>(std::move(text));
  return body;
}

}  // namespace

std::string DocumentHash(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), bytes, &size, EVP_sha512(), nullptr);
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    out += kHex[bytes[i] >> 4];
    out += kHex[bytes[i] & 15];
  }
  return out;
}

std::optional<Document> DocumentCache::Find(const openapi::CatalogPtr& catalog,
                                            const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto it = remembered_.find(catalog.get());
  if (it == remembered_.end() || it->second.catalog.lock() != catalog) return std::nullopt;
  const auto found = it->second.documents.find(key);
  if (found == it->second.documents.end()) return std::nullopt;
  return found->second;
}

void DocumentCache::Remember(const openapi::CatalogPtr& catalog, const std::string& key,
                             const Document& document) {
  std::lock_guard lock(mutex_);
  SweepLocked();
  if (remembered_.size() > limits::kRememberedCatalogs) remembered_.clear();
  Remembered& slot = remembered_[catalog.get()];
  if (slot.catalog.lock() != catalog) slot = {catalog, {}};
  slot.documents[key] = document;
}

Document DocumentCache::Get(const openapi::CatalogPtr& catalog, const std::string& key,
                            const std::function<std::string()>& make) {
  if (const auto known = Find(catalog, key); known && known->body) return *known;
  std::string text = make();
  const std::string hash = DocumentHash(text);
  Document document{SharedBody(hash, std::move(text)), hash};
  Remember(catalog, key, document);
  return document;
}

std::string DocumentCache::Hash(const openapi::CatalogPtr& catalog, const std::string& key,
                                const std::function<std::string()>& make) {
  if (const auto known = Find(catalog, key)) return known->hash;
  Document document{nullptr, DocumentHash(make())};
  Remember(catalog, key, document);
  return document.hash;
}

void DocumentCache::Sweep() {
  std::lock_guard lock(mutex_);
  SweepLocked();
}

void DocumentCache::SweepLocked() {
  std::erase_if(remembered_, [](const auto& entry) { return entry.second.catalog.expired(); });
}

}  // namespace mailroom::apiserver
