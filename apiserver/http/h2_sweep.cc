// The part of an HTTP/2 connection that watches the clock.
#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include <utility>

#include "apiserver/http/h2_connection.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

void H2Connection::Sweep(std::chrono::steady_clock::time_point now) {
  const auto socket = socket_.lock();
  if (!socket) return;
  // Not at once: closing ends the connection that asks for it.
  const auto close = [&] { loop_->queueInLoop([socket] { socket->forceClose(); }); };
  const auto cut = [&](std::string_view why) {
    ++state_->cut;
    Log(Level::kDebug, "cutting an HTTP/2 connection",
        {{"peer", CurrentPeer().address}, {"why", std::string(why)}});
    close();
  };
  const FrontTimeouts& timeouts = state_->options.timeouts;
  if (ended_ || aborted_) {
    if (now - heard_at_ >= timeouts.linger) cut("it does not close");
    return;
  }
  if (!socket->connected()) return close();  // the peer has said its last word
  if (socket->bytesReceived() != seen_received_) {
    seen_received_ = socket->bytesReceived();
    heard_at_ = now;
    pinged_ = false;
  }
  if (outlet_->Stalled(now) >= timeouts.stall) return cut("it does not read");
  const auto silence = now - heard_at_;
  if (streams_.empty()) {
    if (silence < timeouts.idle || now - in_use_at_ < timeouts.idle) return;
    // Nothing is lost: GOAWAY names the last stream served.
    heard_at_ = now;
    return Retire();
  }
  in_use_at_ = now;
  Tell(0);
  if (pinged_ && silence >= timeouts.ping_after + timeouts.ping_wait) {
    return cut("it does not answer a ping");
  }
  if (!pinged_ && silence >= timeouts.ping_after) {
    pinged_ = true;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    KickSoon();
  }
  for (auto& [id, stream] : streams_) SweepStream(*stream, now);
}

// nghttp2 does not ask for data while a window is closed, so a reader of one stream that has
// stopped shows only here.
void H2Connection::SweepStream(H2Stream& stream, std::chrono::steady_clock::time_point now) {
  const auto reset = [&](std::uint32_t error) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, error);
    KickSoon();
  };
  if (!stream.dispatched) {
    // What the peer has spent, not what it has become here.
    const std::size_t bytes = stream.header_wire_bytes + stream.request.body.size();
    if (!stream.arriving_since) stream.arriving_since = now;
    if (ArrivesTooSlowly(now - *stream.arriving_since, bytes)) reset(NGHTTP2_CANCEL);
    return;
  }
  const bool closed = nghttp2_session_get_stream_remote_window_size(session_, stream.id) <= 0 ||
                      nghttp2_session_get_remote_window_size(session_) <= 0;
  const bool moved = std::exchange(stream.seen_sent, stream.sent) != stream.sent;
  if (stream.streaming) CheckBehind(stream);
  if (!stream.body || stream.deferred || !closed || moved) {
    stream.stalled_at.reset();
    return;
  }
  if (!stream.stalled_at) stream.stalled_at = now;
  if (now - *stream.stalled_at >= state_->options.timeouts.stall) reset(NGHTTP2_ENHANCE_YOUR_CALM);
}

// A stream whose body goes out in time is gone, or no longer behind, when the timer comes.
void H2Connection::CheckBehind(H2Stream& stream) {
  if (!stream.streaming) return;
  const auto since = stream.body->BehindSince();
  if (!since) return;
  const std::chrono::duration<double> left =
      *since + state_->options.timeouts.end_stall - std::chrono::steady_clock::now();
  if (left.count() <= 0) {
    // The reset may wait behind what the socket does not take; the source does not.
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_ENHANCE_YOUR_CALM);
    stream.body->Cancel();
    stream.streaming.reset();
    KickSoon();
  } else if (!std::exchange(stream.behind_timer, true)) {
    loop_->runAfter(left.count(), [weak = weak_from_this(), id = stream.id] {
      const auto self = weak.lock();
      H2Stream* late = self ? self->Find(id) : nullptr;
      if (late == nullptr) return;
      late->behind_timer = false;
      self->CheckBehind(*late);
    });
  }
}

}  // namespace mailroom::apiserver
