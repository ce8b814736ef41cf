// 'text %s'.format([...]).
#include <cmath>
#include <cstdio>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

struct Clause {
  char verb = 's';
  int precision = 6;
};

Value Bad(std::string message) { return Value::Error(std::move(message)); }

std::string Plain(const Value& value, bool nested, Steps& steps);

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string ListText(const Value& list, Steps& steps) {
  std::string out = "[";
  for (std::int64_t i = 0; i < list.size() && !steps.exhausted(); ++i) {
    if (i > 0) out += ", ";
    out += Plain(list.At(i), true, steps);
  }
  return out + "]";
}

std::string MapText(const Value& map, Steps& steps) {
  std::string out = "{";
  for (const Value& key : map.Keys()) {
    Value member;
    map.Lookup(key, member);
    if (out.size() > 1) out += ", ";
    out += Plain(key, true, steps) + ":" + Plain(member, true, steps);
    if (steps.exhausted()) break;
  }
  return out + "}";
}

// As %s prints it; inside lists and maps texts are quoted.
std::string Plain(const Value& value, bool nested, Steps& steps) {
  // Texts count by their length: what is printed is copied.
  const std::size_t length = value.is(Kind::kString) ? value.text().size() : 0;
  if (!steps.Take() || length >= steps.left) {
    steps.left = 0;
    return "";
  }
  steps.left -= length;
  switch (value.kind()) {
    case Kind::kNull: return "null";
    case Kind::kBool: return value.truth() ? "true" : "false";
    case Kind::kInt: return std::to_string(value.integer());
    case Kind::kUint: return std::to_string(value.natural());
    case Kind::kDouble: {
      const std::string text = FormatDouble(value.real());
      if (!nested || std::isfinite(value.real())) return text == "+Inf" ? "+Inf" : text;
      return Quoted(text);
    }
    case Kind::kString: return nested ? Quoted(value.text()) : std::string(value.text());
    case Kind::kBytes: return nested ? "b" + Quoted(value.text()) : std::string(value.text());
    case Kind::kType: return std::string(value.text());
    case Kind::kTimestamp:
      return nested ? "timestamp(" + Quoted(FormatMoment(value.moment())) + ")"
                    : FormatMoment(value.moment());
    case Kind::kDuration:
      return nested ? "duration(" + Quoted(FormatSeconds(value.nanos())) + ")"
                    : FormatSeconds(value.nanos());
    case Kind::kList: return ListText(value, steps);
    case Kind::kMap:
    case Kind::kObject: return MapText(value, steps);
    default: return value.TypeName();
  }
}

bool Printable(const Value& value, Steps& steps) {
  if (!steps.Take()) return true;
  switch (value.kind()) {
    case Kind::kError:
    case Kind::kOpaque:
    case Kind::kOptional: return false;
    case Kind::kList:
      for (std::int64_t i = 0; i < value.size() && !steps.exhausted(); ++i) {
        if (!Printable(value.At(i), steps)) return false;
      }
      return true;
    default: return true;
  }
}

std::string InBase(std::uint64_t number, unsigned base, bool upper) {
  static constexpr char kLower[] = "0123456789abcdef";
  static constexpr char kUpper[] = "0123456789ABCDEF";
  const char* const digits = upper ? kUpper : kLower;
  std::string out;
  do out.insert(out.begin(), digits[number % base]);
  while ((number /= base) != 0);
  return out;
}

std::string HexOf(std::string_view bytes, bool upper) {
  std::string out;
  for (char c : bytes) {
    const std::string two = InBase(static_cast<unsigned char>(c), 16, upper);
    out += two.size() == 1 ? "0" + two : two;
  }
  return out;
}

bool Integral(const Value& value, unsigned base, bool upper, std::string& out) {
  if (value.is(Kind::kUint)) {
    out = InBase(value.natural(), base, upper);
  } else if (value.is(Kind::kInt)) {
    const bool minus = value.integer() < 0;
    const auto bits = static_cast<std::uint64_t>(value.integer());
    out = (minus ? "-" : "") + InBase(minus ? ~bits + 1 : bits, base, upper);
  } else if (value.is(Kind::kBool) && base == 2) {
    out = value.truth() ? "1" : "0";
  } else {
    return false;
  }
  return true;
}

