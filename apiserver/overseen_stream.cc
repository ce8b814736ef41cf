#include "apiserver/overseen_stream.h"

#include <optional>

#include "apiserver/render.h"

namespace mailroom::apiserver {
namespace {

// Shared by the stream and its timer task.
struct Watchman {
  std::function<Result<void>()> check;
  std::mutex mutex;
  std::function<void()> ready;       // guarded by mutex
  std::optional<Status> revoked;     // guarded by mutex

  // False when the watch has to end.
  bool Look() {
    Result<void> verdict = check();
    if (verdict.ok()) return true;
    std::lock_guard lock(mutex);
    revoked = std::move(verdict).error();
    if (ready) ready();
    return false;
  }
};

struct Round {
  TimerQueue& timers;
  WorkerPool* checkers;
  std::chrono::milliseconds every;
};

void Schedule(const Round& round, const std::weak_ptr<Watchman>& weak) {
  round.timers.At(std::chrono::steady_clock::now() + round.every, [round, weak] {
    if (weak.expired()) return;
    auto look = [round, weak] {
      auto watchman = weak.lock();
      if (watchman && watchman->Look()) Schedule(round, weak);
    };
    if (round.checkers == nullptr) return look();
    if (!round.checkers->Submit(look)) Schedule(round, weak);
  });
}

class OverseenStream final : public Stream {
 public:
  OverseenStream(std::unique_ptr<Stream> inner, Media media, TimerQueue& timers,
                 Oversight oversight)
      : inner_(std::move(inner)), media_(media), oversight_(std::move(oversight)) {
    if (!oversight_.check) return;
    watchman_ = std::make_shared<Watchman>();
    watchman_->check = oversight_.check;
    Schedule({timers, oversight_.checkers, oversight_.every}, watchman_);
  }
  ~OverseenStream() override { Finish(); }

  void OnReady(std::function<void()> ready) override {
    if (watchman_) {
      std::lock_guard lock(watchman_->mutex);
      watchman_->ready = ready;
    }
    inner_->OnReady(std::move(ready));
  }

  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    if (watchman_) {
      std::lock_guard lock(watchman_->mutex);
      if (watchman_->revoked) {
        if (watchman_->revoked->reason() != Reason::kNotFound) {
          out.push_back(FrameEncoder::EncodeError(*watchman_->revoked, media_));
        }
        return State::kEnd;
      }
    }
    return inner_->Pull(out, max_bytes);
  }

  bool gives_objects() const override { return inner_->gives_objects(); }
  State PullObjects(std::vector<WatchedObject>& out, std::size_t max_bytes) override {
    if (watchman_) {
      std::lock_guard lock(watchman_->mutex);
      if (watchman_->revoked) return State::kEnd;
    }
    return inner_->PullObjects(out, max_bytes);
  }

  void Cancel() override {
    if (watchman_) {
      std::lock_guard lock(watchman_->mutex);
      watchman_->ready = nullptr;
    }
    inner_->Cancel();
    Finish();
  }
  bool broken() const override { return inner_->broken(); }
  bool document() const override { return inner_->document(); }

 private:
  void Finish() {
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
