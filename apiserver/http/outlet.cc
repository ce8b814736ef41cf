#include "apiserver/http/outlet.h"

#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include <deque>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// Of this thread's loop.
struct Line {
  std::deque<std::weak_ptr<Outlet>> waiting;
  bool called = false;  // the first of them
};
thread_local Line line;

}  // namespace

Outlet::Outlet(const std::shared_ptr<trantor::TcpConnection>& connection, std::size_t block,
               Source source, std::function<void()> ended)
    : connection_(connection),
      block_(block),
      source_(std::move(source)),
      ended_(std::move(ended)) {}

void Outlet::Kick() {
  const auto connection = connection_.lock();
  if (closed_ || at_end_ || parked_ || pumping_ || in_line_) return;
  if (!connection || !connection->connected()) return;
  pumping_ = true;
  static thread_local std::string bytes;
  bool drained = true;
  Supply supply = Supply::kMore;
  for (std::size_t sent = 0; drained && supply == Supply::kMore && sent < limits::kWriteTurn;) {
    bytes.clear();
    supply = source_(bytes, block_);
    if (bytes.empty()) break;
    const std::size_t before = connection->bytesSent();
    connection->send(bytes.data(), bytes.size());
    // TLS adds to the bytes and never takes away, so fewer sent means some are waiting.
    drained = connection->bytesSent() - before >= bytes.size();
    sent += bytes.size();
  }
  pumping_ = false;
  if (supply == Supply::kEnd) {
    at_end_ = true;
    PostEnded();
  } else if (!drained) {
    Park(*connection);
  } else if (supply == Supply::kMore) {
    StandInLine(*connection);
  }
}

void Outlet::StandInLine(trantor::TcpConnection& connection) {
  in_line_ = true;
  line.waiting.push_back(weak_from_this());
  CallNext(*connection.getLoop());
}

void Outlet::CallNext(trantor::EventLoop& loop) {
  if (line.called || line.waiting.empty()) return;
  line.called = true;
  // A function queued on the loop would run before its sockets are looked at.
  loop.runAfter(0.0, [&loop] {
    line.called = false;
    const std::shared_ptr<Outlet> next = line.waiting.front().lock();
    line.waiting.pop_front();
    if (next) {
      next->in_line_ = false;
      next->Kick();
    }
    CallNext(loop);
  });
}

void Outlet::Park(trantor::TcpConnection& connection) {
  if (!connection.connected()) return;
  parked_ = true;
  seen_sent_ = connection.bytesSent();
  progress_at_ = std::chrono::steady_clock::now();
  // Called when what is unsent is gone. Bytes could be handed over there, but that would go on for
  // as long as the peer keeps up; none takes the outlet out of the connection's queue.
  connection.sendStream([weak = weak_from_this()](char* to, std::size_t) -> std::size_t {
    const auto self = weak.lock();
    if (self && to != nullptr) self->Unpark();
    return 0;
  });
}

void Outlet::Unpark() {
  parked_ = false;
  const auto connection = connection_.lock();
  if (!closed_ && connection) StandInLine(*connection);
}

std::chrono::steady_clock::duration Outlet::Stalled(std::chrono::steady_clock::time_point now) {
  const auto connection = connection_.lock();
  if (!parked_ || !connection) return {};
  if (connection->bytesSent() != seen_sent_) {
    seen_sent_ = connection->bytesSent();
    progress_at_ = now;
  }
  return now - progress_at_;
}

void Outlet::PostEnded() {
  const auto connection = connection_.lock();
  if (!connection) return;
  connection->getLoop()->queueInLoop([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->closed_) self->ended_();
  });
}

void Outlet::Close() { closed_ = true; }

}  // namespace mailroom::apiserver
