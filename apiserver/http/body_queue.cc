#include "apiserver/http/body_queue.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kKeptPieces = 64;

}  // namespace

// What the stream's ready callback holds. Many calls before the loop gets to it are one task.
struct BodyQueue::Wake {
  std::atomic<bool> posted = false;
  bool alive = true;  // this and the rest on the loop only
  std::function<void()> ready;
  Time last = {};  // when it was called

  void Call(Time now) {
    posted = false;
    last = now;
    if (alive) ready();
  }
};

// Those of one loop whose events follow others closely: what comes within a few milliseconds goes
// out in one write, which costs about as much as one for each event would. One timer serves all.
class BodyQueue::Gathered {
 public:
  static void Add(trantor::EventLoop* loop, std::shared_ptr<Wake> wake) {
    static thread_local Gathered here;
    here.waiting_.push_back(std::move(wake));
    if (here.waiting_.size() > 1) return;
    loop->runAfter(limits::kEventGather, [] {
      const Time now = std::chrono::steady_clock::now();
      std::vector<std::shared_ptr<Wake>> due;
      due.swap(here.waiting_);
      for (const auto& each : due) each->Call(now);
    });
  }

 private:
  std::vector<std::shared_ptr<Wake>> waiting_;
};

BodyQueue::BodyQueue(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop,
                     Response& response, std::function<void()> ready)
    : stream_(std::move(response.stream)),
      live_(stream_ != nullptr && !stream_->finite()),
      pending_bound_(state->options.stream_pending),
      ended_(stream_ == nullptr) {
  pieces_.swap(response.body);
  for (const SharedBytes& piece : pieces_) bytes_ += piece->size();
  if (!stream_) return;
  wake_ = std::make_shared<Wake>();
  wake_->ready = [this, ready = std::move(ready)] {
    idle_ = false;
    ready();
  };
  stream_->OnReady([state, loop, wake = wake_, live = live_] {
    if (wake->posted.exchange(true)) return;
    state->Post(loop, [loop, wake, live] {
      const Time now = live ? std::chrono::steady_clock::now() : Time();
      if (live && wake->alive && now - wake->last < limits::kEventGather) {
        Gathered::Add(loop, wake);
      } else {
        wake->Call(now);
      }
    });
  });
}

BodyQueue::~BodyQueue() { Cancel(); }

bool BodyQueue::Refill(std::size_t max) {
  if (ended_ || idle_) return false;
  const std::size_t before = pieces_.size();
  const Stream::State state = stream_->Pull(pieces_, max);
  idle_ = state == Stream::State::kIdle;
  for (std::size_t i = before; i < pieces_.size(); ++i) bytes_ += pieces_[i]->size();
  if (behind_since_ && !Behind()) behind_since_.reset();
  aborted_ = state == Stream::State::kAborted;
  if (aborted_ || state == Stream::State::kEnd) Close();
  return true;
}

bool BodyQueue::Behind() const {
  if (stream_ == nullptr) return overflowed_;
  return stream_->broken() || stream_->pending() > pending_bound_;
}

// Asked with every event, mostly of readers that keep up: only the others cost a look at the clock.
std::optional<BodyQueue::Time> BodyQueue::BehindSince() {
  if (!Behind()) {
    behind_since_.reset();
  } else if (!behind_since_) {
    behind_since_ = std::chrono::steady_clock::now();
  }
  return behind_since_;
}

std::size_t BodyQueue::Prepare(std::size_t max) {
  // A source that keeps saying kMore without bytes must not hold the loop.
  constexpr int kPulls = 64;
  for (int i = 0; i < kPulls && bytes_ < max && Refill(max - bytes_); ++i) {
  }
  return std::min(bytes_, max);
}

template <typename Sink>
void BodyQueue::TakeTo(std::size_t count, Sink sink) {
  bytes_ -= count;
  while (count > 0) {
    SharedBytes& piece = pieces_[front_];
    const std::size_t part = std::min(count, piece->size() - front_at_);
    sink(piece->data() + front_at_, part);
    count -= part;
    front_at_ += part;
    if (front_at_ < piece->size()) continue;
    piece.reset();
    ++front_;
    front_at_ = 0;
  }
  if (bytes_ == 0) {
    // A quiet stream keeps no room.
    if (pieces_.capacity() > kKeptPieces) std::vector<SharedBytes>().swap(pieces_);
    pieces_.clear();
    front_ = 0;
  } else if (front_ > kKeptPieces && front_ > pieces_.size() / 2) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(front_));
    front_ = 0;
  }
}

void BodyQueue::Take(std::string& out, std::size_t count) {
  TakeTo(count, [&](const char* data, std::size_t size) { out.append(data, size); });
}

void BodyQueue::Take(char* out, std::size_t count) {
  TakeTo(count, [&](const char* data, std::size_t size) {
    std::memcpy(out, data, size);
    out += size;
  });
}

void BodyQueue::End() {
  if (stream_ != nullptr && stream_->document()) aborted_ = true;
  Close();
}

void BodyQueue::Close() {
  ended_ = true;
  if (wake_) wake_->alive = false;
  if (!stream_) return;
  overflowed_ = stream_->broken();
  stream_->Cancel();
  stream_.reset();
}

void BodyQueue::Cancel() {
  Close();
  pieces_.clear();
  bytes_ = 0;
  front_ = 0;
  front_at_ = 0;
}

}  // namespace mailroom::apiserver
