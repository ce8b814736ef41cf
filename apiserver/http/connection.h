// One accepted connection, whatever protocol it speaks, and the table of those of one I/O loop.
// Everything here is called on the connection's loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <unordered_map>

#include "apiserver/http/front_state.h"
#include "storage/object/message.h"

namespace trantor {
class TcpConnection;
}  // namespace trantor

namespace mailroom::apiserver {

using TcpConnectionPtr = std::shared_ptr<trantor::TcpConnection>;

class Connection {
 public:
  Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket);
  virtual ~Connection() = default;

  // The answer to the request that Serve was given for this connection under `id`; moved from or
  // discarded.
  virtual void OnAnswer(std::int32_t id, Response& response) = 0;
  // The socket is gone.
  virtual void OnClosed() = 0;
  // Ends streamed bodies cleanly.
  virtual void EndStreams() = 0;
  // No further requests: close once what is under way has been answered.
  virtual void Retire() = 0;
  // Once a second: cut what does not move.
  virtual void Sweep(std::chrono::steady_clock::time_point now) = 0;

 protected:
  // Whether a request that began `age` ago and has brought `bytes` so far is given up.
  bool ArrivesTooSlowly(std::chrono::steady_clock::duration age, std::size_t bytes) const;
  // Who is at the other end. The verdict on a certificate is kept until it expires or the CAs
  // change.
  const Peer& CurrentPeer();

  const std::shared_ptr<FrontState> state_;
  const std::weak_ptr<trantor::TcpConnection> socket_;
  trantor::EventLoop* const loop_;

 private:
  const FrontState::Counted counted_;
  Peer peer_;
  const PeerChainPtr chain_;  // null: no certificate was presented
  std::shared_ptr<const TlsMaterial> judge_;
  std::time_t judged_until_ = 0;
};

// The connections of the calling loop.
std::unordered_map<trantor::TcpConnection*, std::shared_ptr<Connection>>& LocalConnections();

}  // namespace mailroom::apiserver
