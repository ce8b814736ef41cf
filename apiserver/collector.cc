#include "apiserver/collector.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "apiserver/auth/user.h"
#include "apiserver/commit.h"
#include "openapi/crd.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

using openapi::ResourceTypePtr;

const User kSelf{"system:mailroom:collector", {std::string(kMasters)}};
constexpr std::string_view kCrdCleanup = "customresourcecleanup.apiextensions.k8s.io";

class Running final : public Collector {
 public:
  explicit Running(const Hub& hub) : hub_(hub) {}
  ~Running() override {
    thread_.request_stop();
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    watchers_.clear();
  }

  Result<void> Begin() {
    for (const GroupResource& resource : {kNamespacesResource, kCrdResource}) {
      storage::CacheWatchOptions options;
      options.scope.resource = resource;
      options.filter = [](const Object& object) { return !object.meta().deletion_timestamp.empty(); };
      auto watch = TRY(hub_.store.Watch(options));
      for (const storage::Entry& entry : watch.initial) {
        pending_.insert({*entry.workspace, resource, "", std::string(entry.object->meta().name)});
      }
      watch.watcher->OnReady([this] { Notify(); });
      watchers_.push_back(std::move(watch.watcher));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    return Ok();
  }

 private:
  void Notify() {
    std::lock_guard lock(mutex_);
    notified_ = true;
    wake_.notify_all();
  }

  void Drain() {
    for (auto& watcher : watchers_) {
      std::vector<storage::Watcher::Item> items;
      Revision up_to;
      (void)watcher->Drain(items, limits::kWatchQueueEvents, up_to);
      for (const auto& item : items) pending_.insert(item.event->key());
    }
  }

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        // Contents held by finalizers are looked at again after a while; everything else is
        // announced by the watchers.
        auto ready = [this] { return notified_; };
        if (pending_.empty()) {
          wake_.wait(lock, stop, ready);
        } else {
          wake_.wait_for(lock, stop, limits::kCollectorRetry, ready);
        }
        notified_ = false;
      }
      Drain();
      std::erase_if(pending_, [&](const ResourceKey& key) {
        return stop.stop_requested() || Finish(key);
      });
    }
  }

  // True when nothing is left to do for the key.
  bool Finish(const ResourceKey& key) {
    const ObjectPtr object = hub_.store.Get(key);
    if (object == nullptr || object->meta().deletion_timestamp.empty()) return true;
    auto workspace = hub_.workspaces.Find(key.workspace);
    if (!workspace.ok()) return true;
    const bool is_namespace = key.resource == kNamespacesResource;
    auto done = is_namespace ? FinishNamespace(key, *workspace) : FinishCrd(key, *workspace, *object);
    if (!done.ok()) {
      Log(Level::kWarn, "deletion not finished",
          {{"workspace", key.workspace.name()}, {"resource", key.resource.resource},
           {"name", key.name}, {"error", done.error().message()}});
      return false;
    }
    return *done;
  }

  // Deletes what the scope holds; true when nothing is left.
  Result<bool> Empty(const WorkspaceView& workspace, const ResourceTypePtr& type,
                     const std::string& ns) {
    Request request;
    RequestInfo info;
    info.workspace = workspace.name;
    Call call{hub_, request, info, kSelf, workspace, type, {}};
    DeleteRequest options;
    options.propagation = "Background";
    storage::CacheListOptions list;
    list.scope = {workspace.name, type->stored_as, ns};
    for (const storage::Entry& entry : TRY(hub_.store.List(list)).entries) {
      call.info.ns = std::string(entry.object->meta().ns);
      auto removed = Remove(call, std::string(entry.object->meta().name), options);
      if (!removed.ok() && removed.error().reason() != Reason::kNotFound) {
        return std::move(removed).error();
      }
    }
    return TRY(hub_.store.List(list)).entries.empty();
  }

  Result<bool> FinishNamespace(const ResourceKey& key, const WorkspaceView& workspace) {
    bool empty = true;
    for (const ResourceTypePtr& type : workspace.catalog->Preferred()) {
      if (!type->namespaced || !type->stored) continue;
      empty = TRY(Empty(workspace, type, key.name)) && empty;
    }
    if (!empty) return false;
    TRY(Edit(workspace, workspace.catalog->FindShared("", "v1", "namespaces"), key.name, "finalize",
             [](Json& object) { Set(object, {"spec", "finalizers"}, Json::array()); }));
    return true;
  }

  Result<bool> FinishCrd(const ResourceKey& key, const WorkspaceView& workspace,
                         const Object& object) {
    const Json crd = object.ToJson();
    auto types = openapi::TypesOfCrd(crd);
    if (types.ok() && !types->empty() && !TRY(Empty(workspace, types->front(), ""))) return false;
    const auto type =
        workspace.catalog->FindShared("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    TRY(Edit(workspace, type, key.name, "", [](Json& edited) {
      Json* finalizers = Find(edited, {"metadata", "finalizers"});
      if (finalizers == nullptr || !finalizers->is_array()) return;
      auto it = std::find(finalizers->begin(), finalizers->end(), Json(kCrdCleanup));
      if (it != finalizers->end()) finalizers->erase(it);
    }));
    return true;
  }

  Result<void> Edit(const WorkspaceView& workspace, const ResourceTypePtr& type,
                    const std::string& name, const std::string& subresource,
                    const std::function<void(Json&)>& edit) {
    Request request;
    request.headers.Add("user-agent", "mailroom/collector");
    RequestInfo info;
    info.workspace = workspace.name;
    info.name = name;
    info.subresource = subresource;
    Call call{hub_, request, info, kSelf, workspace, type, {}};
    auto outcome = Change(call, {}, [&](const Json& live) -> Result<Draft> {
      Json object = live;
      edit(object);
      return Draft{std::move(object), {}, false};
    });
    if (!outcome.ok() && outcome.error().reason() != Reason::kNotFound) {
      return std::move(outcome).error();
    }
    return Ok();
  }

  const Hub& hub_;
  std::vector<std::unique_ptr<storage::Watcher>> watchers_;
  std::set<ResourceKey> pending_;  // collector thread only, after Begin
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool notified_ = false;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<Collector>> Collector::Start(const Hub& hub) {
  auto running = std::make_unique<Running>(hub);
  TRY(running->Begin());
  return std::unique_ptr<Collector>(std::move(running));
}

}  // namespace mailroom::apiserver
