#include "apiserver/admission/quota_controller.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "apiserver/admission/quota.h"
#include "apiserver/admission/resource_list.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::admission {
namespace {

using Namespace = std::pair<Workspace, std::string>;

bool SpecDiffers(const Object& a, const Object& b) {
  const Json before = a.ToJson(), after = b.ToJson();
  const Json* x = Find(before, {"spec"});
  const Json* y = Find(after, {"spec"});
  return (x != nullptr ? *x : Json()) != (y != nullptr ? *y : Json());
}

class Counting final : public QuotaController {
 public:
  Counting(storage::CachedStore& store, FindCatalog find, const Clock& clock)
      : store_(store), find_(std::move(find)), clock_(clock) {}
  ~Counting() override {
    thread_.request_stop();
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    watcher_.reset();
  }

  Result<void> Begin() {
    TRY(Follow());
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    return Ok();
  }

  void Released(const Workspace& workspace, const std::string& ns) override {
    if (ns.empty() || store_.LastChange(workspace, kQuotas) == Revision()) return;
    std::lock_guard lock(mutex_);
    released_.insert({workspace, ns});
    wake_.notify_all();
  }

 private:
  Result<void> Follow() {
    storage::CacheWatchOptions options;
    options.scope.resource = kQuotas;
    auto watch = TRY(store_.Watch(options));
    for (const storage::Entry& entry : watch.initial) {
      pending_.insert({*entry.workspace, std::string(entry.object->meta().ns)});
    }
    watcher_ = std::move(watch.watcher);
    watcher_->OnReady([this] {
      std::lock_guard lock(mutex_);
      notified_ = true;
      wake_.notify_all();
    });
    return Ok();
  }

  void Run(const std::stop_token& stop) {
    auto resync = clock_.Monotonic() + limits::kQuotaResync;
    std::chrono::steady_clock::duration took{0};
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        auto ready = [this] { return notified_ || !released_.empty(); };
        if (pending_.empty()) wake_.wait_for(lock, stop, limits::kQuotaResync, ready);
        // Changes come in crowds; and counting may take a small part of the time only.
        wake_.wait_for(lock, stop, std::max<decltype(took)>(limits::kQuotaSettle, 10 * took),
                       [] { return false; });
        notified_ = false;
        pending_.merge(released_);
        released_.clear();
      }
      Drain();
      if (stop.stop_requested()) return;
      if (clock_.Monotonic() >= resync) {
        resync = clock_.Monotonic() + limits::kQuotaResync;
        AddAll();
      }
      const auto start = clock_.Monotonic();
      std::erase_if(pending_, [&](const Namespace& where) {
        return !stop.stop_requested() && Count(where.first, where.second);
      });
      took = clock_.Monotonic() - start;
    }
  }

  // Only new quotas and new specs: whoever writes a status is believed until the next count.
  void Drain() {
    std::vector<storage::Watcher::Item> items;
    Revision up_to;
    const auto state = watcher_->Drain(items, limits::kWatchQueueEvents, up_to);
    for (const auto& item : items) {
      const storage::Event& event = *item.event;
      if (event.now() == nullptr) continue;
      if (event.previous() != nullptr && !SpecDiffers(*event.previous(), *event.now())) continue;
      pending_.insert({event.workspace(), std::string(event.ns())});
    }
    if (state == storage::Watcher::State::kOpen) return;
    if (auto again = Follow(); !again.ok()) {
      Log(Level::kWarn, "quotas are not followed", {{"error", again.error().message()}});
    }
  }

  void AddAll() {
    auto list = store_.List({.scope = {Workspace(), kQuotas, ""}});
    if (!list.ok()) return;
    for (const storage::Entry& entry : list->entries) {
      pending_.insert({*entry.workspace, std::string(entry.object->meta().ns)});
    }
  }

  // False when somebody was faster and it must be done again.
  bool Count(const Workspace& workspace, const std::string& ns) {
    const openapi::CatalogPtr catalog = find_(workspace);
    if (catalog == nullptr) return true;
    auto list = store_.List({.scope = {workspace, kQuotas, ns}});
    if (!list.ok()) return false;
    bool done = true;
    for (const storage::Entry& entry : list->entries) {
      done = CountOne(workspace, *catalog, *entry.object) && done;
    }
    return done;
  }

  bool CountOne(const Workspace& workspace, const openapi::Catalog& catalog, const Object& object) {
    Json quota = object.ToJson();
    const std::int64_t now =
        std::chrono::duration_cast<std::chrono::seconds>(clock_.Now().time_since_epoch()).count();
    Json status = CountQuota(store_, workspace, catalog, quota, now);
    if (SameAmounts(ListAt(quota, {"status", "hard"}), ListAt(status, {"hard"})) &&
        SameAmounts(ListAt(quota, {"status", "used"}), ListAt(status, {"used"}))) {
      return true;
    }
    Set(quota, {"status"}, std::move(status));
    const ResourceKey key{workspace, kQuotas, std::string(object.meta().ns),
                          std::string(object.meta().name)};
    storage::Operation put;
    put.key = key.ToStoreKey();
    put.value = std::make_shared<const std::string>(Object::Encode(quota));
    storage::Txn txn;
    txn.compares.push_back({put.key, object.revision()});
    txn.operations.push_back(std::move(put));
    auto result = store_.Commit(std::move(txn));
    return result.ok() && result->committed;
  }

  storage::CachedStore& store_;
  const FindCatalog find_;
  const Clock& clock_;
  std::unique_ptr<storage::Watcher> watcher_;  // after Begin, this thread only
  std::set<Namespace> pending_;                // likewise
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool notified_ = false;          // guarded by mutex_
  std::set<Namespace> released_;   // guarded by mutex_
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<QuotaController>> QuotaController::Start(storage::CachedStore& store,
                                                                FindCatalog find,
                                                                const Clock& clock) {
  auto counting = std::make_unique<Counting>(store, std::move(find), clock);
  TRY(counting->Begin());
  return std::unique_ptr<QuotaController>(std::move(counting));
}

}  // namespace mailroom::admission
