#include "apiserver/client/controller.h"

#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "storage/object/log.h"

namespace mailroom::client {
namespace {

class WorkerLoop : public Controller {
 public:
  WorkerLoop(std::string name, Reconciler& reconciler, std::size_t workers)
      : name_(std::move(name)), reconciler_(reconciler), queue_(WorkQueue::Make()) {
    for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~WorkerLoop() override { Stop(); }

  WorkQueue& queue() override { return *queue_; }

  void Stop() override {
    queue_->Stop();
    threads_.clear();
  }

 private:
  void Work() {
    while (std::optional<WorkKey> key = queue_->Take()) {
      HandleOne(*key);
      queue_->Done(*key);
    }
  }

  void HandleOne(const WorkKey& key) {
    Result<Requeue> result = reconciler_.Reconcile(key);
    if (result.ok()) {
      queue_->Forget(key);
      Told(key, "");
      if (result->after.count() > 0) queue_->AddAfter(key, result->after);
      return;
    }
    // A conflict only says that the cache was behind; the retry settles it.
    const bool quiet =
        Told(key, result.error().message()) || result.error().reason() == Reason::kConflict;
    Log(quiet ? Level::kDebug : Level::kWarn, "reconcile failed",
        {{"controller", name_},
         {"lane", key.lane},
         {"key", key.id},
         {"error", result.error().message()}});
    queue_->AddRateLimited(key);
  }

  // Notes the key's present trouble, "" for none; true when it is the same as last time.
  bool Told(const WorkKey& key, const std::string& trouble) {
    std::lock_guard lock(mutex_);
    if (trouble.empty()) {
      troubles_.erase(key);
      return false;
    }
    const std::size_t hash = std::hash<std::string>()(trouble);
    const auto [known, fresh] = troubles_.try_emplace(key, hash);
    return !fresh && std::exchange(known->second, hash) == hash;
  }

  const std::string name_;
  Reconciler& reconciler_;
  std::unique_ptr<WorkQueue> queue_;
  std::mutex mutex_;
  std::map<WorkKey, std::size_t> troubles_;  // guarded by mutex_: hash of the last error logged
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<Controller> Controller::Start(std::string name, Reconciler& reconciler,
                                              std::size_t workers) {
  return std::make_unique<WorkerLoop>(std::move(name), reconciler, workers);
}

}  // namespace mailroom::client
