// Asks the cluster that serves our API as an extension whether a user may use it, by
// SubjectAccessReview. Answers are remembered for a moment; no answer is a no. Thread-safe; blocks.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "apiserver/auth/attributes.h"
#include "apiserver/auth/user.h"
#include "apiserver/client/client.h"

namespace mailroom::apiserver {

class HostAuthorizer {
 public:
  // The kubeconfig names the host and a user with the rights of system:auth-delegator there.
  static Result<std::unique_ptr<HostAuthorizer>> Open(const std::string& kubeconfig);

  bool Allows(const User& user, const Attributes& asked);

 private:
  explicit HostAuthorizer(std::unique_ptr<client::Transport> transport, std::string base_path)
      : transport_(std::move(transport)), client_(*transport_, std::move(base_path), "mailroom") {}

  struct Answer {
    bool allowed;
    std::chrono::steady_clock::time_point until;
  };
  const std::unique_ptr<client::Transport> transport_;
  const client::Client client_;
  std::mutex mutex_;
  std::unordered_map<std::string, Answer> answers_;  // by question; guarded by mutex_
};

}  // namespace mailroom::apiserver
