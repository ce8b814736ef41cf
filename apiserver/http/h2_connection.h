// An HTTP/2 connection: an nghttp2 session on a socket of Drogon's listener. nghttp2 does
// framing, header compression and flow control; this class turns streams into exchanges, draws
// bodies as windows and socket allow, and ends peers that flood, stall or vanish. Lives on the
// connection's loop.
#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "apiserver/http/connection.h"
#include "apiserver/http/h2_stream.h"
#include "apiserver/http/outlet.h"
#include "apiserver/http/token_bucket.h"

namespace trantor {
class MsgBuffer;
}  // namespace trantor

namespace mailroom::apiserver {

class H2Connection : public Connection, public std::enable_shared_from_this<H2Connection> {
 public:
  using Streams = std::unordered_map<std::int32_t, std::optional<H2Stream>>;  // all are there

  H2Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket);
  ~H2Connection() override;

  // Takes the socket over. Call once, when the connection is in a shared_ptr.
  void Start();

  void OnAnswer(std::int32_t id, Response& response) override;
  void OnClosed() override;
  void EndStreams() override;
  void Retire() override;
  void Sweep(std::chrono::steady_clock::time_point now) override;

 private:
  friend struct H2Callbacks;  // the C functions nghttp2 calls

  void OnBytes(trantor::MsgBuffer& bytes);
  Outlet::Supply Fill(std::string& out, std::size_t max);
  void KickSoon();
  // Breaks the connection off after telling the peer why.
  void Abort(std::uint32_t error);

  // What nghttp2 reports.
  int OnBeginFrame(const nghttp2_frame_hd& head);
  int OnBeginHeaders(const nghttp2_frame& frame);
  int OnHeader(const nghttp2_frame& frame, std::string_view name, std::string_view value);
  int OnData(std::int32_t id, std::string_view data);
  int OnFrame(const nghttp2_frame& frame);
  // False when there are too many, and the connection is broken off.
  bool CountControlFrame();
  void OnStreamClosed(std::int32_t id);
  ssize_t OnRead(H2Stream& stream, std::uint8_t* out, std::size_t room, std::uint32_t* flags);

  H2Stream& NewStream(std::int32_t id);
  H2Stream* Find(std::int32_t id);
  void Dispatch(H2Stream& stream);
  void Submit(std::int32_t id, const H2Head& head, const nghttp2_data_provider* provider);
  void SweepStream(H2Stream& stream, std::chrono::steady_clock::time_point now);
  // Resets a stream of events whose reader is too far behind them, unless it soon catches up.
  void CheckBehind(H2Stream& stream);
  // Of a request that has been dispatched, or never will be.
  void Arrived(const H2Stream& stream);
  // Tells the others what is held here, once it differs by more than `slack` from what they know.
  void Tell(std::size_t slack);
  // Gives up a request that is still arriving. What it held is let go at once: the reset may wait
  // behind answers that the peer does not read.
  void GiveUp(H2Stream& stream);

  nghttp2_session* session_ = nullptr;
  std::shared_ptr<Outlet> outlet_;
  Streams streams_;
  H2Stream* recent_ = nullptr;  // the last one found
  // Received and not yet dispatched, all streams.
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  FrontState::Holding holding_;  // both
  std::size_t running_ = 0;     // dispatched and not yet answered, reset ones included
  TokenBucket control_frames_;
  bool receiving_ = false;  // OnBytes kicks when it is done
  bool kick_posted_ = false;
  bool aborted_ = false;
  bool ended_ = false;  // everything handed over, closing
  std::size_t seen_received_ = 0;
  std::chrono::steady_clock::time_point heard_at_;
  std::chrono::steady_clock::time_point in_use_at_;  // the last sweep that saw a stream
  bool pinged_ = false;
};

}  // namespace mailroom::apiserver
