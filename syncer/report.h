// What went wrong, per object, until it goes right; and the writing of it, with a heartbeat, into
// the status of SyncerConfig `the-one`, beside a summary of what is there. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "storage/object/clock.h"
#include "storage/object/json_fwd.h"
#include "syncer/keys.h"

namespace mailroom::syncer {

class Report {
 public:
  // `changed` is called, without a lock, whenever the errors are not what they were. `summary`
  // gives further members of the status; it is called by Write.
  Report(client::Client mailbox, const Clock& clock, std::function<void()> changed,
         std::function<Json()> summary);

  void Set(const Place& place, std::string message);
  void Clear(const Place& place);
  // At most limits::kReportErrors entries, ordered by place.
  Json Errors() const;
  // Writes if something changed or the heartbeat is due; says when to come again.
  Result<client::Requeue> Write();

 private:
  Result<Json> Send(const Json& status);

  const client::Client mailbox_;
  const Clock& clock_;
  const std::function<void()> changed_;
  const std::function<Json()> summary_;
  mutable std::mutex mutex_;
  std::map<Place, std::string> messages_;  // guarded by mutex_

  // Only used by Write, which runs on one worker at a time.
  std::string written_;
  std::chrono::steady_clock::time_point last_write_{};
  bool whole_ = false;  // the server has no status subresource of the kind
};

}  // namespace mailroom::syncer
