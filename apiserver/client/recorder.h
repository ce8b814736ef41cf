// Tells users about an object by Events, as Kubernetes' own controllers do: the same thing said
// again counts up the Event that is there. Thread-safe; each call is at most one request.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "apiserver/client/client.h"
#include "storage/object/clock.h"

namespace mailroom::client {

class Recorder {
 public:
  Recorder(std::string component, const Clock& clock = Clock::Real())
      : component_(std::move(component)), clock_(clock) {}

  struct About {
    std::string api_version, kind, ns, name, uid;
  };
  // `type` is Normal or Warning. Events of cluster-scoped objects are kept in `default`.
  Result<void> Record(const Client& client, const About& about, const std::string& type,
                      const std::string& reason, const std::string& message);

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  struct Known {
    std::string name;  // of the Event
    std::int64_t count = 0;
  };

  const std::string component_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<Key, Known> known_;  // guarded by mutex_; bounded
};

}  // namespace mailroom::client
