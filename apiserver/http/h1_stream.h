// A streamed response on an HTTP/1.1 or 1.0 connection that has been taken over from Drogon: it
// writes head and body itself and closes the connection at the end. Lives on the connection's
// loop.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apiserver/http/body_queue.h"
#include "apiserver/http/connection.h"
#include "apiserver/http/outlet.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

enum class Framing { kChunked, kUntilClose };

class H1Stream {
 public:
  H1Stream(const std::shared_ptr<FrontState>& state, const TcpConnectionPtr& socket,
           Response response, Framing framing);
  ~H1Stream();

  void Start();
  // Ends the body cleanly after what has been pulled.
  void End();
  // Closes the connection when the peer takes nothing for too long.
  void Sweep(std::chrono::steady_clock::time_point now);

 private:
  Outlet::Supply Fill(std::string& out, std::size_t max);
  void OnReady();
  void OnEnded();

  const FrontState::Counted counted_;
  const std::weak_ptr<trantor::TcpConnection> socket_;
  const Framing framing_;
  std::string head_;  // until sent
  BodyQueue body_;
  std::shared_ptr<Outlet> outlet_;
  bool ended_ = false;         // everything handed over, closing
  std::size_t seen_sent_ = 0;  // while closing
  std::chrono::steady_clock::time_point progress_at_;
};

}  // namespace mailroom::apiserver
