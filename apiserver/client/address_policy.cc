#include "apiserver/client/address_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace mailroom::client {
namespace {

bool RefusedV4(const AddressPolicy& policy, std::uint32_t address) {
  const std::uint32_t first = address >> 24;
  if (policy.refuse_loopback && (first == 127 || first == 0)) return true;
  if (policy.refuse_link_local && (address >> 16) == 0xa9fe) return true;
  return policy.refuse_private &&
         (first == 10 || (address >> 20) == 0xac1 || (address >> 16) == 0xc0a8 ||
          (address >> 22) == (0x64400000U >> 22));
}

bool RefusedV6(const AddressPolicy& policy, const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_V4COMPAT(&address)) {
    std::uint32_t last = 0;
    std::memcpy(&last, address.s6_addr + 12, sizeof last);
    if (ntohl(last) > 1) return RefusedV4(policy, ntohl(last));
  }
  if (policy.refuse_loopback &&
      (IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address))) {
    return true;
  }
  if (policy.refuse_link_local && IN6_IS_ADDR_LINKLOCAL(&address)) return true;
  return policy.refuse_private && (address.s6_addr[0] & 0xfe) == 0xfc;
}

}  // namespace

Result<AddressPolicy> AddressPolicy::Parse(const std::string& text) {
  AddressPolicy policy;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string word = text.substr(start, comma - start);
    if (word == "loopback") {
      policy.refuse_loopback = true;
    } else if (word == "link-local") {
      policy.refuse_link_local = true;
    } else if (word == "private") {
      policy.refuse_private = true;
    } else if (word != "none") {
      return BadRequest(Quoted(word) + " is none of loopback, link-local, private, none");
    }
    start = comma + 1;
  }
  return policy;
}

bool AddressPolicy::Refuses(const sockaddr& address) const {
  // libcurl gives room for any address behind the generic head.
  const void* whole = &address;
  if (address.sa_family == AF_INET) {
    sockaddr_in peer{};
    std::memcpy(&peer, whole, sizeof peer);
    return RefusedV4(*this, ntohl(peer.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 peer{};
    std::memcpy(&peer, whole, sizeof peer);
    return RefusedV6(*this, peer.sin6_addr);
  }
  return true;
}

}  // namespace mailroom::client
