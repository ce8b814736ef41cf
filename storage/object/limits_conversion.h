// The bounds of conversion webhooks.
#pragma once

#include "storage/object/limits.h"

namespace mailroom::limits {

inline constexpr std::size_t kConversionBytes = 4 * 1024 * 1024;  // of objects in one call, so the answer fits
inline constexpr std::size_t kConvertedBytes = 32 * 1024 * 1024;  // kept for lists and watches
inline constexpr std::size_t kConversionThreads = 2;              // for watches, but for those that wait
inline constexpr std::size_t kConversionQueue = 4096;             // batches of watches; then 429

}  // namespace mailroom::limits
