#include "openapi/validate_schedules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "openapi/validate_names.h"

namespace mailroom::openapi {
namespace {

constexpr std::string_view kNamedSchedules[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                                "@daily",  "@midnight", "@hourly"};
constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// How many bytes of white space begin at `at`; 0 for none.
std::size_t SpaceAt(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == ' ' || (c >= '\t' && c <= '\r')) return 1;
  static constexpr std::string_view kWide[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001",
                                               "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                               "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                               "\u2029", "\u202f", "\u205f", "\u3000"};
  for (std::string_view space : kWide) {
    if (text.substr(at).starts_with(space)) return space.size();
  }
  return 0;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t space = SpaceAt(text, i);
    if (space == 0) {
      words.back() += text[i++];
      continue;
    }
    if (!words.back().empty()) words.emplace_back();
    i += space;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// One of the five fields.
class FieldParser {
 public:
  FieldParser(std::uint64_t least, std::uint64_t most, const std::string_view* names = nullptr)
      : least_(least), most_(most), names_(names) {}

  std::string Fault(const std::string& field) {
    for (const std::string& range : Split(field, ',')) {
      if (range.empty()) continue;
      if (std::string fault = RangeFault(range); !fault.empty()) return fault;
    }
    return "";
  }

 private:
  // `number`, `a-b` or `*`, any of them with `/step`.
  std::string RangeFault(const std::string& range) {
    const auto parts = Split(range, '/');
    const auto ends = Split(parts[0], '-');
    std::uint64_t first = least_, last = most_, step = 1;
    if (ends[0] != "*" && ends[0] != "?") {
      if (!Read(ends[0], true, first)) return fault_;
      last = first;
      if (ends.size() > 2) return "too many hyphens: " + range;
      if (ends.size() == 2 && !Read(ends[1], true, last)) return fault_;
    }
    if (parts.size() > 2) return "too many slashes: " + range;
    if (parts.size() == 2) {
      if (!Read(parts[1], false, step)) return fault_;
      if (ends.size() == 1) last = most_;
    }
    auto number = [](std::uint64_t value) { return "(" + std::to_string(value) + ")"; };
    if (first < least_) {
      return "beginning of range " + number(first) + " below minimum " + number(least_) + ": " +
             range;
    }
    if (last > most_) {
      return "end of range " + number(last) + " above maximum " + number(most_) + ": " + range;
    }
    if (first > last) {
      return "beginning of range " + number(first) + " beyond end of range " + number(last) + ": " +
             range;
    }
    return step == 0 ? "step of range should be a positive number: " + range : "";
  }

  // A number, or a name of one; false with `fault_` set.
  bool Read(const std::string& text, bool named, std::uint64_t& value) {
    if (named && names_ != nullptr) {
      std::string lower = text;
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      for (value = least_; value <= most_; ++value) {
        if (names_[value - least_] == lower) return true;
      }
    }
    auto broken = [&](const char* why) {
      fault_ = "failed to parse int from " + text + ": strconv.Atoi: parsing " + Quoted(text) +
               ": " + why;
      return false;
    };
    std::string_view digits = text;
    if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) {
      return broken("invalid syntax");
    }
    std::int64_t number = 0;
    const std::string_view whole = text.starts_with('+') ? digits : std::string_view(text);
    const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
    if (error != std::errc()) return broken("value out of range");
    if (number < 0) {
      fault_ = "negative number (" + std::to_string(number) + ") not allowed: " + text;
      return false;
    }
    value = static_cast<std::uint64_t>(number);
    return true;
  }

