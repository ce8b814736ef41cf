#include "apiserver/go_text.h"

#include <algorithm>
#include <cctype>

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

}  // namespace mailroom::apiserver
