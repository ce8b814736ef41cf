#include "apiserver/go_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "storage/object/limits.h"
#include "storage/object/status.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kSummaryBytes = 30;

}  // namespace

std::string PrintedMap(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return DumpJson(value);
  std::string out = value.is_object() ? "map[" : "[";
  const char* between = "";
  for (const auto& [key, element] : value.items()) {
    out += between;
    if (value.is_object()) out += key + ":";
    out += PrintedMap(element);
    between = " ";
  }
  return out + "]";
}

std::string BodySummary(std::string_view body) {
  if (body.empty()) return "<empty>";
  const std::string_view shown = body.substr(0, kSummaryBytes);
  std::string out;
  if (body.front() == '{') {
    out = shown;
  } else {
    static constexpr char kHex[] = "0123456789abcdef";
    for (char c : shown) {
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return body.size() > kSummaryBytes ? out + " ..." : out;
}

std::string_view JsonKindName(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  return value.is_null() ? "null" : "number";
}

std::string ParseUintProblem(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string what = "strconv.ParseUint: parsing " + Quoted(text) + ": ";
  if (text.empty() || read.ptr != text.data() + text.size()) return what + "invalid syntax";
  return read.ec == std::errc() ? "" : what + "value out of range";
}

std::string Base64Problem(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::size_t at = text.find_first_not_of(kAlphabet);
  if (at == std::string_view::npos && text.size() % 4 == 1) at = text.size() - 1;
  if (at == std::string_view::npos) return "";
  return "illegal base64 data at input byte " + std::to_string(at);
}

}  // namespace mailroom::apiserver
