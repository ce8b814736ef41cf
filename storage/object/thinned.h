// A container that has lost nearly all of what it held: the little that is left lies scattered, a
// piece to a page, and keeps the pages of all that has gone. Put into memory taken anew it lets them
// go.
#pragma once

#include <algorithm>
#include <cstddef>

#include "storage/object/limits.h"
#include "storage/object/process_memory.h"

namespace mailroom {

// When that is worth it. Of one container, guarded as that is.
class Thinned {
 public:
  // To be told when elements have come.
  void Grown(std::size_t size) { most_ = std::max(most_, size); }
  // Asked when some have gone, or may have. True when so little is left of so much; what there was
  // before no longer counts then. Never for so many that moving them would hold up others.
  bool Now(std::size_t size) {
    Grown(size);
    if (most_ < limits::kThinnedLeast || size > most_ / 4 || size > limits::kThinnedMost) return false;
    most_ = size;
    ReturnOwnFreed();  // which is just as scattered, and would be taken first
    return true;
  }

 private:
  std::size_t most_ = 0;
};

// Puts copies of what the container holds into its place.
template <typename Container>
void PutTogether(Container& container) {
  Container(container.begin(), container.end()).swap(container);
}

}  // namespace mailroom