// Digits before the point in groups of three.
std::string Grouped(std::string text) {
  std::size_t end = text.find('.');
  if (end == std::string::npos) end = text.size();
  const std::size_t first = text[0] == '-' ? 1 : 0;
  for (std::size_t at = end; at > first + 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string Scientific(double number, int precision) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, "%.*e", precision, number);
  std::string text = buffer;
  const std::size_t e = text.find('e');
  std::string out = text.substr(0, e) + " \xc3\x97 10";
  static constexpr const char* kRaised[] = {"\xe2\x81\xb0", "\xc2\xb9", "\xc2\xb2", "\xc2\xb3",
                                            "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6",
                                            "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
  for (char c : text.substr(e + 1)) {
    if (c == '-') out += "\xe2\x81\xbb";
    if (c >= '0' && c <= '9') out += kRaised[c - '0'];
  }
  return out;
}

bool Real(const Value& value, double& out) {
  if (value.is(Kind::kDouble)) out = value.real();
  else if (value.is(Kind::kInt)) out = static_cast<double>(value.integer());
  else if (value.is(Kind::kUint)) out = static_cast<double>(value.natural());
  else if (value.is(Kind::kString) && value.text() == "NaN") out = std::nan("");
  else if (value.is(Kind::kString) && value.text() == "Infinity") out = HUGE_VAL;
  else if (value.is(Kind::kString) && value.text() == "-Infinity") out = -HUGE_VAL;
  else return false;
  return true;
}

bool RealText(const Value& value, const Clause& clause, std::string& out) {
  double number = 0;
  if (!Real(value, number)) return false;
  if (std::isnan(number)) out = "NaN";
  else if (std::isinf(number)) out = number > 0 ? "\xe2\x88\x9e" : "-\xe2\x88\x9e";
  else if (clause.verb == 'e') out = Scientific(number, clause.precision);
  else {
    char buffer[512];
    std::snprintf(buffer, sizeof buffer, "%.*f", clause.precision, number);
    out = Grouped(buffer);
  }
  return true;
}

bool Render(const Value& value, const Clause& clause, Steps& steps, std::string& out) {
  switch (clause.verb) {
    case 's':
      if (!Printable(value, steps)) return false;
      out = Plain(value, false, steps);
      return true;
    case 'd':
      if (value.is(Kind::kDouble) && !std::isfinite(value.real())) {
        out = Plain(value, false, steps);
        return true;
      }
      return Integral(value, 10, false, out);
    case 'o': return Integral(value, 8, false, out);
    case 'b': return Integral(value, 2, false, out);
    case 'x':
    case 'X':
      if (value.is(Kind::kString) || value.is(Kind::kBytes)) {
        out = HexOf(value.text(), clause.verb == 'X');
        return true;
      }
      return Integral(value, 16, clause.verb == 'X', out);
    default: return RealText(value, clause, out);
  }
}

const char* Wanted(char verb) {
  switch (verb) {
    case 'd': return "decimal clause can only be used on integers, was given ";
    case 'o': return "octal clause can only be used on integers, was given ";
    case 'b': return "only integers and bools can be formatted as binary, was given ";
    case 'x':
    case 'X': return "only integers, byte buffers, and strings can be formatted as hex, was given ";
    case 'e': return "scientific clause can only be used on doubles, was given ";
    case 'f': return "fixed-point clause can only be used on doubles, was given ";
    default: return "string clause can only be used on strings, bools, bytes, ints, doubles, maps, "
                    "lists, types, durations, and timestamps, was given ";
  }
}

Value Format(Meter& meter, Args a) {
  const std::string_view text = a[0].text();
  std::string out;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (++i >= text.size()) return Bad("unexpected end of string");
    if (text[i] == '%') {
      out += '%';
      continue;
    }
    Clause clause;
    if (text[i] == '.') {
      clause.precision = 0;
      std::size_t digits = 0;
      while (++i < text.size() && text[i] >= '0' && text[i] <= '9' && digits < 4) {
        clause.precision = clause.precision * 10 + (text[i] - '0');
        ++digits;
      }
      if (digits == 0 || i >= text.size()) return Bad("error while parsing precision");
      if (clause.precision > 100) {
        return Bad("precision " + std::to_string(clause.precision) +
                   " exceeds maximum allowed precision 100");
      }
    }
    clause.verb = text[i];
    if (std::string_view("sdobxXef").find(clause.verb) == std::string_view::npos) {
      return Bad("could not parse formatting clause: unrecognized formatting clause \"" +
                 std::string(1, clause.verb) + "\"");
    }
    if (next >= a[1].size()) return Bad("index " + std::to_string(next) + " out of range");
    const Value value = a[1].At(next++);
    std::string rendered;
    Steps steps;
    const bool fits = Render(value, clause, steps, rendered);
    if (steps.exhausted()) {
      meter.Stop();
      return {};
    }
    if (!fits) {
      return Bad("error during formatting: " + std::string(Wanted(clause.verb)) + value.TypeName());
    }
    if (!meter.Allocate(rendered.size())) return {};
    out += rendered;
  }
  return Value::String(std::move(out));
}

constexpr Row kRows[] = {{"format", "string.(list<dyn>) string", Format, TraverseFirst}};

}  // namespace

std::span<const Row> FormatRows() { return kRows; }

}  // namespace mailroom::cel
