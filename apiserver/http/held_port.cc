#include "apiserver/http/held_port.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace mailroom::apiserver {
namespace {

std::string Numeric(const sockaddr* address, socklen_t size) {
  char text[NI_MAXHOST] = "";
  getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
  return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
}

}  // namespace

HeldPort::HeldPort(HeldPort&& other) noexcept { *this = std::move(other); }

HeldPort& HeldPort::operator=(HeldPort&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(address_, other.address_);
  std::swap(port_, other.port_);
  std::swap(loopback_, other.loopback_);
  return *this;
}

void HeldPort::Release() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<HeldPort> HeldPort::Bind(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  hints.ai_family = host.empty() ? AF_INET : AF_UNSPEC;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(),
                                &hints, &found);
  if (error != 0) return Internal("cannot resolve " + host + ": " + gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> guard(found, &freeaddrinfo);

  HeldPort held;
  held.fd_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(held.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Bound alone first: this fails when anybody else has the port.
  if (held.fd_ < 0 || ::bind(held.fd_, found->ai_addr, found->ai_addrlen) != 0) {
    return Internal("cannot listen on " + host + ":" + std::to_string(port) + ": " +
                    std::strerror(errno));
  }
  // Drogon's listeners, and only sockets of this user that ask for it, may now join.
  setsockopt(held.fd_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(held.fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  held.address_ = Numeric(reinterpret_cast<sockaddr*>(&bound), size);
  held.port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                                 : reinterpret_cast<sockaddr_in&>(bound).sin_port);
  held.loopback_ = IsLoopback(bound);
  return held;
}

}  // namespace mailroom::apiserver
