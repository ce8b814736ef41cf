// The syncer's credential over time: when the certificate has to be renewed, and what happens when
// that fails. The old one is used until there is a new one. One thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "apiserver/client/kubeconfig.h"
#include "storage/object/clock.h"
#include "storage/object/result.h"

namespace mailroom::syncer {

class Rotation {
 public:
  struct Steps {
    // When to renew; nothing for a credential that is for ever.
    std::function<std::optional<std::chrono::system_clock::time_point>(const client::ServerConfig&)>
        due;
    std::function<Result<client::ServerConfig>(const client::ServerConfig&)> renew;
    std::function<Result<void>(const client::ServerConfig&)> keep;  // beyond this process
  };
  Rotation(client::ServerConfig config, Steps steps, const Clock& clock = Clock::Real())
      : config_(std::move(config)), steps_(std::move(steps)), clock_(clock) {}

  const client::ServerConfig& config() const { return config_; }
  // Time until the next attempt, zero when it is due; nothing when there will be none.
  std::optional<std::chrono::milliseconds> Left() const;
  // Renews when it is due; true when config() is a new one. What cannot be kept is used all the
  // same.
  bool Attempt();

 private:
  client::ServerConfig config_;
  const Steps steps_;
  const Clock& clock_;
  int failures_ = 0;
  std::chrono::system_clock::time_point not_before_{};  // after a failure
};

}  // namespace mailroom::syncer
