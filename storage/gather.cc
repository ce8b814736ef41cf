#include "storage/gather.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "storage/object/limits.h"
#include "storage/object/process_memory.h"

namespace mailroom::storage {
namespace {

using Left = std::vector<std::pair<CollectionName, ObjectPtr>>;

// Makes the copies of a part first, so that they lie together, and then exchanges them.
void Exchange(GuardedState& guarded, Left::const_iterator first, Left::const_iterator last) {
  std::vector<ObjectPtr> copies;
  for (auto at = first; at != last; ++at) {
    copies.push_back(at->second->AtRevision(at->second->revision()));
  }
  std::unique_lock lock(guarded.lock);
  for (std::size_t i = 0; first != last; ++first, ++i) {
    if (copies[i]) guarded.state.Exchange(first->first, first->second, std::move(copies[i]));
  }
}

}  // namespace

bool GatherScattered(GuardedState& guarded, std::int64_t second) {
  {
    std::unique_lock lock(guarded.lock);
    if (!guarded.state.Scattered(second)) return false;
  }
  ReturnOwnFreed();  // just as scattered, and taken first
  Left left;
  {
    std::shared_lock lock(guarded.lock);
    guarded.state.VisitAll([&left](const CollectionName& name, const ObjectPtr& object) {
      left.emplace_back(name, object);
    });
  }
  for (auto first = left.cbegin(); first != left.cend();) {
    const auto part = std::min<std::ptrdiff_t>(left.cend() - first, limits::kScanRows);
    Exchange(guarded, first, first + part);
    first += part;
  }
  return true;
}

}  // namespace mailroom::storage
