#include "apiserver/http/connection.h"

#include <trantor/net/TcpConnection.h>

namespace mailroom::apiserver {
namespace {

// Trantor puts no brackets around IPv6 addresses. IPv4 by way of IPv6 is shown as what it is.
std::string TextOf(const trantor::InetAddress& peer) {
  constexpr std::string_view kMapped = "::ffff:";
  if (!peer.isIpV6()) return peer.toIpPort();
  std::string ip = peer.toIp();
  const bool mapped = ip.starts_with(kMapped) && ip.find('.') != std::string::npos;
  ip = mapped ? ip.substr(kMapped.size()) : "[" + ip + "]";
  return ip + ":" + std::to_string(peer.toPort());
}

}  // namespace

Connection::Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket)
    : state_(std::move(state)),
      socket_(socket),
      loop_(socket->getLoop()),
      counted_(state_, state_->connections),
      chain_(TlsGate::TakePeerChain()) {
  peer_.address = TextOf(socket->peerAddr());
}

const Peer& Connection::CurrentPeer() {
  if (!chain_) return peer_;
  auto judge = state_->tls.current();
  if (judge != judge_ || std::time(nullptr) >= judged_until_) {
    Peer fresh;
    fresh.address = peer_.address;
    judged_until_ = judge->Judge(*chain_, fresh);
    if (!fresh.certificate_rejected) fresh.until = judged_until_;
    judge_ = std::move(judge);
    peer_ = std::move(fresh);
  }
  return peer_;
}

bool Connection::ArrivesTooSlowly(std::chrono::steady_clock::duration age,
                                  std::size_t bytes) const {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(age);
  return ms >= state_->options.timeouts.request_arrival &&
         bytes < static_cast<std::size_t>(ms.count()) * limits::kRequestRate / 1000;
}

std::unordered_map<trantor::TcpConnection*, std::shared_ptr<Connection>>& LocalConnections() {
  static thread_local std::unordered_map<trantor::TcpConnection*, std::shared_ptr<Connection>>
      connections;
  return connections;
}

}  // namespace mailroom::apiserver
