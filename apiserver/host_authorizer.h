// Asks the cluster that serves our API as an extension whether a user may use it, by
// SubjectAccessReview. Answers are remembered for a moment, and a yes for longer while the host
// gives no answer at all; else no answer is a no. Thread-safe; blocks.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "apiserver/auth/attributes.h"
#include "apiserver/auth/user.h"
#include "apiserver/client/client.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {

class HostAuthorizer {
 public:
  struct Times {
    std::chrono::milliseconds fresh = limits::kHostDecisionAge;
    std::chrono::milliseconds outage = limits::kHostOutage;
    std::chrono::milliseconds retry = limits::kHostRetry;
  };

  // The kubeconfig names the host and a user with the rights of system:auth-delegator there.
  static Result<std::unique_ptr<HostAuthorizer>> Open(const std::string& kubeconfig);

  HostAuthorizer(std::unique_ptr<client::Transport> transport, std::string base_path, Times times)
      : transport_(std::move(transport)), client_(*transport_, std::move(base_path), "mailroom"),
        times_(times) {}

  bool Allows(const User& user, const Attributes& asked);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Answer {
    bool allowed;
    Time given;
  };
  // What is remembered and good enough: for `age`. Null when there is nothing.
  const Answer* RecallLocked(const std::string& question, Time now,
                             std::chrono::milliseconds age) const;
  void RememberLocked(const std::string& question, bool allowed, Time now);
  // The host gave no answer.
  bool Silent(const std::string& question, Time now);

  const std::unique_ptr<client::Transport> transport_;
  const client::Client client_;
  const Times times_;
  std::mutex mutex_;
  std::unordered_map<std::string, Answer> answers_;  // by question; guarded by mutex_
  Time silent_until_ = {};  // until then it is not asked again; guarded by mutex_
};

}  // namespace mailroom::apiserver
