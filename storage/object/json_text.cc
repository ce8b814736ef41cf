#include "storage/object/json_text.h"

namespace mailroom {

// Well-formed sequences as in table 3-7 of the Unicode standard.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned char low = 0x80, unsigned char high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  if (text.empty() || byte(0) < 0xc2 || byte(0) > 0xf4) return 0;
  const unsigned char first = byte(0);
  if (first < 0xe0) return follows(1) ? 2 : 0;
  if (first < 0xf0) {
    const unsigned char low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  const unsigned char low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
  return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
}

}  // namespace mailroom
