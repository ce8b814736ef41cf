// Bounds inside the evaluator of CEL, which only it needs.
#pragma once

#include <cstddef>

namespace mailroom::limits {

inline constexpr std::size_t kCelTypeParts = 500;       // of a type written out
inline constexpr std::size_t kCelTypeSteps = 10'000;    // of comparing two types
// Values may share parts: written out they can be exponentially larger than what they take.
inline constexpr std::size_t kCelValueSteps = 2'000'000;  // of one comparison or conversion

}  // namespace mailroom::limits
