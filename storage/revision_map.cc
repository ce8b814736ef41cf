#include "storage/revision_map.h"

#include <algorithm>

namespace mailroom::storage {

const Version* RevisionMap::Newest(std::string_view key) const {
  auto it = records_.find(key);
  if (it == records_.end() || it->second.newest.deleted()) return nullptr;
  return &it->second.newest;
}

const Version* RevisionMap::VisibleAt(const Record& record, Revision revision) {
  const Version* found = nullptr;
  if (record.newest.revision() <= revision) {
    found = &record.newest;
  } else if (record.older) {
    auto it = std::upper_bound(
        record.older->begin(), record.older->end(), revision,
        [](Revision at, const Version& version) { return at < version.revision(); });
    if (it != record.older->begin()) found = &*std::prev(it);
  }
  return found && !found->deleted() ? found : nullptr;
}

const Version* RevisionMap::At(std::string_view key, Revision revision) const {
  auto it = records_.find(key);
  return it == records_.end() ? nullptr : VisibleAt(it->second, revision);
}

void RevisionMap::Visit(std::string_view from, std::string_view to, Revision revision,
                        const Visitor& visit) const {
  for (auto it = records_.lower_bound(from); it != records_.end(); ++it) {
    if (!to.empty() && it->first >= to) return;
    const Version* version = VisibleAt(it->second, revision);
    if (version && !visit(it->first, *version)) return;
  }
}

void RevisionMap::Apply(std::string_view key, Version version) {
  auto it = records_.lower_bound(key);
  if (it == records_.end() || it->first != key) {
    records_.emplace_hint(it, std::string(key), Record{version, nullptr});
    thinned_.Grown(records_.size());
    return;
  }
  Record& record = it->second;
  if (!record.older) record.older = std::make_unique<std::vector<Version>>();
  record.older->push_back(record.newest);
  record.newest = version;
}

void RevisionMap::Undo(std::string_view key, Revision revision) {
  auto it = records_.find(key);
  if (it == records_.end()) return;
  Record& record = it->second;
  while (record.newest.revision() > revision) {
    if (!record.older) {
      records_.erase(it);
      return;
    }
    record.newest = record.older->back();
    record.older->pop_back();
    if (record.older->empty()) record.older.reset();
  }
}

RevisionMap::Pruned RevisionMap::Prune(std::string_view from, Revision revision,
                                       std::size_t max_keys) {
  Pruned pruned;
  auto it = records_.lower_bound(from);
  for (std::size_t seen = 0; it != records_.end(); ++seen) {
    if (seen == max_keys) {
      pruned.next = it->first;
      return pruned;
    }
    Record& record = it->second;
    if (record.older) {
      // A version is unseen at `revision` and later when its successor is at or before it.
      std::vector<Version>& older = *record.older;
      std::size_t drop = 0;
      while (drop < older.size()) {
        const Version& successor = drop + 1 < older.size() ? older[drop + 1] : record.newest;
        if (successor.revision() > revision && !older[drop].deleted()) break;
        if (successor.revision() > revision && older[drop].revision() > revision) break;
        pruned.positions.push_back(older[drop].position);
        ++drop;
      }
      older.erase(older.begin(), older.begin() + static_cast<std::ptrdiff_t>(drop));
      if (older.empty()) {
        record.older.reset();
      } else {
        older.shrink_to_fit();
      }
    }
    if (!record.older && record.newest.deleted() && record.newest.revision() <= revision) {
      pruned.positions.push_back(record.newest.position);
      it = records_.erase(it);
    } else {
      ++it;
    }
  }
  return pruned;
}

void RevisionMap::Settle() {
  if (!thinned_.Now(records_.size())) return;
  Records together;
  for (auto& [key, record] : records_) {
    together.emplace_hint(together.end(), key, std::move(record));
  }
  records_.swap(together);
}

}  // namespace mailroom::storage
