#include "apiserver/hub_watch.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/rest.h"

namespace mailroom::apiserver {
namespace {

class Following final : public HubWatch {
 public:
  Following(storage::CachedStore& store, Options options)
      : store_(store), options_(std::move(options)) {}
  ~Following() override {
    thread_.request_stop();
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    watcher_.reset();  // it notifies what is declared after it
  }

  Result<void> Begin() {
    TRY(Follow());
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    return Ok();
  }

 private:
  Result<void> Follow() {
    watcher_.reset();
    storage::CacheWatchOptions options;
    options.scope = options_.scope;
    options.filter = options_.filter;
    storage::CacheWatch watch = TRY(store_.Watch(options));
    watcher_ = std::move(watch.watcher);
    watcher_->OnReady([this] { Notify(); });
    options_.restart();
    for (const storage::Entry& entry : watch.initial) {
      const Metadata& meta = entry.object->meta();
      options_.change({*entry.workspace, *entry.resource, std::string(meta.ns),
                       std::string(meta.name)},
                      nullptr, entry.object.get());
    }
    Notify();
    return Ok();
  }

  void Notify() {
    std::lock_guard lock(mutex_);
    notified_ = true;
    wake_.notify_all();
  }

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        WaitAtRest(wake_, lock, stop, [this] { return notified_; });
        notified_ = false;
      }
      if (stop.stop_requested() || Drain()) continue;
      if (auto again = Follow(); !again.ok()) {
        Log(Level::kDebug, "no longer following the hub",
            {{"controller", options_.name}, {"error", again.error().message()}});
        return;  // the cache has stopped
      }
    }
  }

  // False when the watch has ended.
  bool Drain() {
    for (;;) {
      std::vector<storage::Watcher::Item> items;
      Revision up_to;
      const auto state = watcher_->Drain(items, limits::kWatchQueueEvents, up_to);
      for (const auto& item : items) {
        options_.change(item.event->key(), item.event->previous().get(), item.event->now());
      }
      if (state != storage::Watcher::State::kOpen) return false;
      if (items.empty()) return true;
    }
  }

  storage::CachedStore& store_;
  Options options_;
  std::unique_ptr<storage::Watcher> watcher_;  // of the thread, after Begin
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool notified_ = false;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<HubWatch>> HubWatch::Start(storage::CachedStore& store, Options options) {
  auto watch = std::make_unique<Following>(store, std::move(options));
  TRY(watch->Begin());
  return std::unique_ptr<HubWatch>(std::move(watch));
}

}  // namespace mailroom::apiserver
