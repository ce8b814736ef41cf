#include "openapi/validate_addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace mailroom::openapi {
namespace {

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Without zeros that lead a number of more digits.
std::string WithoutLeadingZeros(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = i == 0 || !IsHex(text[i - 1]);
    if (starts) {
      while (text[i] == '0' && i + 1 < text.size() && IsHex(text[i + 1])) ++i;
    }
    out += text[i];
  }
  return out;
}

// Only the forms that have one meaning.
std::optional<Address> ParseExact(const std::string& text) {
  Address address;
  if (text.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
  in6_addr wide{};
  if (inet_pton(AF_INET6, text.c_str(), &wide) != 1) return std::nullopt;
  address.mapped = IN6_IS_ADDR_V4MAPPED(&wide);
  address.size = address.mapped ? 4 : 16;
  std::copy_n(wide.s6_addr + (address.mapped ? 12 : 0), address.size, address.bytes.begin());
  return address;
}

// The prefix as a count of bits of `bytes`.
std::size_t KeptBits(const AddressRange& range) {
  if (!range.address.mapped) return range.bits;
  return range.bits > 96 ? range.bits - 96 : 0;
}

unsigned char MaskOf(std::size_t bits, std::size_t byte) {
  const std::size_t kept = bits > byte * 8 ? std::min<std::size_t>(bits - byte * 8, 8) : 0;
  return static_cast<unsigned char>(0xff00u >> kept);
}

}  // namespace

std::string Address::Text() const {
  std::string text;
  if (size == 4) {
    for (std::size_t i = 0; i < 4; ++i) text += (i == 0 ? "" : ".") + std::to_string(bytes[i]);
    return text;
  }
  const auto group = [&](std::size_t i) { return bytes[2 * i] * 256 + bytes[2 * i + 1]; };
  std::size_t gap = 8, longest = 1;  // the first of the longest runs of zeros, of two or more
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t run = 0;
    while (i + run < 8 && group(i + run) == 0) ++run;
    if (run > longest) {
      longest = run;
      gap = i;
    }
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      text += "::";
      i += longest - 1;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    char digits[5];
    text.append(digits, std::to_chars(digits, digits + 5, group(i), 16).ptr);
  }
  return text;
}

bool Address::IsUnspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
}

bool Address::IsLoopback() const {
  if (size == 4) return bytes[0] == 127;
  return bytes[15] == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](unsigned char byte) { return byte == 0; });
}

bool Address::IsLinkLocalUnicast() const {
  if (size == 4) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

bool Address::IsLinkLocalMulticast() const {
  if (size == 4) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xff && (bytes[1] & 0x0f) == 0x02;
}

bool AddressRange::Contains(const Address& other) const {
  if (address.size != other.size) return false;
  const std::size_t kept = KeptBits(*this);
  for (std::size_t i = 0; i < address.size; ++i) {
    if (((address.bytes[i] ^ other.bytes[i]) & MaskOf(kept, i)) != 0) return false;
  }
  return true;
}

bool AddressRange::HasHostBits() const {
  const std::size_t kept = KeptBits(*this);
  for (std::size_t i = 0; i < address.size; ++i) {
    if ((address.bytes[i] & static_cast<unsigned char>(~MaskOf(kept, i))) != 0) return true;
  }
  return false;
}

std::optional<Address> ParseAddress(const std::string& text) {
  return ParseExact(WithoutLeadingZeros(text));
}

std::optional<AddressRange> ParseRange(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto address = ParseAddress(text.substr(0, slash));
  if (!address) return std::nullopt;
  std::size_t bits = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (bits > (address->mapped ? 16 : address->size) * 8) return std::nullopt;
  return AddressRange{*address, bits};
}

Complaints CheckIp(const std::string& text) {
  const auto address = ParseAddress(text);
  if (!address) return {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"};
  if (!ParseExact(text)) return {"must not have leading 0s"};
  if (address->mapped) return {"must not be an IPv4-mapped IPv6 address"};
  return {};
}

Complaints CheckCanonicalIp(const std::string& text) {
  Complaints out = CheckIp(text);
  if (!out.empty()) return out;
  const std::string canonical = ParseAddress(text)->Text();
  if (canonical != text) out.push_back("must be in canonical form (" + Quoted(canonical) + ")");
  return out;
}

Complaints CheckOuterIp(const std::string& text, Loopback loopback) {
  const auto address = ParseAddress(text);
  if (!address) return {"must be a valid IP address"};
  Complaints out;
  if (address->IsUnspecified()) out.push_back("may not be unspecified (" + text + ")");
  if (address->IsLoopback() && loopback == Loopback::kRefused) {
    out.emplace_back("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (address->IsLinkLocalUnicast()) {
    out.emplace_back("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (address->IsLinkLocalMulticast()) {
    out.emplace_back("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return out;
}

Complaints CheckCidr(const std::string& text) {
  const auto range = ParseRange(text);
  if (!range) return {"must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"};
  const std::size_t slash = text.find('/');
  const bool padded = text[slash + 1] == '0' && slash + 2 < text.size();
  if (padded || !ParseExact(text.substr(0, slash))) {
    return {"must not have leading 0s in IP or prefix length"};
  }
  if (range->address.mapped) return {"must not have an IPv4-mapped IPv6 address"};
  if (range->HasHostBits()) return {"must not have bits set beyond the prefix length"};
  return {};
}

}  // namespace mailroom::openapi
