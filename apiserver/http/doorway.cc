#include "apiserver/http/doorway.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <trantor/net/TcpConnection.h>

#include <string>
#include <unordered_map>

#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

struct Visitor {
  Visitor(const std::shared_ptr<FrontState>& state, int socket)
      : fd(socket), counted(state, state->handshakes) {}
  const int fd;
  const std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  const FrontState::Counted counted;
  bool cut = false;
};

// By the two addresses of the connection, the only name that accept and Trantor share.
std::unordered_map<std::string, Visitor>& Visitors() {
  static thread_local std::unordered_map<std::string, Visitor> visitors;
  return visitors;
}

std::string Address(int (*ask)(int, sockaddr*, socklen_t*), int fd) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  if (ask(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  if (address.sin6_family == AF_INET6) return trantor::InetAddress(address).toIpPort();
  return trantor::InetAddress(reinterpret_cast<const sockaddr_in&>(address)).toIpPort();
}

void Cut(int fd) {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  shutdown(fd, SHUT_RDWR);  // Trantor reads the end and closes
}

}  // namespace

void EnterDoorway(const std::shared_ptr<FrontState>& state, int fd) {
  const std::string peer = Address(getpeername, fd);
  const bool full = state->connections + state->handshakes >= state->options.connections;
  ++state->accepted;
  // Gone before it was accepted: Trantor finds that out by itself. It has no name to leave by, and the
  // descriptor will soon be somebody else's.
  if (peer.empty()) return;
  const std::string name = peer + Address(getsockname, fd);
  Visitors().erase(name);
  Visitor& visitor = Visitors().try_emplace(name, state, fd).first->second;
  if (!full) return;
  ++state->refused;
  visitor.cut = true;
  Cut(fd);
}

int LeaveDoorway(const trantor::TcpConnection& connection) {
  const auto visitor =
      Visitors().extract(connection.peerAddr().toIpPort() + connection.localAddr().toIpPort());
  return visitor.empty() ? -1 : visitor.mapped().fd;
}

void SweepDoorway(FrontState& state, std::chrono::steady_clock::time_point now) {
  for (auto& [name, visitor] : Visitors()) {
    if (visitor.cut || now - visitor.since < state.options.timeouts.handshake) continue;
    visitor.cut = true;
    ++state.cut;
    Log(Level::kDebug, "cutting a connection that does not finish its handshake");
    Cut(visitor.fd);
  }
}

}  // namespace mailroom::apiserver
