#include "apiserver/garbage_collector.h"

#include "apiserver/client/controller.h"
#include "apiserver/garbage_step.h"
#include "apiserver/hub_watch.h"
#include "apiserver/owner_index.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

bool IsCrd(const Object& object) { return object.kind() == "CustomResourceDefinition"; }

// Held by a finalizer while it is being deleted; whether by one of ours is seen later.
bool IsHeld(const Object& object) {
  return !object.meta().deletion_timestamp.empty() && object.meta().has_finalizers;
}

class Running final : public GarbageCollector, private client::Reconciler {
 public:
  explicit Running(const Hub& hub) : hub_(hub), step_(hub, index_) {}
  ~Running() override {
    if (controller_ != nullptr) controller_->Stop();
    watch_.reset();
  }

  Result<void> Begin() {
    controller_ = client::Controller::Start("garbage", *this, limits::kGarbageWorkers);
    HubWatch::Options options;
    options.name = "garbage";
    // An owner that nobody names yet when it goes is found missing when the object that names it
    // is looked at.
    options.filter = [this](const Object& object) {
      return object.meta().has_owners || IsHeld(object) || IsCrd(object) ||
             index_.Names(object.meta().uid);
    };
    options.restart = [this] { index_.Clear(); };
    options.change = [this](const ResourceKey& key, const Object* before, const Object* now) {
      Note(key, before, now);
    };
    watch_ = TRY(HubWatch::Start(hub_.store, std::move(options)));
    return Ok();
  }

 private:
  void Enqueue(const ResourceKey& key) {
    controller_->queue().Add({key.workspace.name(), key.ToStoreKey()});
  }

  void Note(const ResourceKey& key, const Object* before, const Object* now) {
    const auto owners_before = before ? OwnersOf(*before) : std::vector<OwnerReference>();
    const auto owners = now ? OwnersOf(*now) : std::vector<OwnerReference>();
    index_.Put(key, owners_before, owners);
    if (now == nullptr) {
      step_.Forget(key, before->meta().uid);
      for (const ResourceKey& dependent : index_.DependentsOf(key.workspace, before->meta().uid)) {
        Enqueue(dependent);
      }
    } else if (IsHeld(*now) || owners != owners_before) {
      Enqueue(key);
    }
    // An owner may have been waiting for this one to go or to let go.
    for (const auto* list : {&owners_before, &owners}) {
      for (const OwnerReference& owner : *list) {
        if (auto waiting = step_.Waiting(key.workspace, owner.uid)) Enqueue(*waiting);
      }
    }
    if (now != nullptr && IsCrd(*now)) {
      for (const ResourceKey& parked : step_.Unpark(key.workspace)) Enqueue(parked);
    }
  }

  Result<client::Requeue> Reconcile(const client::WorkKey& work) override {
    auto key = ResourceKey::Parse(work.id);
    if (!key.ok()) return client::Requeue{};
    std::vector<ResourceKey> next;
    auto done = step_.Take(*key, next);
    for (const ResourceKey& each : next) Enqueue(each);
    if (!done.ok()) return std::move(done).error();
    return client::Requeue{};
  }

  const Hub& hub_;
  OwnerIndex index_;
  GarbageStep step_;
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> watch_;
};

}  // namespace

Result<std::unique_ptr<GarbageCollector>> GarbageCollector::Start(const Hub& hub) {
  auto running = std::make_unique<Running>(hub);
  TRY(running->Begin());
  return std::unique_ptr<GarbageCollector>(std::move(running));
}

}  // namespace mailroom::apiserver
