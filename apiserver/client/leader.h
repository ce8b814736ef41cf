// One of several processes leads: whoever holds a coordination.k8s.io/v1 Lease. Works against any
// Kubernetes API server and understands leases of client-go's electors. The candidates' clocks
// need not agree: a lease counts from when this process saw it change.
//
// A leader that cannot renew steps down before others may take over, provided that `stop` returns
// within the difference of the two times.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/client/client.h"
#include "storage/object/clock.h"

namespace mailroom::client {

class Leader {
 public:
  struct Options {
    Client client;
    std::string ns;
    std::string name;      // of the Lease
    std::string identity;  // of this process, unique
    std::chrono::milliseconds lease;    // others wait this long after the last renewal
    std::chrono::milliseconds renewal;  // not renewed by then: step down; less than `lease`
    std::chrono::milliseconds retry;    // between attempts
    const Clock& clock = Clock::Real();
  };
  // `start` and `stop` are called in turns from one thread; the lease is renewed meanwhile.
  static std::unique_ptr<Leader> Run(Options options, std::function<void()> start,
                                     std::function<void()> stop);
  // Steps down (calls `stop` when leading) and gives the lease back, so that another takes over
  // at once.
  virtual ~Leader() = default;
  virtual bool leading() const = 0;
};

}  // namespace mailroom::client
