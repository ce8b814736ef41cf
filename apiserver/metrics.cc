#include "apiserver/metrics.h"

#include <cstdio>

#include "storage/unreadable.h"

namespace mailroom::apiserver {
namespace {

void Describe(const std::string& name, const std::string& help, const char* type,
              std::string& out) {
  out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

// Whole numbers as such, as far as a double holds them exactly.
std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

}  // namespace

Counter& Metrics::AddCounter(const std::string& name, const std::string& help,
                             const std::string& labels) {
  Series& series = counters_.emplace_back();
  series.name = name;
  series.help = help;
  series.labels = labels;
  return series.counter;
}

void Metrics::AddGauges(std::vector<Named> names, std::function<std::vector<double>()> read) {
  gauges_.push_back({std::move(names), std::move(read)});
}

std::string Metrics::Text() const {
  std::string out;
  const std::string* last = nullptr;
  for (const Series& each : counters_) {
    if (!last || *last != each.name) Describe(each.name, each.help, "counter", out);
    last = &each.name;
    out += each.name;
    if (!each.labels.empty()) out += "{" + each.labels + "}";
    out += " " + std::to_string(each.counter.value()) + "\n";
  }
  for (const Gauges& gauges : gauges_) {
    const std::vector<double> values = gauges.read();
    for (std::size_t i = 0; i < gauges.names.size(); ++i) {
      const auto& [name, help, type] = gauges.names[i];
      Describe(name, help, type == Named::Type::kCounter ? "counter" : "gauge", out);
      out += name + " " + Number(values[i]) + "\n";
    }
  }
  return out;
}

void AddStorageMetrics(Metrics& metrics, const storage::CachedStore& store) {
  constexpr auto kTotal = Metrics::Named::Type::kCounter;
  metrics.AddGauges(
      {{"mailroom_river_revision", "Revision that every cached object is at."},
       {"mailroom_river_lag_revisions", "Revisions the engine was known to be ahead of the cache."},
       {"mailroom_river_interruptions", "Times the watch of the engine was interrupted.", kTotal},
       {"mailroom_river_comparisons", "Times the cache was compared anew after history was lost.",
        kTotal},
       {"mailroom_cached_objects", "Objects in memory."},
       {"mailroom_cached_workspaces", "Workspaces that hold objects."},
       {"mailroom_cached_collections", "Resources in workspaces that hold objects."},
       {"mailroom_watchers", "Open watches on the cache."},
       {"mailroom_history_events", "Events that watches can resume from."},
       {"mailroom_unreadable_values", "Stored values of which only an earlier state is shown, if any."}},
      [&store] {
        const storage::CacheStats stats = store.Stats();
        auto number = [](auto value) { return static_cast<double>(value); };
        return std::vector<double>{
            number(stats.applied.value()), number(stats.probed.value() - stats.applied.value()),
            number(stats.interruptions),   number(stats.comparisons),
            number(stats.objects),         number(stats.workspaces),
            number(stats.collections),     number(stats.watchers),
            number(stats.history_events),  number(storage::UnreadableValues(store).values)};
      });
}

}  // namespace mailroom::apiserver
