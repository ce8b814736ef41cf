// What the storage benchmarks share: objects of about one KiB, a load of concurrent writers, and
// the table.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "storage/object/resource_key.h"
#include "storage/store.h"

namespace mailroom::storage::bench {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration duration);
double CpuSeconds();  // of this process so far
std::string Milliseconds(double seconds);
void Head();
void Row(const std::string& what, double value, const std::string& unit, double target,
         const std::string& note = "");

SharedBytes MakeValue(const std::string& name);
ResourceKey KeyOf(int workspace, int number);
Txn PutTxn(const ResourceKey& key);

struct Load {
  double per_second;
  double p50, p99;  // seconds
  double cpu;       // seconds of this process per transaction

  std::string Latency() const;
};

// Keeps `writers` transactions under way until `total` are done. `commit` calls its second
// argument once, on any thread, with whether it succeeded.
using CommitOne = std::function<void(Txn txn, std::function<void(bool)> done)>;
Load RunWriters(const CommitOne& commit, int writers, int total);
Load RunWriters(Store& store, int writers, int total);
// One thread that waits for each transaction.
Load RunLoneWriter(Store& store, int total);

}  // namespace mailroom::storage::bench
