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

Result<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  const std::string whole = Quoted(text);
  const Status invalid = BadRequest("time: invalid duration " + whole);
  double sign = 1, total = 0;
  if (text.starts_with('-') || text.starts_with('+')) {
    sign = text.front() == '-' ? -1 : 1;
    text.remove_prefix(1);
  }
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return invalid;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view digits = text.substr(0, end);
    double number = 0;
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number,
                                         std::chars_format::fixed);
    if (error != std::errc() || stop != digits.data() + digits.size()) return invalid;
    text.remove_prefix(end);
    const std::string_view name =
        text.substr(0, std::min(text.find_first_of("0123456789."), text.size()));
    if (name.empty()) return BadRequest("time: missing unit in duration " + whole);
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (name == candidate.name) {
        unit = &candidate;
        break;
      }
    }
    if (unit == nullptr) {
      return BadRequest("time: unknown unit " + Quoted(name) + " in duration " + whole);
    }
    text.remove_prefix(unit->name.size());
    total += number * unit->nanoseconds;
  }
  if (!(total < 9.2e18)) return invalid;
  return std::chrono::nanoseconds(std::llround(sign * total));
}

Result<std::chrono::nanoseconds> ParseTimeout(const Query& query) {
  const std::string text = query.Get("timeout");
  const std::chrono::nanoseconds most = limits::kRequestTimeout;
  if (text.empty()) return most;
  const auto given = ParseDuration(text);
  if (!given.ok()) {
    return BadRequest("invalid timeout specified in the request URL - " + given.error().message());
  }
  if (given->count() <= 0 || *given >= most) return most;
  return *given;
}

bool IsLongRunning(const RequestInfo& info) {
  if (info.verb == "watch") return true;
  for (std::string_view each : {"attach", "exec", "log", "portforward", "proxy"}) {
    if (info.subresource == each) return true;
  }
  return false;
}

Deadline DeadlineOf(const RequestInfo& info, Deadline::Clock::time_point start,
                    std::chrono::nanoseconds timeout) {
  if (IsLongRunning(info)) return Deadline();
  const bool one = info.verb == "create" || info.verb == "update" || info.verb == "patch" ||
                   info.verb == "delete";
  const std::chrono::nanoseconds most = limits::kMutationTimeout;
  return Deadline(start + (one ? std::min(timeout, most) : timeout));
}

Result<void> InTime(const Deadline& deadline) {
  if (!deadline.Passed()) return Ok();
  return Timeout("request did not complete within the allotted timeout");
}

}  // namespace mailroom::apiserver
