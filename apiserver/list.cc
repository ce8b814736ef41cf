#include <algorithm>

#include "apiserver/list_matching.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// Brings the cache to the state the options ask for; sets `at` for an exact one.
Result<void> Position(Call& call, const ReadOptions& options, storage::CacheListOptions& cache) {
  storage::CachedStore& store = call.hub.store;
  if (!options.resource_version) return store.Freshen();
  const Revision wanted = *options.resource_version;
  if (wanted == Revision()) return Ok();
  TRY(store.WaitFor(wanted, call.Patience()));
  const bool exact = options.match == Match::kExact ||
                     (options.match == Match::kUnset && options.limit > 0);
  if (exact) cache.at = wanted;
  return Ok();
}

}  // namespace

Result<Response> List(Call& call) {
  const ReadOptions options = TRY(ParseListOptions(call));
  storage::CacheListOptions cache;
  cache.scope = {call.info.workspace, call.type->stored_as, call.info.ns};
  cache.limit = std::min(options.limit, limits::kListPageMax);
  if (options.continue_token.empty()) {
    TRY(Position(call, options, cache));
  } else {
    ContinueAt from = TRY(DecodeContinue(options.continue_token));
    cache.start_after = std::move(from.start_after);
    cache.at = from.revision;
    if (!from.revision) TRY(call.hub.store.Freshen());
  }
  auto listed = ListMatching(call, options, cache);
  if (!listed.ok()) {
    Status error = std::move(listed).error();
    if (error.reason() != Reason::kExpired) return error;
    if (options.continue_token.empty()) {
      return Expired("The resourceVersion for the provided list is too old.");
    }
    Status expired = Expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.");
    expired.WithContinue(EncodeContinue({std::nullopt, cache.start_after}));
    return expired;
  }
  ListPage page;
  page.entries = std::move(listed->entries);
  page.revision = listed->revision;
  if (!listed->next.empty()) {
    page.continue_token = EncodeContinue({listed->revision, listed->next});
    if (!FilterOf(call, options)) page.remaining = listed->remaining;
  }
  return RenderList(call, std::move(page));
}

}  // namespace mailroom::apiserver
