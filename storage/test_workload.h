// Traffic for judging a store: clients that write, compare, delete and read a few hot keys, and
// watches that begin anywhere. Everything goes through a Recorder.
#pragma once

#include <functional>

#include "storage/history_checker.h"

namespace mailroom::storage::testing {

struct Workload {
  int clients = 4;
  int calls = 200;  // per client
  int watches = 6;
  unsigned seed = 1;
  // Ends the traffic when it returns false; for tests that stop it themselves.
  std::function<bool()> go_on = [] { return true; };
};

// Runs it to the end, waits for the watches, and judges. `during` runs beside the traffic.
std::vector<std::string> RunAndJudge(Store& store, const Workload& workload,
                                     const std::function<void()>& during = {});
// Only the traffic, for a store that is judged later.
void RunTraffic(Store& store, Recorder& recorder, const Workload& workload);

}  // namespace mailroom::storage::testing
