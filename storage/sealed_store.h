// A Store whose chosen values lie encrypted in the engine below it; readers and writers above see
// plain ones.
#pragma once

#include <memory>

#include "storage/seal.h"
#include "storage/store.h"

namespace mailroom::storage {

std::unique_ptr<Store> OpenSealed(std::unique_ptr<Store> below, Seal seal);

// Writes every value anew that is not sealed as `seal` now wants it: after a key was added, after
// encryption was turned on or off. Returns how many. Values that change meanwhile are left to
// their writers.
Result<std::size_t> Reseal(Store& below, const Seal& seal);

}  // namespace mailroom::storage
