// Turns stored entries into objects. A value that is not an object, or lies under a key that is
// not its own, changes nothing: somebody wrote there, so it is no deletion, and what followed one
// would be torn down by whoever watches. It is named in the log once, and counted until it is
// written anew or deleted. Thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "storage/cache_state.h"
#include "storage/unreadable.h"

namespace mailroom::storage {

class Decoder {
 public:
  // An entry without a value is a deletion. nullopt: there is nothing to apply, because the key is
  // not one of ours or its value cannot be read.
  std::optional<DecodedChange> Decode(const KeyValue& entry);

  // Counts from nothing; for whoever is about to decode everything there is.
  void Recount();
  Unreadable unreadable() const;

 private:
  void Complain(const std::string& key, const std::string& why);
  void Note(const KeyValue& entry, const std::string& why);
  void Settle(const std::string& key);

  mutable std::mutex mutex_;
  std::set<std::string> complained_;         // guarded by mutex_, bounded
  std::map<std::string, bool> unreadable_;   // guarded by mutex_; by key, whether it is sealed
  std::atomic<std::size_t> noted_{0};        // the size of unreadable_
};

}  // namespace mailroom::storage
