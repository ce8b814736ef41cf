#include "syncer/rotation.h"

#include <algorithm>

#include "apiserver/client/backoff.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::syncer {

using std::chrono::milliseconds;

std::optional<milliseconds> Rotation::Left() const {
  const auto due = steps_.due(config_);
  if (!due) return std::nullopt;
  const auto left = std::max(*due, not_before_) - clock_.Now();
  return std::max(std::chrono::ceil<milliseconds>(left), milliseconds(0));
}

bool Rotation::Attempt() {
  const auto left = Left();
  if (!left || *left > milliseconds(0)) return false;
  auto next = steps_.renew(config_);
  if (!next.ok()) {
    not_before_ = clock_.Now() +
                  client::Backoff(limits::kReconnectFirst, limits::kReconnectLast, failures_++);
    Log(Level::kWarn, "certificate not renewed", {{"error", next.error().message()}});
    return false;
  }
  failures_ = 0;
  not_before_ = {};
  config_ = std::move(*next);
  Log(Level::kInfo, "certificate renewed");
  if (const auto kept = steps_.keep(config_); !kept.ok()) {
    Log(Level::kWarn, "certificate not kept", {{"error", kept.error().message()}});
  }
  return true;
}

}  // namespace mailroom::syncer
