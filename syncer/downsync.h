// The reconciler of one object: makes the WEC's object agree with the mailbox's copy, or brings
// its status home, with at most one write. Compares caches; asks a server only before it creates
// or deletes.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "apiserver/client/controller.h"
#include "syncer/decide.h"
#include "syncer/parts.h"
#include "syncer/removal.h"

namespace mailroom::syncer {

class Downsync {
 public:
  explicit Downsync(Parts& parts) : parts_(parts), removal_(parts) {}

  // `api_version` is the one in use for the place's resource.
  Result<client::Requeue> Reconcile(const Place& place, const std::string& api_version);

 private:
  struct Pair {
    std::optional<Json> copy;      // in the mailbox, not being deleted
    std::optional<Json> desired;   // what the WEC should have
    std::optional<Json> existing;  // what it has
  };

  Result<Pair> Look(const Place& place, const std::string& api_version, const Selection& selection);
  Situation Judge(const Place& place, const Pair& pair, const Selection& selection);
  Result<void> Act(Action action, const Place& place, const std::string& api_version, Pair& pair);
  Result<void> Apply(const Place& place, const std::string& api_version, Pair& pair);
  Result<void> MarkCreateOnly(const Place& place, const std::string& api_version);
  bool Settled(const Place& place, const Json& desired, const Json& existing);
  void Settle(const Place& place, const Json& desired, const Json& existing);

  Parts& parts_;
  Removal removal_;
  std::mutex mutex_;
  // Guarded by mutex_: how the WEC writes what was applied, where it differs from the wording
  // applied (fingerprint of the projection).
  std::map<Place, std::string> wordings_;
};

}  // namespace mailroom::syncer
