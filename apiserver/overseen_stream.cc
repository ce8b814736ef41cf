#include "apiserver/overseen_stream.h"

#include <optional>

#include "apiserver/render.h"

namespace mailroom::apiserver {
namespace {

// Shared by the stream and its timer task.
class Watchman : public std::enable_shared_from_this<Watchman> {
 public:
  Watchman(TimerQueue& timers, Oversight& oversight)
      : timers_(timers), checkers_(oversight.checkers), every_(oversight.every),
        check_(std::move(oversight.check)) {}

  void Schedule() {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    next_ = timers_.At(std::chrono::steady_clock::now() + every_, [weak = weak_from_this()] {
      const auto watchman = weak.lock();
      if (watchman) watchman->Due();
    });
  }
  void OnReady(std::function<void()> ready) {
    std::lock_guard lock(mutex_);
    ready_ = std::move(ready);
  }
  // Why the watch has to end; nothing while it may go on.
  std::optional<Status> revoked() const {
    std::lock_guard lock(mutex_);
    return revoked_;
  }
  // After this nobody is told of anything, and no task waits any more.
  void End() {
    std::lock_guard lock(mutex_);
    ready_ = nullptr;
    if (!std::exchange(ended_, true)) timers_.Cancel(next_);
  }

 private:
  void Due() {
    if (checkers_ == nullptr) return Look();
    const bool taken = checkers_->Submit([weak = weak_from_this()] {
      if (const auto watchman = weak.lock()) watchman->Look();
    });
    if (!taken) Schedule();
  }
  void Look() {
    Result<void> verdict = check_();
    if (verdict.ok()) return Schedule();
    std::lock_guard lock(mutex_);
    revoked_ = std::move(verdict).error();
    if (ready_) ready_();
  }

  TimerQueue& timers_;
  WorkerPool* const checkers_;
  const std::chrono::milliseconds every_;
  const std::function<Result<void>()> check_;
  mutable std::mutex mutex_;  // guards everything below
  std::function<void()> ready_;
  std::optional<Status> revoked_;
  bool ended_ = false;
  TimerQueue::Id next_ = {};
};

class OverseenStream final : public Stream {
 public:
  OverseenStream(std::unique_ptr<Stream> inner, Media media, TimerQueue& timers,
                 Oversight oversight)
      : inner_(std::move(inner)), media_(media), oversight_(std::move(oversight)) {
    if (!oversight_.check) return;
    watchman_ = std::make_shared<Watchman>(timers, oversight_);
    watchman_->Schedule();
  }
  ~OverseenStream() override { Finish(); }

  void OnReady(std::function<void()> ready) override {
    if (watchman_) watchman_->OnReady(ready);
    inner_->OnReady(std::move(ready));
  }

  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    if (const auto revoked = Revoked()) {
      if (revoked->reason() != Reason::kNotFound) {
        out.push_back(FrameEncoder::EncodeError(*revoked, media_));
      }
      return State::kEnd;
    }
    return inner_->Pull(out, max_bytes);
  }

  bool gives_objects() const override { return inner_->gives_objects(); }
  State PullObjects(std::vector<WatchedObject>& out, std::size_t max_bytes) override {
    if (Revoked()) return State::kEnd;
    return inner_->PullObjects(out, max_bytes);
  }

  void Cancel() override {
    if (watchman_) watchman_->End();
    inner_->Cancel();
    Finish();
  }
  bool broken() const override { return inner_->broken(); }
  std::size_t pending() const override { return inner_->pending(); }
  bool document() const override { return inner_->document(); }

 private:
  std::optional<Status> Revoked() const {
    return watchman_ == nullptr ? std::nullopt : watchman_->revoked();
  }
  void Finish() {
    if (watchman_) watchman_->End();
    oversight_.ticket.reset();
    if (auto ended = std::exchange(oversight_.ended, nullptr)) ended();
  }

  std::unique_ptr<Stream> inner_;
  const Media media_;
  Oversight oversight_;
  std::shared_ptr<Watchman> watchman_;
};

}  // namespace

Result<std::shared_ptr<void>> WatchQuota::Take(const User& user) {
  if (user.InGroup(kMasters)) return std::shared_ptr<void>();
  const std::string key = user.home + "/" + user.name;
  {
    std::lock_guard lock(counts_->mutex);
    std::size_t& open = counts_->open[key];
    if (open >= each_) return TooManyRequests("too many watches of this user", 1);
    ++open;
  }
  return std::shared_ptr<void>(nullptr, [counts = counts_, key](void*) {
    std::lock_guard lock(counts->mutex);
    auto it = counts->open.find(key);
    if (--it->second == 0) counts->open.erase(it);
  });
}

void Oversee(Response& response, TimerQueue& timers, Oversight oversight) {
  const bool protobuf =
      response.headers.Get("content-type").find("protobuf") != std::string_view::npos;
  response.stream = std::make_unique<OverseenStream>(std::move(response.stream),
                                                     protobuf ? Media::kProtobuf : Media::kJson,
                                                     timers, std::move(oversight));
}

}  // namespace mailroom::apiserver
