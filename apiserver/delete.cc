#include "apiserver/commit.h"
#include "apiserver/kinds.h"
#include "apiserver/list_matching.h"
#include "apiserver/render.h"
#include "apiserver/verbs.h"

namespace mailroom::apiserver {

namespace {

void WarnAboutDefault(Call& call, const DeleteRequest& request) {
  const char* text = RulesOf(*call.type).delete_warning;
  if (text != nullptr && request.propagation.empty()) call.Warn(text);
}

}  // namespace

Result<Response> Delete(Call& call) {
  const DeleteRequest request = TRY(ParseDelete(call));
  WarnAboutDefault(call, request);
  const Outcome outcome = TRY(Remove(call, call.info.name, request));
  if (outcome.removed && !call.type->returns_deleted) {
    return RenderDeleted(call, outcome.object->meta().name, outcome.object->meta().uid);
  }
  const bool pending = !outcome.removed && request.orphans_refused;
  return RenderObject(call, pending ? 202 : 200, outcome.object);
}

Result<Response> DeleteCollection(Call& call) {
  const ReadOptions options = TRY(ParseListOptions(call));
  const DeleteRequest request = TRY(ParseDelete(call));
  WarnAboutDefault(call, request);
  TRY(call.hub.store.Freshen());
  storage::CacheListOptions cache;
  cache.scope = {call.info.workspace, call.type->stored_as, call.info.ns};
  cache.limit = options.limit;
  if (!options.continue_token.empty()) {
    ContinueAt from = TRY(DecodeContinue(options.continue_token));
    cache.start_after = std::move(from.start_after);
    cache.at = from.revision;
  }
  auto listed = TRY(ListMatching(call, options, cache));
  ListPage page;
  page.revision = listed.revision;
  if (!listed.next.empty()) {
    page.continue_token = EncodeContinue({listed.revision, listed.next});
    if (!FilterOf(call, options)) page.remaining = listed.remaining;
  }
  const std::string ns = call.info.ns;
  for (storage::Entry& entry : listed.entries) {
    call.info.ns = std::string(entry.object->meta().ns);
    auto outcome = Remove(call, std::string(entry.object->meta().name), request);
    if (!outcome.ok()) {
      if (outcome.error().reason() == Reason::kNotFound) continue;
      return std::move(outcome).error();
    }
    page.entries.push_back(std::move(entry));
  }
  call.info.ns = ns;
  return RenderList(call, page);
}

}  // namespace mailroom::apiserver
