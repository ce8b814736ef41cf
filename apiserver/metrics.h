// What the server counts, in Prometheus' text form at /metrics of the root workspace. All series
// are registered at start, so their number does not depend on workspaces or clients.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "storage/cached_store.h"

namespace mailroom::apiserver {

class Counter {
 public:
  void Add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Register everything before the first Text; Text and the counters are thread-safe.
class Metrics {
 public:
  // `labels` is empty or like `code="200"`; series of one name are registered one after another.
  Counter& AddCounter(const std::string& name, const std::string& help,
                      const std::string& labels = "");
  // Several gauges, or counters kept elsewhere, that one reading yields, in the order of `names`.
  struct Named {
    enum class Type { kGauge, kCounter };
    std::string name, help;
    Type type = Type::kGauge;
  };
  void AddGauges(std::vector<Named> names, std::function<std::vector<double>()> read);

  std::string Text() const;

 private:
  struct Series {
    std::string name, help, labels;
    Counter counter;
  };
  struct Gauges {
    std::vector<Named> names;
    std::function<std::vector<double>()> read;
  };
  std::deque<Series> counters_;  // a deque: references stay
  std::vector<Gauges> gauges_;
};

// The river: how far it is behind the engine, what it holds, how often it was interrupted.
// `store` must outlive `metrics`.
void AddStorageMetrics(Metrics& metrics, const storage::CachedStore& store);

}  // namespace mailroom::apiserver
