#include "storage/object/json_number.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace mailroom {
namespace {

// The digits of `d.dddde+xx`, without its point, and where the point belongs: behind the first
// `point` of them.
struct Parts {
  std::string digits;
  int point = 0;
};

Parts PartsOf(double size) {
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, size, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t mark = text.find('e');
  Parts parts;
  parts.digits = text.substr(0, 1);
  if (mark > 2) parts.digits += text.substr(2, mark - 2);
  const bool small = text[mark + 1] == '-';
  int exponent = 0;
  std::from_chars(buffer + mark + 2, end, exponent);
  parts.point = 1 + (small ? -exponent : exponent);
  return parts;
}

}  // namespace

void AppendNumber(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  if (value == 0) {
    out += '0';  // the sign is lost when it is read again
    return;
  }
  if (value < 0) out += '-';
  const double size = std::fabs(value);
  const Parts parts = PartsOf(size);
  const int count = static_cast<int>(parts.digits.size());
  if (size < 1e-6 || size >= 1e21) {
    out += parts.digits[0];
    if (count > 1) (out += '.').append(parts.digits, 1);
    const int exponent = parts.point - 1;
    out += exponent < 0 ? "e-" : "e+";
    out += std::to_string(std::abs(exponent));
  } else if (parts.point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-parts.point), '0').append(parts.digits);
  } else if (count <= parts.point) {
    out.append(parts.digits).append(static_cast<std::size_t>(parts.point - count), '0');
  } else {
    const auto whole = static_cast<std::size_t>(parts.point);
    out.append(parts.digits, 0, whole).append(1, '.').append(parts.digits, whole);
  }
}

}  // namespace mailroom
