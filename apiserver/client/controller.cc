#include "apiserver/client/controller.h"

#include <thread>
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
      if (result->after.count() > 0) queue_->AddAfter(key, result->after);
      return;
    }
    // A conflict only says that the cache was behind; the retry settles it.
    const Level level = result.error().reason() == Reason::kConflict ? Level::kDebug : Level::kWarn;
    Log(level, "reconcile failed",
        {{"controller", name_},
         {"lane", key.lane},
         {"key", key.id},
         {"error", result.error().message()}});
    queue_->AddRateLimited(key);
  }

  const std::string name_;
  Reconciler& reconciler_;
  std::unique_ptr<WorkQueue> queue_;
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<Controller> Controller::Start(std::string name, Reconciler& reconciler,
                                              std::size_t workers) {
  return std::make_unique<WorkerLoop>(std::move(name), reconciler, workers);
}

}  // namespace mailroom::client
