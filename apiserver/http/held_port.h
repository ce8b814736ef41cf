// An address and port that are ours before Drogon binds them, so that a taken port is an error
// value instead of an exit, and port 0 becomes one port for all I/O loops.
#pragma once

#include <cstdint>
#include <string>

#include "storage/object/result.h"

namespace mailroom::apiserver {

class HeldPort {
 public:
  // `host` may be a name; "" is every interface. Fails when somebody else has the port.
  static Result<HeldPort> Bind(const std::string& host, std::uint16_t port);
  HeldPort(HeldPort&& other) noexcept;
  HeldPort& operator=(HeldPort&& other) noexcept;
  ~HeldPort() { Release(); }

  const std::string& address() const { return address_; }  // numeric
  std::uint16_t port() const { return port_; }
  bool loopback() const { return loopback_; }
  // Call once the real listeners are bound.
  void Release();

 private:
  HeldPort() = default;

  int fd_ = -1;
  std::string address_;
  std::uint16_t port_ = 0;
  bool loopback_ = false;
};

}  // namespace mailroom::apiserver
