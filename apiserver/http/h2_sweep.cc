// The part of an HTTP/2 connection that watches the clock.
#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include "apiserver/http/h2_connection.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

void H2Connection::Sweep(std::chrono::steady_clock::time_point now) {
  const auto socket = socket_.lock();
  if (!socket) return;
  const auto cut = [&](std::string_view why) {
    ++state_->cut;
    Log(Level::kInfo, "cutting an HTTP/2 connection",
        {{"peer", CurrentPeer().address}, {"why", std::string(why)}});
    // Not at once: closing ends the connection that asks for it.
    loop_->queueInLoop([socket] { socket->forceClose(); });
  };
  const FrontTimeouts& timeouts = state_->options.timeouts;
  if (ended_ || aborted_ || !socket->connected()) {
    if (now - heard_at_ >= timeouts.linger) cut("it does not close");
    return;
  }
  if (socket->bytesReceived() != seen_received_) {
    seen_received_ = socket->bytesReceived();
    heard_at_ = now;
    pinged_ = false;
  }
  if (outlet_->Stalled(now) >= timeouts.stall) return cut("it does not read");
  const auto silence = now - heard_at_;
  if (streams_.empty()) {
    if (silence < timeouts.idle) return;
    // Nothing is lost: GOAWAY names the last stream served.
    heard_at_ = now;
    return Retire();
  }
  if (pinged_ && silence >= timeouts.ping_after + timeouts.ping_wait) {
    return cut("it does not answer a ping");
  }
  if (!pinged_ && silence >= timeouts.ping_after) {
    pinged_ = true;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    KickSoon();
  }
  for (auto& [id, stream] : streams_) SweepStream(stream, now);
}

// nghttp2 does not ask for data while a window is closed, so a reader of one stream that has
// stopped shows only here.
void H2Connection::SweepStream(H2Stream& stream, std::chrono::steady_clock::time_point now) {
  const auto reset = [&](std::uint32_t error) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, error);
    KickSoon();
  };
  if (!stream.dispatched) {
    const std::size_t bytes = stream.header_bytes + stream.request.body.size();
    if (!stream.arriving_since) stream.arriving_since = now;
    if (ArrivesTooSlowly(now - *stream.arriving_since, bytes)) reset(NGHTTP2_CANCEL);
    return;
  }
  const bool closed = nghttp2_session_get_stream_remote_window_size(session_, stream.id) <= 0 ||
                      nghttp2_session_get_remote_window_size(session_) <= 0;
  if (!stream.body || stream.deferred || !closed) {
    stream.stalled_at.reset();
    return;
  }
  if (!stream.stalled_at) stream.stalled_at = now;
  const auto stalled = now - *stream.stalled_at;
  const FrontTimeouts& timeouts = state_->options.timeouts;
  if (stalled >= timeouts.stall) return reset(NGHTTP2_ENHANCE_YOUR_CALM);
  if (stalled < timeouts.end_stall || !stream.streaming) return;
  stream.body->Probe();
  if (stream.body->ended()) reset(NGHTTP2_ENHANCE_YOUR_CALM);
}

}  // namespace mailroom::apiserver
