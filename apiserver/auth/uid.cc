#include "apiserver/auth/uid.h"

#include <array>
#include <random>
#include <string_view>

#include "storage/object/random.h"

namespace mailroom::apiserver {

namespace {

using UidBytes = std::array<unsigned char, 16>;

// Every request is given one, and the generator's cost is one of calls, not of bytes.
UidBytes TakeRandom() {
  thread_local std::array<UidBytes, 64> ready;
  thread_local std::size_t left = 0;
  if (left == 0) {
    FillRandom(ready.front().data(), sizeof ready);
    left = ready.size();
  }
  return ready[--left];
}

}  // namespace

std::string NewUid() {
  UidBytes bytes = TakeRandom();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kHex[bytes[i] >> 4];
    out += kHex[bytes[i] & 15];
  }
  return out;
}

std::string NameSuffix() {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  thread_local std::mt19937 random(std::random_device{}());
  std::string out;
  for (int i = 0; i < 5; ++i) out += kAlphabet[random() % kAlphabet.size()];
  return out;
}

}  // namespace mailroom::apiserver
