#include "apiserver/deadline.h"

#include <cmath>
#include <charconv>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};
// Longer names first where one begins with another.
constexpr Unit kUnits[] = {{"ns", 1},   {"us", 1e3},  {"\u00b5s", 1e3}, {"\u03bcs", 1e3},
                           {"ms", 1e6}, {"s", 1e9},   {"m", 60e9},      {"h", 3600e9}};

}  // namespace

std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  double sign = 1, total = 0;
  if (text.starts_with('-') || text.starts_with('+')) {
    sign = text.front() == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view digits = text.substr(0, end);
    double number = 0;
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number,
                                         std::chars_format::fixed);
    if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
    text.remove_prefix(end);
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (text.starts_with(candidate.name)) {
        unit = &candidate;
        break;
      }
    }
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += number * unit->nanoseconds;
  }
  if (!(total < 9.2e18)) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(sign * total));
}

Result<std::chrono::milliseconds> ParseTimeout(const Query& query) {
  const std::string text = query.Get("timeout");
  const std::chrono::milliseconds most = limits::kRequestTimeout;
  if (text.empty()) return most;
  const auto given = ParseDuration(text);
  if (!given) return BadRequest("invalid timeout specified in the request URL");
  if (given->count() <= 0 || *given >= most) return most;
  return std::chrono::ceil<std::chrono::milliseconds>(*given);
}

}  // namespace mailroom::apiserver
