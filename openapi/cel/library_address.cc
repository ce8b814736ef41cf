// IP addresses and networks.
#include <array>
#include <charconv>
#include <optional>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

struct Address {
  bool v4 = false;
  std::array<std::uint8_t, 16> bytes = {};  // the first four of a v4 address
  bool operator==(const Address&) const = default;
  int bits() const { return v4 ? 32 : 128; }
};

struct IpNode : Opaque {
  Address address;
  std::string_view type_name() const override { return "net.IP"; }
  bool Equals(const Opaque& other) const override {
    return address == static_cast<const IpNode&>(other).address;
  }
};
struct CidrNode : Opaque {
  Address address;
  int length = 0;
  std::string_view type_name() const override { return "net.CIDR"; }
  bool Equals(const Opaque& other) const override {
    const auto& cidr = static_cast<const CidrNode&>(other);
    return address == cidr.address && length == cidr.length;
  }
};

bool ParseV4(std::string_view text, std::uint8_t* out) {
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    const std::string_view digits = part < 3 ? text.substr(0, dot) : text;
    if ((part < 3 && dot == std::string_view::npos) || digits.empty() || digits.size() > 3 ||
        (digits.size() > 1 && digits[0] == '0')) {
      return false;
    }
    unsigned number = 0;
    for (char c : digits) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + static_cast<unsigned>(c - '0');
    }
    if (number > 255) return false;
    out[part] = static_cast<std::uint8_t>(number);
    if (part < 3) text.remove_prefix(dot + 1);
  }
  return true;
}

bool ParseV6(std::string_view text, std::array<std::uint8_t, 16>& out) {
  std::size_t used = 0;
  std::optional<std::size_t> gap;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
    if (text.empty()) return true;
  }
  while (used < 16) {
    std::size_t digits = 0;
    unsigned number = 0;
    while (digits < text.size() && digits < 5) {
      unsigned digit = 0;
      const auto read = std::from_chars(text.data() + digits, text.data() + digits + 1, digit, 16);
      if (read.ec != std::errc()) break;
      number = number * 16 + digit;
      ++digits;
    }
    if (digits == 0 || digits > 4) return false;
    if (digits < text.size() && text[digits] == '.') {
      if ((!gap.has_value() && used != 12) || used + 4 > 16) return false;
      if (!ParseV4(text, out.data() + used)) return false;
      used += 4;
      text = {};
      break;
    }
    out[used++] = static_cast<std::uint8_t>(number >> 8);
    out[used++] = static_cast<std::uint8_t>(number & 255);
    text.remove_prefix(digits);
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return false;
    text.remove_prefix(1);
    if (text[0] == ':') {
      if (gap.has_value()) return false;
      gap = used;
      text.remove_prefix(1);
      if (text.empty()) break;
    }
  }
  if (!text.empty()) return false;
  if (used == 16) return !gap.has_value();
  if (!gap.has_value()) return false;
  const std::size_t tail = used - *gap;
  for (std::size_t i = 0; i < tail; ++i) {
    out[15 - i] = out[used - 1 - i];
  }
  for (std::size_t i = *gap; i < 16 - tail; ++i) out[i] = 0;
  return true;
}

bool Mapped(const Address& address) {
  if (address.v4) return false;
  for (std::size_t i = 0; i < 10; ++i) {
    if (address.bytes[i] != 0) return false;
  }
  return address.bytes[10] == 0xff && address.bytes[11] == 0xff;
}

// What is wrong, or "".
std::string ReadAddress(std::string_view text, Address& out) {
  const std::string shown = "\"" + std::string(text) + "\"";
  const std::size_t zone = text.find('%');
  const bool v6 = text.find(':') != std::string_view::npos;
  out.v4 = !v6;
  const bool good = v6 ? ParseV6(text.substr(0, zone), out.bytes) : ParseV4(text, out.bytes.data());
  if (!good) {
    return "IP Address " + shown + " parse error during conversion from string: ParseAddr(" +
           shown + "): unable to parse IP";
  }
  if (zone != std::string_view::npos) {
    return "IP address " + shown + " with zone value is not allowed";
  }
  if (Mapped(out)) return "IPv4-mapped IPv6 address " + shown + " is not allowed";
  return "";
}

