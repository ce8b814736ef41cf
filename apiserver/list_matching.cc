#include "apiserver/list_matching.h"

#include "apiserver/implied.h"
#include "apiserver/settle.h"

namespace mailroom::apiserver {

Result<storage::CacheListResult> ListMatching(const Call& call, const ReadOptions& options,
                                              storage::CacheListOptions cache) {
  const Settler settle(call);
  if (!settle.asks()) {
    cache.labels = options.labels;
    cache.filter = FilterBeside(call, options);
    auto listed = TRY(ListPresent(call, cache));
    TRY(settle.All(listed.entries));
    return listed;
  }
  // Selectors mean the converted objects: pages are read until enough of them match.
  const storage::Filter filter = FilterOf(call, options);
  const std::size_t wanted = cache.limit;
  storage::CacheListResult out;
  while (true) {
    if (wanted > 0) cache.limit = wanted - out.entries.size();
    auto page = TRY(call.hub.store.List(cache));
    TRY(settle.All(page.entries));
    for (storage::Entry& entry : page.entries) {
      if (!filter || filter(*entry.object)) out.entries.push_back(std::move(entry));
    }
    out.revision = page.revision;
    out.next = std::move(page.next);
    out.remaining = page.remaining;
    if (out.next.empty() || out.entries.size() >= wanted) return out;
    cache.start_after = out.next;
    cache.at = out.revision;
  }
}

}  // namespace mailroom::apiserver
