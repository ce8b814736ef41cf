#include "openapi/base64.h"

#include <cstdint>

namespace mailroom::openapi {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// Appends the decoded bytes to `out`; the result is the offset of a fault.
std::optional<std::size_t> Decode(std::string_view text, std::string& out) {
  std::uint32_t bits = 0;
  int digits = 0, padding = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      if (digits + padding < 2 || digits + padding > 3) return i;
      ++padding;
    } else {
      const int digit = Digit(c);
      if (digit < 0 || padding > 0) return i;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
      ++digits;
    }
    if (digits + padding < 4) continue;
    bits <<= 6 * padding;
    for (int byte = 0; byte < 3 - padding; ++byte) {
      out += static_cast<char>(bits >> (16 - 8 * byte) & 0xff);
    }
    if (padding > 0) {
      const std::size_t rest = text.find_first_not_of("\r\n", i + 1);
      if (rest != std::string_view::npos) return rest;
      return std::nullopt;
    }
    bits = 0;
    digits = 0;
  }
  if (digits + padding > 0) return text.size() - static_cast<std::size_t>(digits + padding);
  return std::nullopt;
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= count ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  if (Decode(text, out)) return std::nullopt;
  return out;
}

std::optional<std::size_t> Base64Fault(std::string_view text) {
  std::string out;
  return Decode(text, out);
}

}  // namespace mailroom::openapi
