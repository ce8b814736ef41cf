#include "apiserver/collector.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "apiserver/client/controller.h"
#include "apiserver/finalize.h"
#include "apiserver/hub_watch.h"
#include "apiserver/namespace_cleanup.h"
#include "apiserver/self_write.h"
#include "openapi/crd.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kCrdCleanup = "customresourcecleanup.apiextensions.k8s.io";

class Running final : public Collector, private client::Reconciler {
 public:
  explicit Running(const Hub& hub) : hub_(hub), self_(hub, "collector"), cleanup_(hub, self_) {}
  ~Running() override {
    if (controller_ != nullptr) controller_->Stop();
    watch_.reset();
  }

  Result<void> Begin() {
    controller_ = client::Controller::Start("collector", *this, limits::kGarbageWorkers);
    HubWatch::Options options;
    options.name = "collector";
    options.filter = [](const Object& object) {
      return !object.meta().deletion_timestamp.empty();
    };
    options.change = [this](const ResourceKey& key, const Object*, const Object* now) {
      Note(key, now != nullptr);
    };
    watch_ = TRY(HubWatch::Start(hub_.store, std::move(options)));
    return Ok();
  }

 private:
  // A marked object changed or went.
  void Note(const ResourceKey& key, bool there) {
    if (key.resource == kNamespacesResource || key.resource == kCrdResource) {
      {
        std::lock_guard lock(mutex_);
        if (there) {
          pending_.insert(key);
        } else {
          pending_.erase(key);
        }
      }
      return Enqueue(key);
    }
    if (there) return;
    // What was held may have been the last thing in its way.
    const std::string crd = key.resource.resource + "." + key.resource.group;
    for (const ResourceKey& holder : {ResourceKey{key.workspace, kNamespacesResource, "", key.ns},
                                      ResourceKey{key.workspace, kCrdResource, "", crd}}) {
      std::lock_guard lock(mutex_);
      if (pending_.contains(holder)) Enqueue(holder);
    }
  }

  void Enqueue(const ResourceKey& key) {
    controller_->queue().Add({key.workspace.name(), key.ToStoreKey()});
  }

  Result<client::Requeue> Reconcile(const client::WorkKey& work) override {
    auto key = ResourceKey::Parse(work.id);
    if (!key.ok()) return client::Requeue{};
    const ObjectPtr object = hub_.store.Get(*key);
    if (object == nullptr || object->meta().deletion_timestamp.empty()) return client::Requeue{};
    auto workspace = hub_.workspaces.Find(key->workspace);
    if (!workspace.ok()) return client::Requeue{};
    const bool is_namespace = key->resource == kNamespacesResource;
    const bool done = is_namespace ? TRY(cleanup_.Take(*workspace, key->name))
                                   : TRY(FinishCrd(*key, *workspace, *object));
    // Whatever holds it is announced when it goes; this is for what cannot be watched.
    return client::Requeue{done ? std::chrono::milliseconds(0) : limits::kLeftoverCheck};
  }

  // Objects that the workspace has without any definition: one of their name, from before such
  // definitions were refused, does not take them along.
  static bool AreItsOwn(const WorkspaceView& workspace, const GroupResource& resource) {
    if (!openapi::IsOwnResource(resource)) return false;
    const auto own = openapi::BaseCatalog(workspace.type)->Preferred();
    return std::any_of(own.begin(), own.end(),
                       [&](const auto& type) { return type->stored_as == resource; });
  }

  Result<bool> FinishCrd(const ResourceKey& key, const WorkspaceView& workspace,
                         const Object& object) {
    // Objects of versions that are no longer served go, too.
    Json crd = object.ToJson();
    if (Json* versions = Find(crd, {"spec", "versions"})) {
      for (Json& version : *versions) version["served"] = true;
    }
    auto types = openapi::TypesOfCrd(crd);
    if (types.ok() && !types->empty() && !AreItsOwn(workspace, types->front()->stored_as) &&
        !TRY(cleanup_.Empty(workspace, types->front(), ""))) {
      return false;
    }
    TRY(UnlessGone(self_.Change(
        workspace,
        workspace.catalog->FindShared("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
        "", key.name, "", [](Json& edited) { RemoveFinalizer(edited, kCrdCleanup); })));
    return true;
  }

  const Hub& hub_;
  const SelfWriter self_;
  const NamespaceCleanup cleanup_;
  std::mutex mutex_;
  std::set<ResourceKey> pending_;  // guarded by mutex_
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> watch_;
};

}  // namespace

Result<std::unique_ptr<Collector>> Collector::Start(const Hub& hub) {
  auto running = std::make_unique<Running>(hub);
  TRY(running->Begin());
  return std::unique_ptr<Collector>(std::move(running));
}

}  // namespace mailroom::apiserver
