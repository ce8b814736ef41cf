#include "storage/decoder.h"

#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::storage {

void Decoder::Complain(const std::string& key, const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (complained_.size() >= limits::kUndecodableLogged) return;
    if (!complained_.insert(key).second) return;
  }
  Log(Level::kError, "stored value skipped", {{"key", key}, {"error", why}});
}

std::optional<DecodedChange> Decoder::Decode(const KeyValue& entry) {
  Result<ResourceKey> key = ResourceKey::Parse(entry.key);
  if (!key.ok()) {
    if (entry.key == CompactionMark()) return std::nullopt;
    Complain(entry.key, key.error().message());
    return std::nullopt;
  }
  DecodedChange change{std::move(*key), nullptr, entry.mod_revision};
  if (!entry.value) return change;
  Result<ObjectPtr> object = Object::Decode(*entry.value, entry.mod_revision);
  if (!object.ok()) {
    Complain(entry.key, object.error().message());
  } else if ((*object)->meta().ns != change.key.ns || (*object)->meta().name != change.key.name) {
    Complain(entry.key, "its metadata names another object");
  } else {
    change.object = std::move(*object);
  }
  return change;
}

}  // namespace mailroom::storage
