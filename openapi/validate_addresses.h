// IP addresses and ranges as members of objects have them: which are refused, in kube-apiserver's
// words, and what a range holds. Pure functions; any thread.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "openapi/validate_names.h"

namespace mailroom::openapi {

// An address in network order: 4 bytes, or 16. Those of the IPv4-mapped range have 4.
struct Address {
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 4;
  bool mapped = false;  // written as IPv6

  // As Go prints it.
  std::string Text() const;
  bool IsUnspecified() const;
  bool IsLoopback() const;
  bool IsLinkLocalUnicast() const;
  bool IsLinkLocalMulticast() const;
};

struct AddressRange {
  Address address;   // as it was written
  std::size_t bits;  // of the prefix, as it was written

  bool Contains(const Address& other) const;
  // Whether bits beyond the prefix are set.
  bool HasHostBits() const;
};

// Numbers with leading zeros are understood.
std::optional<Address> ParseAddress(const std::string& text);
std::optional<AddressRange> ParseRange(const std::string& text);

// Members that have taken other than canonical forms for long.
Complaints CheckIp(const std::string& text);
Complaints CheckCidr(const std::string& text);
// Younger members take the canonical form only.
Complaints CheckCanonicalIp(const std::string& text);
// Addresses that nobody can be reached at from elsewhere. The original refuses those of the host itself
// everywhere; to a hub, whose webhooks and extension servers may run beside it, they are endpoints.
enum class Loopback { kRefused, kTaken };
Complaints CheckOuterIp(const std::string& text, Loopback loopback);

}  // namespace mailroom::openapi
