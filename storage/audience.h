// The subscribers to one scope. Those without a filter share one list of a batch's items, so a
// batch costs each of them one entry however many events it holds. Guarded by the cache's lock.
#pragma once

#include <vector>

#include "storage/subscription.h"

namespace mailroom::storage {

class Audience {
 public:
  bool empty() const { return whole_.empty() && choosy_.empty(); }
  std::size_t size() const { return whole_.size() + choosy_.size(); }
  void Add(SubscriptionPtr subscription);
  void Remove(const SubscriptionPtr& subscription);
  void CopyTo(std::vector<SubscriptionPtr>& all) const;

  // Keeps the event for Flush. True for the first one since the last Flush.
  bool Offer(const EventPtr& event);
  // Queues what was offered; subscribers that have to be woken are added to `wake`.
  void Flush(std::vector<SubscriptionPtr>& wake);

 private:
  std::vector<SubscriptionPtr> whole_;   // see every event
  std::vector<SubscriptionPtr> choosy_;  // see what their filter lets through
  std::vector<Watcher::Item> offered_;   // since the last Flush, for whole_
  bool touched_ = false;
};

}  // namespace mailroom::storage
