// When freed memory is worth returning to the system: after much was forgotten, and once more when
// what goes with it has gone, too (older versions, which the engine's next compaction removes). A
// steady trickle delays neither.
#pragma once

#include <chrono>
#include <cstddef>

#include "storage/object/limits.h"

namespace mailroom::storage {

class TrimRule {
 public:
  // So many bytes were forgotten since the last call; whether to return memory now. `now` is of any
  // clock that does not go back.
  bool Due(std::size_t bytes, std::chrono::seconds now) {
    forgotten_ += bytes;
    const bool much = forgotten_ > limits::kTrimBytes;
    if (!much && now < again_) return false;
    forgotten_ = 0;
    again_ = much ? now + limits::kTrimAgain : kNever;
    return true;
  }

 private:
  static constexpr std::chrono::seconds kNever = std::chrono::seconds::max();
  std::size_t forgotten_ = 0;  // since memory was returned
  std::chrono::seconds again_ = kNever;
};

}  // namespace mailroom::storage
