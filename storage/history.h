// The recent events of the whole hub, oldest first, bounded in number, bytes and age. Each event is
// also chained to the one before it of the same collection and of the same resource, so that
// resuming a watch or undoing changes walks only the events in question. Not thread-safe; the
// cache guards it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "storage/event.h"

namespace mailroom::storage {

// The events of one collection, or of one resource over all workspaces.
struct Chain {
  std::uint64_t newest = 0;  // number of its newest event, 0 for none
  std::size_t retained = 0;  // its events that are still in the history
  Revision evicted;          // of the newest one that no longer is
};

class History {
 public:
  History(std::size_t max_events, std::size_t max_bytes)
      : max_events_(max_events), max_bytes_(max_bytes) {}

  enum class Along { kCollection, kResource };

  // `second` is when, on any clock that does not go back. Collections whose last event went are
  // added to `drained`.
  void Append(EventPtr event, std::int64_t second, Chain& collection, Chain& resource,
              std::vector<Chain*>& drained);
  // Forgets the events from before `second`; returns the bytes that they kept.
  std::size_t EvictBefore(std::int64_t second, std::vector<Chain*>& drained);
  // Events of `chain` with a revision greater than `after`, newest first.
  std::vector<EventPtr> After(const Chain& chain, Along along, Revision after) const;
  // Events of the whole hub with a revision greater than `after`, newest first.
  std::vector<EventPtr> After(Revision after) const;
  // Of the newest event that was forgotten.
  Revision evicted() const { return evicted_; }
  std::size_t size() const { return slots_.size(); }

 private:
  struct Slot {
    EventPtr event;
    std::int64_t second;
    Chain* chains[2];         // by Along
    std::uint64_t before[2];  // number of the previous event of the chain
  };
  static std::size_t Bytes(const Event& event);
  void EvictOldest(std::vector<Chain*>& drained);

  const std::size_t max_events_;
  const std::size_t max_bytes_;
  std::deque<Slot> slots_;
  std::uint64_t first_ = 1;  // number of slots_.front()
  std::size_t bytes_ = 0;    // of versions that only the history keeps
  Revision evicted_;
};

}  // namespace mailroom::storage
