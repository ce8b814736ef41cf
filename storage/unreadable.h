// Stored values that a cache cannot show. A header of its own, for few ask.
#pragma once

#include <cstddef>
#include <string>

namespace mailroom::storage {

class CachedStore;

struct Unreadable {
  std::size_t values = 0;
  std::size_t sealed = 0;  // of them, with a key that this server does not have
  std::string key = {};    // of one of them, a sealed one if there is any; "" when there is none
};

// Those that lie in the store now. Of each the cache shows the last state that could be read, and
// nothing when there was none.
Unreadable UnreadableValues(const CachedStore& store);

}  // namespace mailroom::storage
