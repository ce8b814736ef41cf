#include "storage/object/clock.h"

#include <cstdint>
#include <cstdio>
#include <ctime>

namespace mailroom {
namespace {

class RealClock final : public Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::system_clock::now();
  }
  std::chrono::steady_clock::time_point Monotonic() const override {
    return std::chrono::steady_clock::now();
  }
};

std::string Format(std::chrono::system_clock::time_point time, bool micros) {
  using namespace std::chrono;
  const auto since = duration_cast<microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(since / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::size_t used = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::string out(text, used);
  if (micros) {
    std::snprintf(text, sizeof text, ".%06d", static_cast<int>(since % 1'000'000));
    out += text;
  }
  return out + "Z";
}

}  // namespace

const Clock& Clock::Real() {
  static const RealClock clock;
  return clock;
}

std::string FormatTime(std::chrono::system_clock::time_point time) { return Format(time, false); }

std::string FormatMicroTime(std::chrono::system_clock::time_point time) {
  return Format(time, true);
}

std::int64_t ParseTime(std::string_view text) {
  std::string copy(text);
  int year, month, day, hour, minute, second, used = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
                  &second, &used) != 6) {
    return -1;
  }
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60) return -1;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return -1;
  std::size_t at = static_cast<std::size_t>(used);
  if (at < copy.size() && copy[at] == '.') {
    std::size_t digits = at + 1;
    while (digits < copy.size() && copy[digits] >= '0' && copy[digits] <= '9') ++digits;
    if (digits == at + 1) return -1;
    at = digits;
  }
  std::tm parts{};
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  std::int64_t seconds = timegm(&parts);
  std::string_view zone = std::string_view(copy).substr(at);
  if (zone == "Z" || zone == "z") return seconds;
  int zone_hours, zone_minutes;
  char sign;
  if (zone.size() != 6 || std::sscanf(copy.c_str() + at, "%c%2d:%2d", &sign, &zone_hours,
                                      &zone_minutes) != 3 || (sign != '+' && sign != '-')) {
    return -1;
  }
  const std::int64_t offset = zone_hours * 3600 + zone_minutes * 60;
  return sign == '+' ? seconds - offset : seconds + offset;
}

}  // namespace mailroom
