// What all connections of a Front share. Outlives the loops as long as somebody still holds an
// unanswered request; posting to a loop goes through here, because after Stop there is none.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/http/front.h"
#include "apiserver/http/tls.h"
#include "apiserver/worker_pool.h"
#include "storage/object/limits.h"

namespace trantor {
class EventLoop;
}  // namespace trantor

namespace mailroom::apiserver {

class FrontState {
 public:
  FrontState(FrontOptions options_in, Handler handler_in)
      : options(std::move(options_in)), handler(std::move(handler_in)) {}

  const FrontOptions options;
  const Handler handler;
  TlsGate tls;
  WorkerPool compressors{1, limits::kGzipQueue};
  std::atomic<bool> draining = false;

  // One of what FrontCounts counts, for as long as it lives.
  class Counted {
   public:
    Counted(std::shared_ptr<FrontState> state, std::atomic<std::size_t>& counter);
    ~Counted();
    Counted(Counted&& other) noexcept = default;
    Counted& operator=(Counted&&) = delete;
    const std::shared_ptr<FrontState>& state() const { return state_; }
    // Holds the bytes of a request as well, its headers included. Called at most once.
    void Hold(std::size_t bytes);

   private:
    std::shared_ptr<FrontState> state_;  // null once moved from
    std::atomic<std::size_t>& counter_;
    std::size_t bytes_ = 0;
  };

  // Bytes of requests that somebody holds, of those that all hold together.
  class Holding {
   public:
    explicit Holding(std::shared_ptr<FrontState> state) : state_(std::move(state)) {}
    ~Holding() { Set(0); }
    Holding(Holding&& other) noexcept
        : state_(std::move(other.state_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Holding& operator=(Holding&&) = delete;
    void Set(std::size_t bytes) {
      if (bytes == bytes_) return;  // mostly 0
      state_->request_bytes += bytes - bytes_;  // modulo 2^64
      bytes_ = bytes;
    }
    std::size_t bytes() const { return bytes_; }
    // All together hold more than they may.
    bool TooMuch() const { return state_->request_bytes > state_->options.request_bytes; }

   private:
    std::shared_ptr<FrontState> state_;
    std::size_t bytes_ = 0;
  };
  std::atomic<std::size_t> request_bytes = 0;
  std::atomic<std::size_t> connections = 0;
  std::atomic<std::size_t> handshakes = 0;  // accepted, not yet connections
  std::atomic<std::size_t> exchanges = 0;
  std::atomic<std::size_t> streams = 0;
  // Ever; see FrontCounts.
  std::atomic<std::size_t> accepted = 0;
  std::atomic<std::size_t> refused = 0;
  std::atomic<std::size_t> cut = 0;
  std::atomic<std::size_t> http1_requests = 0;
  std::atomic<std::size_t> http2_requests = 0;

  // Waits until the counter is 0; false when that did not happen before the deadline.
  bool AwaitNone(std::atomic<std::size_t>& counter, std::chrono::steady_clock::time_point deadline);

  // Runs `task` on the loop; drops it after Stopped. Tasks posted before the loop gets to them
  // wake it once.
  void Post(trantor::EventLoop* loop, std::function<void()> task);
  // The loops are about to end. Returns when no Post is under way.
  void Stopped();
  // They have ended. Drops the tasks they did not get to.
  void LoopsEnded();

 private:
  // What other threads have for one loop. The lock is what makes their writes visible there.
  struct Inbox {
    std::mutex mutex;  // guards tasks
    std::vector<std::function<void()>> tasks;
    void Run();
  };
  Inbox& InboxOf(trantor::EventLoop* loop);

  std::mutex counts_;  // taken when a counter reaches 0, to wake AwaitNone
  std::condition_variable none_left_;
  std::shared_mutex loops_;  // guards what follows
  bool stopped_ = false;
  std::unordered_map<trantor::EventLoop*, Inbox> inboxes_;
};

}  // namespace mailroom::apiserver
