// What reading and writing JSON text share: finding the bytes of a string that need a closer look.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace mailroom {

// The offset, from `at` on, of the first byte that is a quote, a backslash, a control character or
// not ASCII; the text's size when there is none. Eight bytes at a time.
inline std::size_t EndOfPlain(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  const auto special = [](unsigned char c) {
    return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
  };
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t quotes = word ^ (kOnes * '"'), slashes = word ^ (kOnes * '\\');
    // A borrow may mark a byte after one that is rightly marked, never one before it.
    const std::uint64_t marked =
        ((quotes - kOnes) & ~quotes) | ((slashes - kOnes) & ~slashes) | (word - kOnes * 0x20) | word;
    if ((marked & kHighs) != 0) break;
  }
  while (at < text.size() && !special(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

// The length of the well-formed UTF-8 sequence of more than one byte that `text` begins with; 0
// when there is none.
std::size_t Utf8Length(std::string_view text);

}  // namespace mailroom
