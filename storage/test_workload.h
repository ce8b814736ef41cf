// Traffic for judging a store: clients that write, compare, delete and read a few hot keys, and
// watches that begin anywhere. Everything goes through a Recorder.
#pragma once

#include <atomic>
#include <functional>

#include "storage/history_checker.h"

namespace mailroom::storage::testing {

struct Workload {
  int clients = 4;
  int calls = 200;  // per client; 0: until the disturbance is over
  int watches = 6;
  int minimum = 20;  // acknowledged writes; fewer prove nothing and count as a failure
  unsigned seed = 1;
};

// What runs beside the traffic and disturbs it. It calls `progress` between its steps, which
// waits until some more writes were acknowledged and says whether that happened.
using Disturbance = std::function<void(const std::function<bool()>& progress)>;

// Runs it to the end, waits for the watches, and judges. All waits have an end; a store that does
// not recover is a violation.
std::vector<std::string> RunAndJudge(Store& store, const Workload& workload,
                                     const Disturbance& disturb = {});
// Only the traffic, for a store that is judged later. `over` ends traffic without a set length.
void RunTraffic(Store& store, Recorder& recorder, const Workload& workload,
                const std::atomic<bool>& over = false);

}  // namespace mailroom::storage::testing
