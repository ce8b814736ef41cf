// The subscribers to one scope. Those who see every event of the scope, or of a namespace in it, share
// one list of a batch's events, so a batch costs each of them one entry however many events it holds.
// Guarded by the cache's lock.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "storage/subscription.h"

namespace mailroom::storage {

class Audience {
 public:
  bool empty() const { return whole_.empty() && choosy_.empty(); }
  std::size_t size() const;
  void Add(SubscriptionPtr subscription);
  void Remove(const SubscriptionPtr& subscription);
  void CopyTo(std::vector<SubscriptionPtr>& all) const;

  // Keeps the event for Flush. True for the first one since the last Flush.
  bool Offer(const EventPtr& event);
  // Queues what was offered; subscribers that have to be woken are added to `wake`.
  void Flush(std::vector<SubscriptionPtr>& wake);

 private:
  // Those who see every event of one namespace, or of all.
  struct Group {
    std::vector<SubscriptionPtr> members;  // never empty
    std::vector<Watcher::Item> offered;    // since the last Flush
  };
  using Groups = std::unordered_map<std::string, Group>;
  void OfferTo(const std::string& ns, const EventPtr& event);

  Groups whole_;                         // by namespace; "" for all of them
  std::vector<Group*> offered_;          // those of them with anything offered
  std::vector<SubscriptionPtr> choosy_;  // see what their filter lets through
  bool touched_ = false;
};

}  // namespace mailroom::storage
