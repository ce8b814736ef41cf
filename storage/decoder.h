// Turns stored entries into objects. A value that is not an object, or lies under a key that is
// not its own, is named in the log once and then treated as absent. Thread-safe.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "storage/cache_state.h"

namespace mailroom::storage {

class Decoder {
 public:
  // An entry without a value is a deletion. nullopt: the key is not one of ours.
  std::optional<DecodedChange> Decode(const KeyValue& entry);

 private:
  void Complain(const std::string& key, const std::string& why);

  std::mutex mutex_;
  std::set<std::string> complained_;  // guarded by mutex_, bounded
};

}  // namespace mailroom::storage
