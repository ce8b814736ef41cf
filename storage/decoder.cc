#include "storage/decoder.h"

#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/seal.h"

namespace mailroom::storage {

void Decoder::Complain(const std::string& key, const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (complained_.size() >= limits::kUndecodableLogged) return;
    if (!complained_.insert(key).second) return;
  }
  Log(Level::kError, "stored value skipped", {{"key", key}, {"error", why}});
}

void Decoder::Note(const KeyValue& entry, const std::string& why) {
  const bool sealed = Seal::IsSealed(*entry.value);
  {
    std::lock_guard lock(mutex_);
    unreadable_.insert_or_assign(entry.key, sealed);
    noted_ = unreadable_.size();
  }
  Complain(entry.key, sealed ? "it is sealed, and not with a key of this server" : why);
}

// For every value that can be read, so mostly one look.
void Decoder::Settle(const std::string& key) {
  if (noted_ == 0) return;
  std::lock_guard lock(mutex_);
  unreadable_.erase(key);
  noted_ = unreadable_.size();
}

void Decoder::Recount() {
  std::lock_guard lock(mutex_);
  unreadable_.clear();
  noted_ = 0;
}

Unreadable Decoder::unreadable() const {
  Unreadable all;
  if (noted_ == 0) return all;
  std::lock_guard lock(mutex_);
  for (const auto& [key, sealed] : unreadable_) {
    if (all.values++ == 0 || (sealed && all.sealed == 0)) all.key = key;
    if (sealed) ++all.sealed;
  }
  return all;
}

namespace {

Result<ObjectPtr> Read(const KeyValue& entry, const ResourceKey& key) {
  ObjectPtr object = TRY(Object::Decode(*entry.value, entry.mod_revision));
  if (object->meta().ns == key.ns && object->meta().name == key.name) return object;
  return Internal("its metadata names another object");
}

}  // namespace

std::optional<DecodedChange> Decoder::Decode(const KeyValue& entry) {
  Result<ResourceKey> key = ResourceKey::Parse(entry.key);
  if (!key.ok()) {
    if (entry.key == CompactionMark()) return std::nullopt;
    Complain(entry.key, key.error().message());
    return std::nullopt;
  }
  DecodedChange change{std::move(*key), nullptr, entry.mod_revision};
  if (entry.value) {
    Result<ObjectPtr> object = Read(entry, change.key);
    if (!object.ok()) {
      Note(entry, object.error().message());
      return std::nullopt;
    }
    change.object = std::move(*object);
  }
  Settle(entry.key);
  return change;
}

}  // namespace mailroom::storage
