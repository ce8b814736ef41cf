// Text: the standard functions and Kubernetes' set of string extensions.
#include <algorithm>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

Value OutOfRange(std::int64_t index) {
  return Value::Error("index out of range: " + std::to_string(index));
}

// Byte offset of the code point `index`. REQUIRES: index is at most the number of code points.
std::size_t OffsetOf(std::string_view text, std::int64_t index) {
  std::size_t at = 0;
  for (; index > 0; --index) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  }
  return at;
}

// Code points before the byte `offset`.
std::int64_t RunesBefore(std::string_view text, std::size_t offset) {
  return CountRunes(text.substr(0, offset));
}

Value Copy(Meter& meter, std::string_view text) {
  if (!meter.Allocate(text.size())) return {};
  return Value::String(std::string(text));
}

Value Contains(Meter&, Args a) {
  return Value::Bool(a[0].text().find(a[1].text()) != std::string_view::npos);
}
std::uint64_t PriceOfContains(Args a, const Value&) {
  return Scaled(SizeOf(a[0]), 0.1) * Scaled(SizeOf(a[1]), 0.1);
}
Value StartsWith(Meter&, Args a) { return Value::Bool(a[0].text().starts_with(a[1].text())); }
Value EndsWith(Meter&, Args a) { return Value::Bool(a[0].text().ends_with(a[1].text())); }
Value MatchesText(Meter&, Args a) { return Matches(a[0].text(), a[1].text()); }

Value CharAt(Meter& meter, Args a) {
  const std::int64_t index = a[1].integer();
  const std::int64_t size = a[0].size();
  if (index < 0 || index > size) return OutOfRange(index);
  const std::size_t start = OffsetOf(a[0].text(), index);
  const std::size_t end = index == size ? start : start + OffsetOf(a[0].text().substr(start), 1);
  return Copy(meter, a[0].text().substr(start, end - start));
}

Value IndexFrom(std::string_view text, std::string_view wanted, std::int64_t offset) {
  if (offset < 0) return OutOfRange(offset);
  const std::int64_t size = CountRunes(text);
  if (wanted.empty()) return Value::Int(std::min(offset, size));
  if (offset >= size) return Value::Int(-1);
  const std::size_t at = text.find(wanted, OffsetOf(text, offset));
  return Value::Int(at == std::string_view::npos ? -1 : RunesBefore(text, at));
}
Value IndexOf(Meter&, Args a) { return IndexFrom(a[0].text(), a[1].text(), 0); }
Value IndexOfFrom(Meter&, Args a) {
  return IndexFrom(a[0].text(), a[1].text(), a[2].integer());
}
Value LastIndexFrom(std::string_view text, std::string_view wanted, std::int64_t offset) {
  if (offset < 0) return OutOfRange(offset);
  const std::int64_t size = CountRunes(text);
  if (wanted.empty()) return Value::Int(std::min(offset, size));
  if (offset >= size) return Value::Int(-1);
  const std::size_t at = text.rfind(wanted, OffsetOf(text, offset));
  return Value::Int(at == std::string_view::npos ? -1 : RunesBefore(text, at));
}
Value LastIndexOf(Meter&, Args a) {
  const std::int64_t size = a[0].size();
  if (a[1].text().empty()) return Value::Int(size);
  if (a[0].text().size() < a[1].text().size()) return Value::Int(-1);
  return LastIndexFrom(a[0].text(), a[1].text(), size - 1);
}
Value LastIndexOfFrom(Meter&, Args a) {
  return LastIndexFrom(a[0].text(), a[1].text(), a[2].integer());
}

Value LowerAscii(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size())) return {};
  std::string text(a[0].text());
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return Value::String(std::move(text));
}
Value UpperAscii(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size())) return {};
  std::string text(a[0].text());
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return Value::String(std::move(text));
}

// Go's strings.Replace: an empty old text stands before every code point and at the end.
Value ReplaceTimes(Meter& meter, Args a, std::int64_t times) {
  const std::string_view text = a[0].text(), old = a[1].text(), fresh = a[2].text();
  std::string out;
  std::size_t at = 0;
  while (times != 0) {
    std::size_t found = text.find(old, at);
    if (found == std::string_view::npos) break;
    if (!meter.Allocate(found - at + fresh.size())) return {};
    out += text.substr(at, found - at);
    out += fresh;
    at = found + old.size();
    --times;
    if (old.empty()) {
      if (at >= text.size()) break;
      const std::size_t step = OffsetOf(text.substr(at), 1);
      out += text.substr(at, step);
      at += step;
    }
  }
  if (!meter.Allocate(text.size() - at)) return {};
  out += text.substr(at);
  return Value::String(std::move(out));
}
Value Replace(Meter& meter, Args a) { return ReplaceTimes(meter, a, -1); }
Value ReplaceSome(Meter& meter, Args a) { return ReplaceTimes(meter, a, a[3].integer()); }

