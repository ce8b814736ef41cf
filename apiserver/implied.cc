#include "apiserver/implied.h"

#include <algorithm>

#include "apiserver/kinds.h"
#include "storage/cache_state.h"

namespace mailroom::apiserver {
namespace {

// The first commit of a store is root's namespaces: nothing else is stored at this revision, and
// nothing is listed at an earlier one.
constexpr Revision kImplied{1};

// In the order of their names. Only kinds without namespaces have any.
std::vector<ObjectPtr> ImpliedOf(const Hub& hub, const WorkspaceView& workspace,
                                 const openapi::ResourceType& type) {
  const KindRules& rules = RulesOf(type);
  if (rules.implied == nullptr || workspace.name.empty()) return {};
  std::vector<ObjectPtr> out;
  for (const Json& tree : rules.implied(hub, workspace)) out.push_back(Object::Make(tree, kImplied));
  std::sort(out.begin(), out.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
    return a->meta().name < b->meta().name;
  });
  return out;
}

// What entries point into, held by each of them.
struct Place {
  Workspace workspace;
  GroupResource resource;
};

// All that is stored, in the order of names, and what is implied between it.
std::vector<storage::Entry> Merged(const Call& call, std::vector<storage::Entry> stored,
                                   const std::vector<ObjectPtr>& implied) {
  const auto place = std::make_shared<const Place>(Place{call.info.workspace, call.type->stored_as});
  std::vector<storage::Entry> out;
  out.reserve(stored.size() + implied.size());
  auto next = stored.begin();
  for (const ObjectPtr& object : implied) {
    const std::string_view name = object->meta().name;
    while (next != stored.end() && next->object->meta().name < name) out.push_back(std::move(*next++));
    if (next != stored.end() && next->object->meta().name == name) continue;
    out.push_back({{place, &place->workspace}, object, &place->resource});
  }
  out.insert(out.end(), std::make_move_iterator(next), std::make_move_iterator(stored.end()));
  return out;
}

// The part of a list that is asked for.
storage::CacheListResult Page(const storage::CacheListOptions& options,
                              std::vector<storage::Entry> all, Revision revision) {
  storage::CacheListResult page;
  page.revision = revision;
  for (storage::Entry& entry : all) {
    const std::string at = storage::ListPosition(*entry.workspace, *entry.object);
    if (!options.start_after.empty() && at <= options.start_after) continue;
    if (!options.labels.Matches(entry.object->meta().labels)) continue;
    if (options.filter && !options.filter(*entry.object)) continue;
    if (options.limit != 0 && page.entries.size() == options.limit) {
      ++page.remaining;
      continue;
    }
    page.entries.push_back(std::move(entry));
  }
  if (page.remaining > 0) {
    const storage::Entry& last = page.entries.back();
    page.next = storage::ListPosition(*last.workspace, *last.object);
  }
  return page;
}

}  // namespace

ObjectPtr Present(const Hub& hub, const WorkspaceView& workspace, const openapi::ResourceType& type,
                  const ResourceKey& key) {
  if (ObjectPtr stored = hub.store.Get(key)) return stored;
  for (ObjectPtr& object : ImpliedOf(hub, workspace, type)) {
    if (object->meta().name == key.name) return std::move(object);
  }
  return nullptr;
}

Revision StoredRevision(const Object& present) {
  return present.revision() == kImplied ? Revision() : present.revision();
}

Result<storage::CacheListResult> ListPresent(const Call& call,
                                             const storage::CacheListOptions& options) {
  const auto implied = ImpliedOf(call.hub, call.workspace, *call.type);
  if (implied.empty()) return call.hub.store.List(options);
  // All of them, since what is stored hides what is implied, whatever the filter says of it.
  storage::CacheListOptions every;
  every.scope = options.scope;
  every.at = options.at;
  auto stored = TRY(call.hub.store.List(every));
  return Page(options, Merged(call, std::move(stored.entries), implied), stored.revision);
}

Result<void> AddImplied(const Call& call, const storage::Filter& filter,
                        storage::CacheWatch& watch) {
  if (RulesOf(*call.type).implied == nullptr) return Ok();
  storage::CacheListOptions all;
  all.scope = {call.info.workspace, call.type->stored_as, ""};
  all.filter = filter;
  all.at = watch.revision;
  watch.initial = TRY(ListPresent(call, all)).entries;
  return Ok();
}

}  // namespace mailroom::apiserver
