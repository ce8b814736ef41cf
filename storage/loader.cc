#include "storage/loader.h"

#include <algorithm>
#include <functional>
#include <shared_mutex>
#include <unordered_set>

#include "storage/object/limits.h"

namespace mailroom::storage {
namespace {

// Visits every entry of the hub at one revision, which is returned.
Result<Revision> VisitHub(Store& store, std::optional<Revision> at,
                          const std::function<void(const KeyValue&)>& visit) {
  ListOptions options;
  options.prefix = HubPrefix();
  options.limit = limits::kLoadPage;
  options.at = at;
  while (true) {
    ListResult page = TRY(store.List(options));
    for (const KeyValue& entry : page.entries) visit(entry);
    if (!page.more || page.entries.empty()) return page.revision;
    options.start_after = page.entries.back().key;
    options.at = page.revision;
  }
}

bool Readable(Store& store, Revision at) {
  ListOptions options;
  options.prefix = HubPrefix();
  options.limit = 1;
  options.at = at;
  return store.List(options).ok();
}

// The oldest readable revision in [low, high].
Revision OldestReadable(Store& store, Revision low, Revision high) {
  std::uint64_t first = low.value(), last = high.value();
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    if (Readable(store, Revision(middle))) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return Revision(last);
}

}  // namespace

Result<Loaded> LoadPast(Store& store, Decoder& decoder, std::size_t replay) {
  Loaded loaded;
  loaded.current = TRY(store.CurrentRevision());
  const std::uint64_t current = loaded.current.value();
  // Revision 1 may be the first change or, on etcd, the empty store.
  const Revision oldest(
      std::min(current, std::max<std::uint64_t>(1, current > replay ? current - replay : 0)));
  auto read = [&](Revision at) -> Result<void> {
    loaded.objects.clear();
    decoder.Recount();
    // Revision 0 is the empty store; engines take it for "no revision given".
    if (at == Revision()) {
      loaded.revision = at;
      return Ok();
    }
    loaded.revision = TRY(VisitHub(store, at, [&](const KeyValue& entry) {
      std::optional<DecodedChange> decoded = decoder.Decode(entry);
      if (decoded && decoded->object) loaded.objects.push_back(std::move(*decoded));
    }));
    return Ok();
  };
  // Somebody else's compaction may overtake us; the present is always readable.
  if (!read(OldestReadable(store, oldest, loaded.current)).ok()) TRY(read(loaded.current));
  return loaded;
}

Result<Difference> CompareWithStore(Store& store, Decoder& decoder, GuardedState& guarded) {
  Difference difference;
  auto find = [&](const ResourceKey& key) {
    std::shared_lock lock(guarded.lock);
    return guarded.state.Find(key);
  };
  std::unordered_set<const Object*> seen;
  std::vector<DecodedChange>& changes = difference.changes;
  decoder.Recount();
  difference.revision = TRY(VisitHub(store, std::nullopt, [&](const KeyValue& entry) {
    Result<ResourceKey> key = ResourceKey::Parse(entry.key);
    const ObjectPtr old = key.ok() ? find(*key) : nullptr;
    if (old && old->revision() == entry.mod_revision) {
      seen.insert(old.get());
      return;
    }
    std::optional<DecodedChange> decoded = decoder.Decode(entry);
    if (!decoded) {
      // Written over by something that cannot be read, unless it was deleted before that.
      if (old && entry.create_revision <= old->revision()) seen.insert(old.get());
      return;
    }
    if (old) seen.insert(old.get());
    if (old && old->meta().uid != decoded->object->meta().uid) {
      changes.push_back({decoded->key, nullptr, Revision(entry.mod_revision.value() - 1)});
    }
    changes.push_back(std::move(*decoded));
  }));
  std::shared_lock lock(guarded.lock);
  guarded.state.VisitAll([&](const CollectionName& name, const ObjectPtr& object) {
    if (seen.contains(object.get())) return;
    const Metadata& meta = object->meta();
    changes.push_back(
        {{name.workspace, name.resource, std::string(meta.ns), std::string(meta.name)},
         nullptr,
         difference.revision});
  });
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.revision < b.revision; });
  return difference;
}

}  // namespace mailroom::storage
