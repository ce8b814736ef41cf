// Texts of moments and durations.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "openapi/cel/value.h"
#include "openapi/cel/wide.h"

namespace mailroom::cel {
namespace {

// Days since 1970 of a date of the Gregorian calendar.
std::int64_t DaysOf(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto of_era = static_cast<unsigned>(year - era * 400);
  const unsigned of_year = (153 * (month + (month > 2 ? -3U : 9U)) + 2) / 5 + day - 1;
  const unsigned days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
  return era * 146097 + static_cast<std::int64_t>(days) - 719468;
}

unsigned DaysIn(std::int64_t year, unsigned month) {
  static constexpr unsigned kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// Reads exactly `width` digits.
bool Digits(std::string_view& text, std::size_t width, unsigned& out) {
  if (text.size() < width) return false;
  out = 0;
  for (std::size_t i = 0; i < width; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    out = out * 10 + static_cast<unsigned>(text[i] - '0');
  }
  text.remove_prefix(width);
  return true;
}

bool Skip(std::string_view& text, char wanted) {
  if (text.empty() || text[0] != wanted) return false;
  text.remove_prefix(1);
  return true;
}

bool ParseZone(std::string_view text, std::int64_t& seconds) {
  if (text == "Z" || text == "z") return true;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const bool minus = text[0] == '-';
  text.remove_prefix(1);
  unsigned hours = 0, minutes = 0;
  if (!Digits(text, 2, hours) || !Skip(text, ':') || !Digits(text, 2, minutes) || !text.empty() ||
      hours > 24 || minutes > 59) {
    return false;
  }
  seconds = static_cast<std::int64_t>(hours) * 3600 + minutes * 60;
  if (minus) seconds = -seconds;
  return true;
}

bool UnitNanos(std::string_view unit, double& nanos) {
  if (unit == "ns") nanos = 1;
  else if (unit == "us" || unit == "\xc2\xb5s" || unit == "\xce\xbcs") nanos = 1e3;
  else if (unit == "ms") nanos = 1e6;
  else if (unit == "s") nanos = 1e9;
  else if (unit == "m") nanos = 60e9;
  else if (unit == "h") nanos = 3600e9;
  else return false;
  return true;
}

}  // namespace

bool ParseMoment(std::string_view text, Moment& out) {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!Digits(text, 4, year) || !Skip(text, '-') || !Digits(text, 2, month) || !Skip(text, '-') ||
      !Digits(text, 2, day) || text.empty() || (text[0] != 'T' && text[0] != 't')) {
    return false;
  }
  text.remove_prefix(1);
  if (!Digits(text, 2, hour) || !Skip(text, ':') || !Digits(text, 2, minute) ||
      !Skip(text, ':') || !Digits(text, 2, second)) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > DaysIn(year, month) || hour > 23 ||
      minute > 59 || second > 59) {
    return false;
  }
  std::int32_t nanos = 0;
  if (Skip(text, '.')) {
    std::int32_t scale = 100'000'000;
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') {
      nanos += (text[count++] - '0') * scale;
      scale /= 10;
    }
    if (count == 0) return false;
    text.remove_prefix(count);
  }
  std::int64_t offset = 0;
  if (!ParseZone(text, offset)) return false;
  out.seconds = DaysOf(year, month, day) * 86400 + static_cast<std::int64_t>(hour) * 3600 +
                minute * 60 + second - offset;
  out.nanos = nanos;
  return true;
}

