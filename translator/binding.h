// The reconciler keyed by BindingPolicy: writes back what the policy came to, first as the Binding
// of the same name, then as the policy's own status (conditions, observedGeneration, errors).
#pragma once

#include "apiserver/client/client.h"
#include "apiserver/client/controller.h"
#include "apiserver/client/informer.h"
#include "translator/parked.h"
#include "translator/plan.h"

namespace mailroom::translator {

// spec of the Binding, sorted.
Json RenderBindingSpec(const PlacementView& view);
// status.errors: the view's own, then one text per object lost to another workspace. Bounded.
std::vector<std::string> RenderErrors(const PlacementView& view);
// Brings the status of a policy or Binding to what the view says. `now` is used for conditions
// that turn. Returns whether anything changed.
bool BringStatus(const PlacementView& view, const std::vector<std::string>& errors,
                 const std::string& now, Json& object);

client::WorkKey ToWorkKey(const PlacementKey& key);

class BindingReconciler : public client::Reconciler {
 public:
  struct Caches {
    const client::Informer* policies;  // over all workspaces
    const client::Informer* bindings;  // over all workspaces
  };
  BindingReconciler(client::Client hub, const Plan& plan) : hub_(std::move(hub)), plan_(plan) {}
  // To be set before the first Reconcile.
  void Begin(Caches caches) { caches_ = caches; }

  // Keys that wait for a complete plan.
  Parked& parked() { return parked_; }

  // The lane is the workspace, the id the policy's name.
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override;

 private:
  Result<void> RemoveOrphan(const client::WorkKey& key, const ObjectPtr& binding) const;

  const client::Client hub_;
  const Plan& plan_;
  Caches caches_{};
  Parked parked_;
};

}  // namespace mailroom::translator
