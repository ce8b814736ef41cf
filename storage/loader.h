// Reading the whole hub by range: the first load, which goes back as far as history allows so
// that watches resume across a restart, and the difference to what a cache already holds.
#pragma once

#include <vector>

#include "storage/cache_state.h"
#include "storage/decoder.h"
#include "storage/store.h"

namespace mailroom::storage {

struct Loaded {
  std::vector<DecodedChange> objects;
  Revision revision;  // the state they reflect
  Revision current;   // of the store when the load began
};

// The state at most `replay` revisions ago, or the oldest retained one after that.
Result<Loaded> LoadPast(Store& store, Decoder& decoder, std::size_t replay);

// What leads from `state` to the store's present, oldest first: the sum of the changes to each
// object, a replaced object (another uid) as its deletion and creation. What has become unreadable
// stays. Nobody may apply changes to `state` meanwhile.
struct Difference {
  std::vector<DecodedChange> changes;
  Revision revision;
};
Result<Difference> CompareWithStore(Store& store, Decoder& decoder, GuardedState& guarded);

}  // namespace mailroom::storage