bool ParseDuration(std::string_view text, std::int64_t& nanos) {
  const bool minus = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text == "0") {
    nanos = 0;
    return true;
  }
  if (text.empty()) return false;
  Wide total = 0;
  while (!text.empty()) {
    Wide whole = 0, part = 0, scale = 1;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && whole < INT64_MAX) {
      whole = whole * 10 + (text[digits++] - '0');
    }
    text.remove_prefix(digits);
    if (Skip(text, '.')) {
      std::size_t count = 0;
      while (count < text.size() && text[count] >= '0' && text[count] <= '9') {
        if (scale < 1'000'000'000'000) {
          part = part * 10 + (text[count] - '0');
          scale *= 10;
        }
        ++count;
      }
      digits += count;
      text.remove_prefix(count);
    }
    std::size_t unit = 0;
    while (unit < text.size() && text[unit] != '.' && (text[unit] < '0' || text[unit] > '9')) ++unit;
    double worth = 0;
    if (digits == 0 || whole > INT64_MAX || !UnitNanos(text.substr(0, unit), worth)) return false;
    const auto each = static_cast<Wide>(worth);
    total += whole * each + part * each / scale;
    if (total > (static_cast<Wide>(1) << 63)) return false;
    text.remove_prefix(unit);
  }
  if (minus) total = -total;
  if (total > INT64_MAX || total < INT64_MIN) return false;
  nanos = static_cast<std::int64_t>(total);
  return true;
}

std::string FormatMoment(Moment moment) {
  std::int64_t days = moment.seconds / 86400;
  std::int64_t rest = moment.seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const auto doe = static_cast<unsigned>(shifted - era * 146097);
  const unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const unsigned mp = (5 * doy + 2) / 153;
  const unsigned day = doy - (153 * mp + 2) / 5 + 1;
  const unsigned month = mp < 10 ? mp + 3 : mp - 9;
  const std::int64_t year = static_cast<std::int64_t>(yoe) + era * 400 + (month <= 2);
  char buffer[80];
  std::snprintf(buffer, sizeof buffer, "%04lld-%02u-%02uT%02lld:%02lld:%02lld",
                static_cast<long long>(year), month, day, static_cast<long long>(rest / 3600),
                static_cast<long long>(rest / 60 % 60), static_cast<long long>(rest % 60));
  std::string text = buffer;
  if (moment.nanos != 0) {
    std::snprintf(buffer, sizeof buffer, ".%09d", moment.nanos);
    text += buffer;
    while (text.back() == '0') text.pop_back();
  }
  return text + "Z";
}

std::string FormatSeconds(std::int64_t nanos) {
  const bool minus = nanos < 0;
  const std::uint64_t size =
      minus ? ~static_cast<std::uint64_t>(nanos) + 1 : static_cast<std::uint64_t>(nanos);
  std::string text = (minus ? "-" : "") + std::to_string(size / 1'000'000'000);
  if (size % 1'000'000'000 != 0) {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, ".%09llu",
                  static_cast<unsigned long long>(size % 1'000'000'000));
    text += buffer;
    while (text.back() == '0') text.pop_back();
  }
  return text + "s";
}

std::string FormatDuration(std::int64_t nanos) {
  const bool minus = nanos < 0;
  const std::uint64_t size =
      minus ? ~static_cast<std::uint64_t>(nanos) + 1 : static_cast<std::uint64_t>(nanos);
  if (size == 0) return "0s";
  auto fraction = [](std::uint64_t value, std::uint64_t unit) {
    std::string text = std::to_string(value / unit);
    std::string digits = std::to_string(value % unit + unit).substr(1);
    while (!digits.empty() && digits.back() == '0') digits.pop_back();
    return digits.empty() ? text : text + "." + digits;
  };
  std::string text = minus ? "-" : "";
  if (size < 1'000) return text + std::to_string(size) + "ns";
  if (size < 1'000'000) return text + fraction(size, 1'000) + "\xc2\xb5s";
  if (size < 1'000'000'000) return text + fraction(size, 1'000'000) + "ms";
  const std::uint64_t minutes = size / 60'000'000'000;
  if (minutes >= 60) text += std::to_string(minutes / 60) + "h";
  if (minutes > 0) text += std::to_string(minutes % 60) + "m";
  return text + fraction(size % 60'000'000'000, 1'000'000'000) + "s";
}

std::string FormatDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[64];
  const double size = std::abs(value);
  // Go's %g switches to exponents at 21 digits.
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e21);
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {buffer, end.ptr};
}

}  // namespace mailroom::cel