std::string Text(const Address& address) {
  std::string out;
  if (address.v4) {
    for (std::size_t i = 0; i < 4; ++i) {
      out += (i > 0 ? "." : "") + std::to_string(address.bytes[i]);
    }
    return out;
  }
  std::array<unsigned, 8> groups = {};
  for (std::size_t i = 0; i < 8; ++i) {
    groups[i] = address.bytes[2 * i] * 256U + address.bytes[2 * i + 1];
  }
  // The longest run of zeros, two or more, is left out.
  std::size_t start = 8, length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t j = i;
    while (j < 8 && groups[j] == 0) ++j;
    if (j - i > length) {
      start = i;
      length = j - i;
    }
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == start) {
      out += "::";
      i += length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ":";
    char digits[5];
    const auto end = std::to_chars(digits, digits + sizeof digits, groups[i], 16);
    out.append(digits, end.ptr);
  }
  return out;
}

Value MakeIp(const Address& address) {
  auto node = std::make_shared<IpNode>();
  node->address = address;
  return Value::Of(std::shared_ptr<const Opaque>(std::move(node)));
}
Value MakeCidr(const Address& address, int length) {
  auto node = std::make_shared<CidrNode>();
  node->address = address;
  node->length = length;
  return Value::Of(std::shared_ptr<const Opaque>(std::move(node)));
}
const Address& IpOf(const Value& value) {
  return static_cast<const IpNode*>(value.opaque())->address;
}
const CidrNode& CidrOf(const Value& value) {
  return *static_cast<const CidrNode*>(value.opaque());
}

std::string ReadCidr(std::string_view text, Address& address, int& length) {
  const std::string shown = "netip.ParsePrefix(\"" + std::string(text) + "\")";
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return shown + ": no '/'";
  std::string fault = ReadAddress(text.substr(0, slash), address);
  if (!fault.empty()) return fault;
  const std::string_view digits = text.substr(slash + 1);
  if (digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) {
    return shown + ": bad bits after slash";
  }
  for (char c : digits) {
    if (c < '0' || c > '9') return shown + ": bad bits after slash";
    length = length * 10 + (c - '0');
  }
  return length > address.bits() ? shown + ": prefix length out of range" : "";
}

bool SamePrefix(const Address& a, const Address& b, int bits) {
  if (a.v4 != b.v4) return false;
  for (int i = 0; i < bits; ++i) {
    const auto byte = static_cast<std::size_t>(i / 8);
    if (((a.bytes[byte] ^ b.bytes[byte]) >> (7 - i % 8) & 1) != 0) return false;
  }
  return true;
}

Value IpFromText(Meter&, Args a) {
  Address address;
  std::string fault = ReadAddress(a[0].text(), address);
  return fault.empty() ? MakeIp(address) : Value::Error(std::move(fault));
}
Value IsIp(Meter&, Args a) {
  Address address;
  return Value::Bool(ReadAddress(a[0].text(), address).empty());
}
Value IsCanonical(Meter&, Args a) {
  Address address;
  std::string fault = ReadAddress(a[0].text(), address);
  if (!fault.empty()) return Value::Error(std::move(fault));
  return Value::Bool(Text(address) == a[0].text());
}
Value Family(Meter&, Args a) { return Value::Int(IpOf(a[0]).v4 ? 4 : 6); }

bool Unspecified(const Address& a) {
  for (std::uint8_t byte : a.bytes) {
    if (byte != 0) return false;
  }
  return true;
}
bool Loopback(const Address& a) {
  if (a.v4) return a.bytes[0] == 127;
  Address one;
  one.bytes[15] = 1;
  return a == one;
}
bool LinkLocalUnicast(const Address& a) {
  return a.v4 ? a.bytes[0] == 169 && a.bytes[1] == 254
              : a.bytes[0] == 0xfe && (a.bytes[1] & 0xc0) == 0x80;
}
bool LinkLocalMulticast(const Address& a) {
  return a.v4 ? a.bytes[0] == 224 && a.bytes[1] == 0 && a.bytes[2] == 0
              : a.bytes[0] == 0xff && (a.bytes[1] & 0x0f) == 2;
}
bool Multicast(const Address& a) {
  return a.v4 ? (a.bytes[0] & 0xf0) == 0xe0 : a.bytes[0] == 0xff;
}
bool GlobalUnicast(const Address& a) {
  Address broadcast;
  broadcast.v4 = true;
  for (std::size_t i = 0; i < 4; ++i) broadcast.bytes[i] = 255;
  return !(a == broadcast) && !Unspecified(a) && !Loopback(a) && !Multicast(a) &&
         !LinkLocalUnicast(a);
}
template <bool (*Test)(const Address&)>
Value Is(Meter&, Args a) {
  return Value::Bool(Test(IpOf(a[0])));
}
Value IpText(Meter&, Args a) { return Value::String(Text(IpOf(a[0]))); }

