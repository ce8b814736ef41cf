#include "mailbox/location_reconciler.h"

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::mailbox {

void LocationReconciler::Begin(Caches caches) {
  caches_ = caches;
  ready_.count_down();
}

void LocationReconciler::NoteTarget(const client::ObjectKey& key, const ObjectPtr& now,
                                    client::WorkQueue& queue) {
  for (std::string& location : counts_.PutTarget(key.workspace, key.name, now)) {
    queue.AddAfter({key.workspace, std::move(location)}, limits::kFleetDelay);
  }
}

void LocationReconciler::NoteLocation(const client::ObjectKey& key, const ObjectPtr& now,
                                      client::WorkQueue& queue) {
  counts_.PutLocation(key.workspace, key.name, now);
  if (now != nullptr) queue.Add({key.workspace, key.name});
}

Result<client::Requeue> LocationReconciler::Reconcile(const client::WorkKey& key) {
  ready_.wait();
  // A count means something only once everything has been listed; then every key comes again.
  if (!caches_.sync_targets->synced() || !caches_.locations->synced()) return client::Requeue{};
  if (key == SyncedKey()) {
    for (const auto& [each, object] : caches_.locations->List()) {
      caches_.queue->Add({each.workspace, each.name});
    }
    return client::Requeue{};
  }
  const ObjectPtr object = caches_.locations->Get({key.lane, "", key.id});
  const auto instances = counts_.Of(key.lane, key.id);
  if (object == nullptr || !instances) return client::Requeue{};
  Json location = object->ToJson();
  const Instances shown{IntAt(location, {"status", "instances"}, -1),
                        IntAt(location, {"status", "availableInstances"}, -1)};
  if (shown == *instances) return client::Requeue{};
  Set(location, {"status", "instances"}, instances->all);
  Set(location, {"status", "availableInstances"}, instances->available);
  const client::ObjectRef ref{
      .gvr = {std::string(openapi::kEdgeApi), "locations"}, .ns = "", .name = key.id,
      .subresource = "status"};
  auto written = root_.InWorkspace(key.lane).Update(ref, location);
  if (!written.ok() && written.error().reason() != Reason::kNotFound) {
    return std::move(written).error();
  }
  return client::Requeue{};
}

}  // namespace mailroom::mailbox
