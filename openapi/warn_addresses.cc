#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <optional>

#include "openapi/warn_builtin.h"
#include "storage/object/status.h"

namespace mailroom::openapi {
namespace {

// An address in network order: 4 bytes, or 16.
struct Address {
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 4;

  // As Go prints it: one inside the IPv4-mapped range as IPv4.
  std::string Text() const {
    char text[INET6_ADDRSTRLEN] = {};
    inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
    return text;
  }
};

// Both forms; `mapped` tells an IPv4 address written as IPv6.
std::optional<Address> Parse(const std::string& text, bool& mapped) {
  Address address;
  mapped = false;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
  in6_addr wide{};
  if (inet_pton(AF_INET6, text.c_str(), &wide) != 1) return std::nullopt;
  mapped = IN6_IS_ADDR_V4MAPPED(&wide);
  address.size = mapped ? 4 : 16;
  std::copy_n(wide.s6_addr + (mapped ? 12 : 0), address.size, address.bytes.begin());
  return address;
}

Address Network(Address address, std::size_t bits) {
  for (std::size_t i = 0; i < address.size; ++i) {
    const std::size_t kept = bits > i * 8 ? std::min<std::size_t>(bits - i * 8, 8) : 0;
    address.bytes[i] &= static_cast<unsigned char>(0xff00u >> kept);
  }
  return address;
}

}  // namespace

void WarnAboutIp(const std::string& path, const std::string& text, Warnings& warnings) {
  bool mapped = false;
  const auto address = Parse(text, mapped);
  if (!address) return;
  const std::string canonical = address->Text();
  if (mapped) {
    warnings.push_back(path + ": non-standard IP address " + Quoted(text) + " is invalid: use " +
                       Quoted(canonical));
  } else if (address->size == 16 && canonical != text) {
    warnings.push_back(path + ": IPv6 address " + Quoted(text) +
                       " should be in RFC 5952 canonical format (" + Quoted(canonical) + ")");
  }
}

void WarnAboutCidr(const std::string& path, const std::string& text, Warnings& warnings) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return;
  bool mapped = false;
  const auto address = Parse(text.substr(0, slash), mapped);
  std::size_t bits = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
  if (!address || error != std::errc() || stop != end) return;
  if (mapped) bits = bits > 96 ? bits - 96 : 0;
  if (bits > address->size * 8) return;
  const std::string network = Network(*address, bits).Text() + "/" + std::to_string(bits);
  const std::string given = address->Text();
  const bool ambiguous = network != given + "/" + std::to_string(bits);
  if (ambiguous) {
    warnings.push_back(path + ": CIDR value " + Quoted(text) +
                       " is ambiguous in this context (should be " + Quoted(network) + " or " +
                       Quoted(given + "/" + std::to_string(address->size * 8)) + "?)");
  }
  if (mapped) {
    warnings.push_back(path + ": non-standard CIDR value " + Quoted(text) + " is invalid: use " +
                       Quoted(network));
  } else if (!ambiguous && address->size == 16 && network != text) {
    warnings.push_back(path + ": IPv6 CIDR value " + Quoted(text) +
                       " should be in RFC 5952 canonical format (" + Quoted(network) + ")");
  }
}

}  // namespace mailroom::openapi