Value SplitTimes(Meter& meter, Args a, std::int64_t most) {
  std::string_view text = a[0].text();
  const std::string_view separator = a[1].text();
  std::vector<Value> parts;
  if (most == 0) return Value::List({});
  auto add = [&](std::string_view part) {
    if (!meter.Allocate(part.size() + sizeof(Value))) return false;
    parts.push_back(Value::String(std::string(part)));
    return true;
  };
  while (most < 0 || static_cast<std::int64_t>(parts.size()) + 1 < most) {
    if (separator.empty()) {
      if (text.empty()) return Value::List(std::move(parts));
      const std::size_t step = OffsetOf(text, 1);
      if (step == text.size()) break;
      if (!add(text.substr(0, step))) return {};
      text.remove_prefix(step);
      continue;
    }
    const std::size_t found = text.find(separator);
    if (found == std::string_view::npos) break;
    if (!add(text.substr(0, found))) return {};
    text.remove_prefix(found + separator.size());
  }
  if (!add(text)) return {};
  return Value::List(std::move(parts));
}
Value Split(Meter& meter, Args a) { return SplitTimes(meter, a, -1); }
Value SplitSome(Meter& meter, Args a) { return SplitTimes(meter, a, a[2].integer()); }

Value SubstringBetween(Meter& meter, const Value& text, std::int64_t start, std::int64_t end) {
  const std::int64_t size = text.size();
  if (start > end) {
    return Value::Error("invalid substring range. start: " + std::to_string(start) +
                        ", end: " + std::to_string(end));
  }
  if (start < 0 || start > size) return OutOfRange(start);
  if (end < 0 || end > size) return OutOfRange(end);
  const std::size_t first = OffsetOf(text.text(), start);
  const std::size_t length = OffsetOf(text.text().substr(first), end - start);
  return Copy(meter, text.text().substr(first, length));
}
Value SubstringFrom(Meter& meter, Args a) {
  const std::int64_t size = a[0].size();
  if (a[1].integer() < 0 || a[1].integer() > size) return OutOfRange(a[1].integer());
  return SubstringBetween(meter, a[0], a[1].integer(), size);
}
Value Substring(Meter& meter, Args a) {
  return SubstringBetween(meter, a[0], a[1].integer(), a[2].integer());
}

// Bytes of the white space that begins here, by Unicode's definition; 0 when there is none.
std::size_t SpaceAt(std::string_view text) {
  if (text.empty()) return 0;
  const char c = text[0];
  if (c == ' ' || (c >= '\t' && c <= '\r')) return 1;
  for (std::string_view space :
       {"\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81", "\xe2\x80\x82",
        "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87",
        "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9",
        "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"}) {
    if (text.starts_with(space)) return space.size();
  }
  return 0;
}
Value Trim(Meter& meter, Args a) {
  std::string_view text = a[0].text();
  while (const std::size_t space = SpaceAt(text)) text.remove_prefix(space);
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xc0) == 0x80) --last;
    if (SpaceAt(text.substr(last)) == 0) break;
    text.remove_suffix(text.size() - last);
  }
  return Copy(meter, text);
}

Value JoinWith(Meter& meter, const Value& list, std::string_view separator) {
  std::string out;
  for (std::int64_t i = 0; i < list.size(); ++i) {
    const Value part = list.At(i);
    if (!part.is(Kind::kString)) return Value::Error("join: invalid input: " + part.TypeName());
    if (!meter.Allocate(part.text().size() + separator.size())) return {};
    if (i > 0) out += separator;
    out += part.text();
  }
  return Value::String(std::move(out));
}
Value Join(Meter& meter, Args a) { return JoinWith(meter, a[0], ""); }
Value JoinSeparated(Meter& meter, Args a) { return JoinWith(meter, a[0], a[1].text()); }
std::uint64_t PriceOfJoin(Args, const Value& result) { return Scaled(SizeOf(result), 0.2); }

Value Quote(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size() * 2 + 2)) return {};
  std::string out = "\"";
  for (char c : a[0].text()) {
    switch (c) {
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      case '\\': out += "\\\\"; break;
      case '"': out += "\\\""; break;
      default: out += c;
    }
  }
  return Value::String(out + "\"");
}

constexpr Row kRows[] = {
    {"contains", "string.(string) bool", Contains, PriceOfContains},
    {"startsWith", "string.(string) bool", StartsWith, TraverseFirst},
    {"endsWith", "string.(string) bool", EndsWith, TraverseFirst},
    {"matches", "(string, string) bool", MatchesText, PriceOfRegex},
    {"matches", "string.(string) bool", MatchesText, PriceOfRegex},
    {"charAt", "string.(int) string", CharAt},
    {"indexOf", "string.(string) int", IndexOf, TraverseFirst},
    {"indexOf", "string.(string, int) int", IndexOfFrom, TraverseFirst},
    {"lastIndexOf", "string.(string) int", LastIndexOf, TraverseFirst},
    {"lastIndexOf", "string.(string, int) int", LastIndexOfFrom, TraverseFirst},
    {"lowerAscii", "string.() string", LowerAscii, TraverseFirst},
    {"upperAscii", "string.() string", UpperAscii, TraverseFirst},
    {"replace", "string.(string, string) string", Replace, TraverseTwice},
    {"replace", "string.(string, string, int) string", ReplaceSome, TraverseTwice},
    {"split", "string.(string) list<string>", Split, TraverseTwice},
    {"split", "string.(string, int) list<string>", SplitSome, TraverseTwice},
    {"substring", "string.(int) string", SubstringFrom, TraverseFirst},
    {"substring", "string.(int, int) string", Substring, TraverseFirst},
    {"trim", "string.() string", Trim, TraverseFirst},
    {"join", "list<string>.() string", Join, PriceOfJoin},
    {"join", "list<string>.(string) string", JoinSeparated, PriceOfJoin},
    {"strings.quote", "(string) string", Quote, TraverseFirst},
};

}  // namespace

std::span<const Row> StringRows() { return kRows; }

}  // namespace mailroom::cel