  const std::uint64_t least_, most_;
  const std::string_view* names_;  // of the values from `least_` on
  std::string fault_;
};

// As Go's time package quotes: bytes, not characters.
std::string QuotedBytes(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || byte < ' ') {
      out += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

std::optional<std::uint64_t> UnitOf(std::string_view name) {
  static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
      {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};
  for (const auto& [unit, size] : kUnits) {
    if (unit == name) return size;
  }
  return std::nullopt;
}

// Why `text` is no duration (`1h30m`, `-1.5s`).
std::string DurationFault(const std::string& text) {
  constexpr double kMost = 9.223372036854775807e18;
  const std::string invalid = "time: invalid duration " + QuotedBytes(text);
  std::string_view rest = text;
  if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
  if (rest == "0") return "";
  if (rest.empty()) return invalid;
  double total = 0;
  while (!rest.empty()) {
    std::size_t length = 0;
    while (length < rest.size() && IsDigit(rest[length])) ++length;
    std::size_t digits = length;
    if (length < rest.size() && rest[length] == '.') {
      for (++length; length < rest.size() && IsDigit(rest[length]); ++length) ++digits;
    }
    if (digits == 0) return invalid;
    double amount = 0;
    std::from_chars(rest.data(), rest.data() + length, amount);
    rest.remove_prefix(length);
    const std::size_t end = std::min(rest.find_first_of(".0123456789"), rest.size());
    if (end == 0) return "time: missing unit in duration " + QuotedBytes(text);
    const auto unit = UnitOf(rest.substr(0, end));
    if (!unit) {
      return "time: unknown unit " + QuotedBytes(rest.substr(0, end)) + " in duration " +
             QuotedBytes(text);
    }
    rest.remove_prefix(end);
    total += amount * static_cast<double>(*unit);
    if (total > kMost) return invalid;
  }
  return "";
}

std::string NamedFault(const std::string& schedule) {
  if (std::find(std::begin(kNamedSchedules), std::end(kNamedSchedules), schedule) !=
      std::end(kNamedSchedules)) {
    return "";
  }
  const std::string every = "@every ";
  if (!schedule.starts_with(every)) return "unrecognized descriptor: " + schedule;
  const std::string fault = DurationFault(schedule.substr(every.size()));
  return fault.empty() ? "" : "failed to parse duration " + schedule + ": " + fault;
}

// Whether a zone of this name can be had, also of one that is given inside a schedule.
std::string LocationFault(const std::string& name) {
  if (name.empty() || name == "Local" || IsTimeZone(name)) return "";
  if (name.starts_with('/') || name.starts_with('\\') || name.find("..") != std::string::npos) {
    return "time: invalid location name";
  }
  return "unknown time zone " + name;
}

bool NamesZone(std::string_view schedule) { return schedule.find("TZ") != std::string_view::npos; }

// Parts of the name of a zone that may exist.
bool IsZonePart(const std::string& part) {
  if (part.empty() || part.size() > 14 || part.starts_with('-') || part == "." || part == "..")
    return false;
  return std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '.' || c == '-' ||
           c == '_' || c == '+';
  });
}

}  // namespace

std::string ScheduleFault(const std::string& schedule) {
  std::string text = schedule;
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    const std::size_t space = text.find(' '), equals = text.find('=');
    if (space == std::string::npos) {
      return "invalid schedule format: runtime error: slice bounds out of range [:-1]";
    }
    const std::string zone = text.substr(equals + 1, space - equals - 1);
    if (const std::string fault = LocationFault(zone); !fault.empty()) {
      return "provided bad location " + zone + ": " + fault;
    }
    std::size_t start = space;
    while (start < text.size() && SpaceAt(text, start) != 0) start += SpaceAt(text, start);
    text = text.substr(start);
  }
  if (text.starts_with('@')) return NamedFault(text);
  const auto words = Words(text);
  if (words.size() != 5) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : " ") + word;
    return "expected exactly 5 fields, found " + std::to_string(words.size()) + ": [" + list + "]";
  }
  FieldParser parsers[] = {{0, 59}, {0, 23}, {1, 31}, {1, 12, kMonths}, {0, 6, kDays}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::string fault = parsers[i].Fault(words[i]); !fault.empty()) return fault;
  }
  return "";
}

void CheckSchedule(const BuiltinCheck& check) {
  const std::string path = "spec.schedule", schedule = StringAt(check.object, {"spec", "schedule"});
  if (schedule.empty()) return;  // reported as a required member
  if (const std::string fault = ScheduleFault(schedule); !fault.empty()) {
    check.Invalid(path, schedule, fault);
  }
  if (!NamesZone(schedule)) return;
  if (check.old == nullptr || !NamesZone(StringAt(*check.old, {"spec", "schedule"}))) {
    check.Invalid(path, schedule,
                  "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (Find(check.object, {"spec", "timeZone"}) != nullptr) {
    check.Invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

void CheckTimeZone(const BuiltinCheck& check) {
  const Json* zone = Find(check.object, {"spec", "timeZone"});
  if (zone == nullptr || !zone->is_string()) return;
  const Json* before = check.old == nullptr ? nullptr : Find(*check.old, {"spec", "timeZone"});
  if (before != nullptr && *before == *zone) return;
  const std::string path = "spec.timeZone", name = zone->get<std::string>();
  if (name.empty()) return check.Invalid(path, name, "timeZone must be nil or non-empty string");
  const auto parts = Split(name, '/');
  if (!std::all_of(parts.begin(), parts.end(), IsZonePart)) {
    return check.Invalid(path, name, "unknown time zone " + name);
  }
  std::string lower = name;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "local") {
    check.Invalid(path, name,
                  "timeZone must be an explicit time zone as defined in "
                  "https://www.iana.org/time-zones");
  }
  if (const std::string fault = LocationFault(name); !fault.empty())
    check.Invalid(path, name, fault);
}

}  // namespace mailroom::openapi
