#include "apiserver/http/body_queue.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace mailroom::apiserver {

// What the stream's ready callback holds. Many calls before the loop gets to it are one task.
struct BodyQueue::Wake {
  std::atomic<bool> posted = false;
  bool alive = true;  // on the loop only
  std::function<void()> ready;
};

BodyQueue::BodyQueue(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop,
                     Response& response, std::function<void()> ready)
    : stream_(std::move(response.stream)),
      live_(stream_ != nullptr && !stream_->finite()),
      ended_(stream_ == nullptr) {
  for (SharedBytes& piece : response.body) {
    bytes_ += piece->size();
    if (!piece->empty()) pieces_.push_back(std::move(piece));
  }
  response.body.clear();
  if (!stream_) return;
  wake_ = std::make_shared<Wake>();
  wake_->ready = [this, ready = std::move(ready)] {
    idle_ = false;
    ready();
  };
  stream_->OnReady([state, loop, wake = wake_] {
    if (wake->posted.exchange(true)) return;
    state->Post(loop, [wake] {
      wake->posted = false;
      if (wake->alive) wake->ready();
    });
  });
}

BodyQueue::~BodyQueue() { Cancel(); }

bool BodyQueue::Refill(std::size_t max) {
  if (ended_ || idle_) return false;
  pulled_.clear();
  const Stream::State state = stream_->Pull(pulled_, max);
  idle_ = state == Stream::State::kIdle;
  for (SharedBytes& piece : pulled_) {
    bytes_ += piece->size();
    if (!piece->empty()) pieces_.push_back(std::move(piece));
  }
  pulled_.clear();
  if (state == Stream::State::kEnd) End();
  return true;
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
    const std::string& piece = *pieces_.front();
    const std::size_t part = std::min(count, piece.size() - front_at_);
    sink(piece.data() + front_at_, part);
    count -= part;
    front_at_ += part;
    if (front_at_ == piece.size()) {
      pieces_.pop_front();
      front_at_ = 0;
    }
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

void BodyQueue::Probe() { Refill(1); }

void BodyQueue::End() {
  ended_ = true;
  if (wake_) wake_->alive = false;
  if (stream_) stream_->Cancel();
  stream_.reset();
}

void BodyQueue::Cancel() {
  End();
  pieces_.clear();
  bytes_ = 0;
  front_at_ = 0;
}

}  // namespace mailroom::apiserver
