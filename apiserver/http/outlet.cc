#include "apiserver/http/outlet.h"

#include <sys/eventfd.h>
#include <trantor/net/Channel.h>
#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::chrono::milliseconds kWithoutBell{1};
constexpr std::size_t kTurnsOnEnd = 2;  // before the loop sleeps for a moment

// Of this thread's loop. While somebody waits, a descriptor that is always readable stands among the
// loop's sockets: each look at them is then followed by one turn. (A function queued on the loop
// would run before they are looked at, and a timer is never due at once: it costs much to wait for one
// in each turn.) But after a few turns the loop sleeps until a timer is due, and leaves its processor to
// others: who never does is given whole slices of time by the scheduler, for which all others wait.
struct Line {
  std::deque<std::weak_ptr<Outlet>> waiting;

  ~Line() {
    bell.reset();
    if (descriptor >= 0) close(descriptor);
  }
  void Ring(trantor::EventLoop* loop, const std::function<void()>& turn) {
    if (!bell) {
      descriptor = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
      // While the process has no descriptor left, each turn waits for a timer.
      if (descriptor < 0) return void(loop->runAfter(kWithoutBell, turn));
      bell = std::make_unique<trantor::Channel>(loop, descriptor);
      bell->setReadCallback(turn);
    }
    if (!sleeps && !bell->isReading()) bell->enableReading();
  }
  // After each turn.
  void Go(trantor::EventLoop* loop) {
    if (!bell) return;
    const bool tired = ++turns % kTurnsOnEnd == 0;
    if (!waiting.empty() && !tired) return;
    bell->disableAll();
    if (waiting.empty()) return;
    sleeps = true;
    loop->runAfter(0.0, [this] {
      sleeps = false;
      if (!waiting.empty()) bell->enableReading();
    });
  }

 private:
  int descriptor = -1;
  std::size_t turns = 0;
  bool sleeps = false;
  std::unique_ptr<trantor::Channel> bell;  // made when first needed
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
  trantor::EventLoop* const loop = connection.getLoop();
  line.Ring(loop, [loop] { NextInLine(*loop); });
}

void Outlet::NextInLine(trantor::EventLoop& loop) {
  if (line.waiting.empty()) return;
  const std::shared_ptr<Outlet> next = line.waiting.front().lock();
  line.waiting.pop_front();
  if (next) {
    next->in_line_ = false;
    next->Kick();
  }
  line.Go(&loop);
}

void Outlet::Park(trantor::TcpConnection& connection) {
  if (!connection.connected()) return;
  parked_ = true;
  taken_ = 0;
  seen_sent_ = connection.bytesSent();
  progress_at_ = std::chrono::steady_clock::now();
  connection.sendStream([weak = weak_from_this()](char* to, std::size_t room) -> std::size_t {
    const auto self = weak.lock();
    return self && to != nullptr ? self->Take(to, room) : 0;
  });
}

// Returning 0 takes the outlet out of the connection's queue.
std::size_t Outlet::Take(char* to, std::size_t room) {
  constexpr std::size_t kFraming = 64;  // around what is asked of the source
  static thread_local std::string fresh;
  fresh.clear();
  const bool carrying = !carry_.empty();
  const bool going_on = !carrying && !closed_ && !at_end_;
  // The connection goes on taking for as long as its peer keeps up, which may be forever; more than
  // a little is for the line.
  if (going_on && (taken_ >= limits::kStreamBlock || !line.waiting.empty())) {
    parked_ = false;
    if (const auto connection = connection_.lock()) StandInLine(*connection);
    return 0;
  }
  if (going_on) {
    at_end_ = source_(fresh, room > 2 * kFraming ? room - kFraming : room) == Supply::kEnd;
  }
  const std::string& bytes = carrying ? carry_ : fresh;
  if (bytes.empty()) {
    parked_ = false;
    if (at_end_) PostEnded();
    return 0;
  }
  const std::size_t count = std::min(room, bytes.size());
  std::memcpy(to, bytes.data(), count);
  carry_ = bytes.substr(count);  // mostly nothing
  taken_ += count;
  return count;
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
