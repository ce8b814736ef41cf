// The objects that are left of very many, each in a page of its own, put into few pages.
#pragma once

#include <cstdint>

#include "storage/cache_state.h"

namespace mailroom::storage {

// Replaces the objects by copies made one after another, when nearly all of them have gone
// (CacheState::Scattered); false when not. Holds the lock for a part of them at a time only.
bool GatherScattered(GuardedState& guarded, std::int64_t second);

}  // namespace mailroom::storage
