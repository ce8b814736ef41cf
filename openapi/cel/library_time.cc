// Parts of timestamps and durations.
#include <absl/time/time.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

// A moment in the calendar.
struct Parts {
  std::int64_t year = 0;
  int month = 0;         // 0 is January
  int day = 0;           // 0 is the first
  int day_of_year = 0;   // 0 is the first of January
  int day_of_week = 0;   // 0 is Sunday
  int hours = 0, minutes = 0, seconds = 0, millis = 0;
};

Parts PartsOf(Moment moment) {
  const std::string text = FormatMoment(moment);
  Parts parts;
  int year = 0;
  std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d", &year, &parts.month, &parts.day, &parts.hours,
              &parts.minutes, &parts.seconds);
  parts.year = year;
  static constexpr int kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  --parts.month;
  --parts.day;
  parts.day_of_year = kBefore[parts.month] + parts.day + (leap && parts.month > 1 ? 1 : 0);
  std::int64_t days = moment.seconds / 86400 - (moment.seconds % 86400 < 0 ? 1 : 0);
  parts.day_of_week = static_cast<int>(((days + 4) % 7 + 7) % 7);
  parts.millis = moment.nanos / 1'000'000;
  return parts;
}

// A zone by its name in the system's database. Only names that are there are looked up, because
// each that is stays in memory.
bool NamedOffset(std::string_view zone, Moment moment, std::int64_t& seconds) {
  const bool plain = std::all_of(zone.begin(), zone.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '+' ||
           c == '/';
  });
  const std::string name(zone);
  std::error_code error;
  if (!plain || zone.front() == '/' ||
      !std::filesystem::is_regular_file("/usr/share/zoneinfo/" + name, error)) {
    return false;
  }
  absl::TimeZone found;
  if (!absl::LoadTimeZone(name, &found)) return false;
  seconds = found.At(absl::FromUnixSeconds(moment.seconds)).offset;
  return true;
}

// `+01:30`, `-08:00`, `02:00`, UTC, or a name such as `America/New_York`.
bool ZoneOffset(std::string_view zone, Moment moment, std::int64_t& seconds) {
  if (zone == "UTC" || zone.empty()) return true;
  if (std::isalpha(static_cast<unsigned char>(zone[0])) != 0) {
    return NamedOffset(zone, moment, seconds);
  }
  bool minus = false;
  if (zone[0] == '+' || zone[0] == '-') {
    minus = zone[0] == '-';
    zone.remove_prefix(1);
  }
  int hours = 0, minutes = 0, used = 0;
  const std::string text(zone);
  if (std::sscanf(text.c_str(), "%2d:%2d%n", &hours, &minutes, &used) != 2 ||
      static_cast<std::size_t>(used) != text.size() || hours < 0 || minutes < 0 || minutes > 59 ||
      hours > 24) {
    return false;
  }
  seconds = hours * 3600 + minutes * 60;
  if (minus) seconds = -seconds;
  return true;
}

template <auto Part>
Value Get(Meter&, Args a) {
  Moment moment = a[0].moment();
  if (a.size() > 1) {
    std::int64_t offset = 0;
    if (!ZoneOffset(a[1].text(), moment, offset)) {
      return Value::Error("unknown time zone " + std::string(a[1].text()));
    }
    moment.seconds += offset;
  }
  return Value::Int(Part(PartsOf(moment)));
}

constexpr auto kYear = [](const Parts& p) { return p.year; };
constexpr auto kMonth = [](const Parts& p) { return p.month; };
constexpr auto kDayOfYear = [](const Parts& p) { return p.day_of_year; };
constexpr auto kDayOfMonth = [](const Parts& p) { return p.day; };
constexpr auto kDate = [](const Parts& p) { return p.day + 1; };
constexpr auto kDayOfWeek = [](const Parts& p) { return p.day_of_week; };
constexpr auto kHours = [](const Parts& p) { return p.hours; };
constexpr auto kMinutes = [](const Parts& p) { return p.minutes; };
constexpr auto kSeconds = [](const Parts& p) { return p.seconds; };
constexpr auto kMillis = [](const Parts& p) { return p.millis; };

Value WholeHours(Meter&, Args a) { return Value::Int(a[0].nanos() / 3'600'000'000'000); }
Value WholeMinutes(Meter&, Args a) { return Value::Int(a[0].nanos() / 60'000'000'000); }
Value WholeSeconds(Meter&, Args a) { return Value::Int(a[0].nanos() / 1'000'000'000); }
Value WholeMillis(Meter&, Args a) { return Value::Int(a[0].nanos() / 1'000'000); }

constexpr Row kRows[] = {
    {"getFullYear", "timestamp.() int", Get<kYear>},
    {"getFullYear", "timestamp.(string) int", Get<kYear>},
    {"getMonth", "timestamp.() int", Get<kMonth>},
    {"getMonth", "timestamp.(string) int", Get<kMonth>},
    {"getDayOfYear", "timestamp.() int", Get<kDayOfYear>},
    {"getDayOfYear", "timestamp.(string) int", Get<kDayOfYear>},
    {"getDayOfMonth", "timestamp.() int", Get<kDayOfMonth>},
    {"getDayOfMonth", "timestamp.(string) int", Get<kDayOfMonth>},
    {"getDate", "timestamp.() int", Get<kDate>},
    {"getDate", "timestamp.(string) int", Get<kDate>},
    {"getDayOfWeek", "timestamp.() int", Get<kDayOfWeek>},
    {"getDayOfWeek", "timestamp.(string) int", Get<kDayOfWeek>},
    {"getHours", "timestamp.() int", Get<kHours>},
    {"getHours", "timestamp.(string) int", Get<kHours>},
    {"getHours", "duration.() int", WholeHours},
    {"getMinutes", "timestamp.() int", Get<kMinutes>},
    {"getMinutes", "timestamp.(string) int", Get<kMinutes>},
    {"getMinutes", "duration.() int", WholeMinutes},
    {"getSeconds", "timestamp.() int", Get<kSeconds>},
    {"getSeconds", "timestamp.(string) int", Get<kSeconds>},
    {"getSeconds", "duration.() int", WholeSeconds},
    {"getMilliseconds", "timestamp.() int", Get<kMillis>},
    {"getMilliseconds", "timestamp.(string) int", Get<kMillis>},
    {"getMilliseconds", "duration.() int", WholeMillis},
};

}  // namespace

std::span<const Row> TimeRows() { return kRows; }

}  // namespace mailroom::cel