Value CidrFromText(Meter&, Args a) {
  Address address;
  int length = 0;
  const std::string fault = ReadCidr(a[0].text(), address, length);
  if (fault.empty()) return MakeCidr(address, length);
  return Value::Error(
      "network address parse error during conversion from string: network address parse error "
      "during conversion from string: " +
      fault);
}
Value IsCidr(Meter&, Args a) {
  Address address;
  int length = 0;
  return Value::Bool(ReadCidr(a[0].text(), address, length).empty());
}
Value CidrText(Meter&, Args a) {
  return Value::String(Text(CidrOf(a[0]).address) + "/" + std::to_string(CidrOf(a[0]).length));
}
Value ContainsIp(Meter&, Args a) {
  const CidrNode& cidr = CidrOf(a[0]);
  return Value::Bool(SamePrefix(cidr.address, IpOf(a[1]), cidr.length));
}
Value ContainsIpText(Meter& meter, Args a) {
  const Value other[] = {a[1]};
  const Value pair[] = {a[0], IpFromText(meter, other)};
  return pair[1].is_error() ? pair[1] : ContainsIp(meter, pair);
}
Value ContainsCidr(Meter&, Args a) {
  const CidrNode& outer = CidrOf(a[0]);
  const CidrNode& inner = CidrOf(a[1]);
  return Value::Bool(outer.length <= inner.length &&
                     SamePrefix(outer.address, inner.address, outer.length));
}
Value ContainsCidrText(Meter& meter, Args a) {
  const Value other[] = {a[1]};
  const Value pair[] = {a[0], CidrFromText(meter, other)};
  return pair[1].is_error() ? pair[1] : ContainsCidr(meter, pair);
}
Value CidrIp(Meter&, Args a) { return MakeIp(CidrOf(a[0]).address); }
Value PrefixLength(Meter&, Args a) { return Value::Int(CidrOf(a[0]).length); }
Value Masked(Meter&, Args a) {
  Address address = CidrOf(a[0]).address;
  for (int i = CidrOf(a[0]).length; i < address.bits(); ++i) {
    auto& byte = address.bytes[static_cast<std::size_t>(i / 8)];
    byte = static_cast<std::uint8_t>(byte & ~(1 << (7 - i % 8)));
  }
  return MakeCidr(address, CidrOf(a[0]).length);
}
std::uint64_t PriceOfContains(Args a, const Value&) {
  return Scaled(2 * SizeOf(a[0]), 0.1) + (a[1].is(Kind::kString) ? Scaled(SizeOf(a[1]), 0.1) : 0);
}

constexpr Row kRows[] = {
    {"ip", "(string) net.IP", IpFromText, TraverseFirst},
    {"isIP", "(string) bool", IsIp, TraverseFirst},
    {"ip.isCanonical", "(string) bool", IsCanonical, TraverseTwice},
    {"family", "net.IP.() int", Family},
    {"isUnspecified", "net.IP.() bool", Is<Unspecified>},
    {"isLoopback", "net.IP.() bool", Is<Loopback>},
    {"isLinkLocalMulticast", "net.IP.() bool", Is<LinkLocalMulticast>},
    {"isLinkLocalUnicast", "net.IP.() bool", Is<LinkLocalUnicast>},
    {"isGlobalUnicast", "net.IP.() bool", Is<GlobalUnicast>},
    {"string", "(net.IP) string", IpText},
    {"cidr", "(string) net.CIDR", CidrFromText, TraverseFirst},
    {"isCIDR", "(string) bool", IsCidr, TraverseFirst},
    {"containsIP", "net.CIDR.(string) bool", ContainsIpText, PriceOfContains},
    {"containsIP", "net.CIDR.(net.IP) bool", ContainsIp, PriceOfContains},
    {"containsCIDR", "net.CIDR.(string) bool", ContainsCidrText, PriceOfContains},
    {"containsCIDR", "net.CIDR.(net.CIDR) bool", ContainsCidr, PriceOfContains},
    {"ip", "net.CIDR.() net.IP", CidrIp},
    {"prefixLength", "net.CIDR.() int", PrefixLength},
    {"masked", "net.CIDR.() net.CIDR", Masked},
    {"string", "(net.CIDR) string", CidrText},
};

}  // namespace

std::span<const Row> AddressRows() { return kRows; }

}  // namespace mailroom::cel
