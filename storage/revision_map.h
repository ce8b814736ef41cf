// Every key of the embedded engine with the versions that are still retained, in key order. Holds
// no values: a version names the position of its value in the log. Not thread-safe; the engine
// guards it.
//
// Versions newer than the engine's published revision are present while their batch is being
// flushed; readers never see them because every read names a revision.
#pragma once

#include <absl/container/btree_map.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/change_log.h"
#include "storage/object/thinned.h"

namespace mailroom::storage {

struct Version {
  Position position;
  Revision created;  // zero: this version is a deletion

  bool deleted() const { return created == Revision(); }
  Revision revision() const { return position.revision(); }
};

class RevisionMap {
 public:
  // The newest version of `key` if the key exists, flushed or not.
  const Version* Newest(std::string_view key) const;
  // The version that was current at `revision`, or nullptr when the key did not exist then.
  const Version* At(std::string_view key, Revision revision) const;

  // Calls visit(key, version) for the keys in [from, to) that existed at `revision`, in order,
  // until it returns false. An empty `to` means no bound.
  using Visitor = std::function<bool(const std::string& key, const Version& version)>;
  void Visit(std::string_view from, std::string_view to, Revision revision,
             const Visitor& visit) const;

  // Adds a version newer than all others of `key`.
  void Apply(std::string_view key, Version version);
  // Removes the versions of `key` that are newer than `revision`.
  void Undo(std::string_view key, Revision revision);

  struct Pruned {
    std::vector<Position> positions;  // no longer needed
    std::string next;                 // continue from this key; empty when done
  };
  // Drops what no read at `revision` or later can see, looking at `max_keys` keys from `from` on.
  Pruned Prune(std::string_view from, Revision revision, std::size_t max_keys);
  // Puts together what is left when nearly all has been pruned.
  void Settle();

 private:
  struct Record {
    Version newest;
    std::unique_ptr<std::vector<Version>> older;  // ascending; null when there are none
  };
  static const Version* VisibleAt(const Record& record, Revision revision);

  using Records = absl::btree_map<std::string, Record, std::less<>>;
  Records records_;
  Thinned thinned_;
};

}  // namespace mailroom::storage
