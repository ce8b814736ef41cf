#include "openapi/columns.h"

#include <atomic>
#include <map>

#include "openapi/cells.h"
#include "storage/object/clock.h"

namespace mailroom::openapi {
namespace {

std::int64_t RealNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::Real().Now().time_since_epoch())
      .count();
}

std::atomic<std::int64_t (*)()> column_clock{&RealNow};

// `3m20s`, or `3m` when the smaller part is zero.
std::string TwoUnits(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  std::string text = std::to_string(large) + large_unit;
  if (small != 0) text += std::to_string(small) + small_unit;
  return text;
}

}  // namespace

void SetColumnClock(std::int64_t (*now)()) { column_clock = now != nullptr ? now : &RealNow; }

std::string HumanDuration(std::int64_t seconds) {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const std::int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (minutes < 10) return TwoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return std::to_string(minutes) + "m";
  if (hours < 8) return TwoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return std::to_string(hours) + "h";
  if (days < 8) return TwoUnits(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return std::to_string(days) + "d";
  if (days < 365 * 8) return TwoUnits(days / 365, 'y', days % 365, 'd');
  return std::to_string(days / 365) + "y";
}

std::string ShortHumanDuration(std::int64_t seconds) {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const std::int64_t hours = seconds / 3600;
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m";
  if (hours < 24) return std::to_string(hours) + "h";
  if (hours < 24 * 365) return std::to_string(hours / 24) + "d";
  return std::to_string(hours / 24 / 365) + "y";
}

std::string Age(std::string_view timestamp) {
  if (timestamp.empty()) return "<unknown>";
  const std::int64_t then = ParseTime(timestamp);
  if (then < 0) return "<unknown>";
  return HumanDuration(ColumnNow() - then);
}

std::int64_t ColumnNow() { return column_clock.load()(); }

std::vector<Column> DefaultColumns() {
  Column created = ShownAs("Created At", "date", Text("metadata.creationTimestamp"));
  created.description = "Time at which the server stored the object first";
  return {NameColumn(), created};
}

std::vector<Column> BuiltinColumns(const GroupVersionKind& gvk) {
  using ByKind = std::map<std::pair<std::string_view, std::string_view>, std::vector<Column>>;
  static const auto* columns = [] {
    auto* by_kind = new ByKind;
    for (auto area : {CoreColumns, NodeColumns, WorkloadColumns, NetworkColumns, StorageColumns,
                      PolicyColumns, AutoscalingColumns}) {
      for (KindColumns& kind : area()) {
        by_kind->emplace(std::make_pair(kind.group, kind.kind), std::move(kind.columns));
      }
    }
    return by_kind;
  }();
  auto at = columns->find({gvk.group, gvk.kind});
  return at == columns->end() ? DefaultColumns() : at->second;
}

Json (*BuiltinRowConditions(const GroupVersionKind& gvk))(const Json& object) {
  return gvk.group.empty() && gvk.kind == "Pod" ? &PodRowConditions : nullptr;
}

}  // namespace mailroom::openapi
