#include "storage/bench_load.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <vector>

#include "storage/object/json.h"

namespace mailroom::storage::bench {

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string Milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", seconds * 1000);
  return text;
}

std::string Load::Latency() const {
  return "p50 " + Milliseconds(p50) + ", p99 " + Milliseconds(p99) + ", cpu " +
         std::to_string(static_cast<int>(cpu * 1e6)) + " us";
}

void Head() { std::printf("%-52s %12s %-10s %12s\n", "what", "measured", "unit", "target"); }

void Row(const std::string& what, double value, const std::string& unit, double target,
         const std::string& note) {
  const std::string wanted = target > 0 ? std::to_string(static_cast<long>(target)) : "";
  std::printf("%-52s %12.0f %-10s %12s  %s\n", what.c_str(), value, unit.c_str(), wanted.c_str(),
              note.c_str());
  std::fflush(stdout);
}

SharedBytes MakeValue(const std::string& name) {
  const Json tree = {{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata",
                      {{"name", name},
                       {"namespace", "default"},
                       {"uid", "0f8fad5b-d9cb-469f-a165-70867728950e"},
                       {"creationTimestamp", "2024-01-01T00:00:00Z"},
                       {"labels", {{"app", "bench"}, {"tier", "back"}}}}},
                     {"data", {{"key", std::string(784, 'x')}}}};
  return std::make_shared<const std::string>(Object::Encode(tree));
}

ResourceKey KeyOf(int workspace, int number) {
  return {Workspace("ws-" + std::to_string(workspace)), GroupResource{"", "configmaps"}, "default",
          "object-" + std::to_string(number)};
}

Txn PutTxn(const ResourceKey& key) {
  return {{}, {{Operation::Type::kPut, key.ToStoreKey(), MakeValue(key.name)}}};
}

namespace {

Load Summary(std::vector<double> latencies, double elapsed, double cpu) {
  std::sort(latencies.begin(), latencies.end());
  const auto total = static_cast<double>(latencies.size());
  return {total / elapsed, latencies[latencies.size() / 2], latencies[latencies.size() * 99 / 100],
          cpu / total};
}

}  // namespace

Load RunWriters(const CommitOne& commit, int writers, int total) {
  std::vector<Txn> prepared;
  for (int i = 0; i < total; ++i) prepared.push_back(PutTxn(KeyOf(i % 100, i)));
  std::vector<double> latencies(static_cast<std::size_t>(total));
  std::atomic<int> next = 0, done = 0, failed = 0;
  std::mutex mutex;
  std::condition_variable finished;
  std::function<void()> issue = [&] {
    const int number = next++;
    if (number >= total) return;
    const auto index = static_cast<std::size_t>(number);
    const Clock::time_point since = Clock::now();
    commit(std::move(prepared[index]), [&, index, since](bool ok) {
      latencies[index] = Seconds(Clock::now() - since);
      if (!ok) ++failed;
      issue();
      std::lock_guard lock(mutex);
      if (++done == total) finished.notify_all();
    });
  };
  const Clock::time_point start = Clock::now();
  const double cpu = CpuSeconds();
  for (int i = 0; i < writers; ++i) issue();
  {
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return done == total; });
  }
  const double elapsed = Seconds(Clock::now() - start);
  if (failed > 0) std::printf("!! %d transactions failed\n", failed.load());
  return Summary(std::move(latencies), elapsed, CpuSeconds() - cpu);
}

Load RunLoneWriter(Store& store, int total) {
  std::vector<double> latencies;
  const Clock::time_point start = Clock::now();
  const double cpu = CpuSeconds();
  for (int i = 0; i < total; ++i) {
    const Clock::time_point since = Clock::now();
    if (!CommitAndWait(store, PutTxn(KeyOf(i % 100, i))).ok()) std::printf("!! failed\n");
    latencies.push_back(Seconds(Clock::now() - since));
  }
  return Summary(std::move(latencies), Seconds(Clock::now() - start), CpuSeconds() - cpu);
}

Load RunWriters(Store& store, int writers, int total) {
  return RunWriters(
      [&](Txn txn, std::function<void(bool)> done) {
        store.Commit(std::move(txn), [done = std::move(done)](Result<TxnResult> result) {
          done(result.ok() && result->committed);
        });
      },
      writers, total);
}

}  // namespace mailroom::storage::bench
