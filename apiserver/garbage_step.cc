#include "apiserver/garbage_step.h"

#include <algorithm>

#include "apiserver/finalize.h"
#include "apiserver/implied.h"
#include "apiserver/kinds.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

GroupVersionKind KindOf(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version), std::string(kind)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1)),
          std::string(kind)};
}

openapi::ResourceTypePtr TypeOf(const WorkspaceView& workspace, const Object& object) {
  const auto* type = workspace.catalog->FindKind(KindOf(object.api_version(), object.kind()));
  if (type == nullptr) return nullptr;
  return workspace.catalog->FindShared(type->gvk.group, type->gvk.version, type->plural);
}

// Two UIDs with one hash would cost an Event that tells of an owner in the wrong namespace.
std::uint64_t HashOf(std::string_view uid) { return std::hash<std::string_view>()(uid); }

bool IsDeletingDependents(const Object& object) {
  return !object.meta().deletion_timestamp.empty() && object.meta().has_finalizers &&
         HasFinalizer(object.ToJson(), kForegroundFinalizer);
}

}  // namespace

GarbageStep::GarbageStep(const Hub& hub, const OwnerIndex& index)
    : hub_(hub), index_(index), self_(hub, "garbage-collector"),
      gone_(limits::kRememberedEvents) {}

void GarbageStep::Forget(const ResourceKey& key, std::string_view uid) {
  std::lock_guard lock(mutex_);
  waiting_.erase({key.workspace, std::string(uid)});
  const std::uint64_t hash = HashOf(uid);
  gone_[hash % gone_.size()] = hash;
  auto parked = parked_.find(key.workspace);
  if (parked == parked_.end()) return;
  parked->second.erase(key);
  if (parked->second.empty()) parked_.erase(parked);
}

std::optional<ResourceKey> GarbageStep::Waiting(const Workspace& workspace,
                                                const std::string& uid) const {
  std::lock_guard lock(mutex_);
  auto found = waiting_.find({workspace, uid});
  if (found == waiting_.end()) return std::nullopt;
  return found->second;
}

std::vector<ResourceKey> GarbageStep::Unpark(const Workspace& workspace) {
  std::lock_guard lock(mutex_);
  auto node = parked_.extract(workspace);
  if (node.empty()) return {};
  return {node.mapped().begin(), node.mapped().end()};
}

Result<void> GarbageStep::Take(const ResourceKey& key, std::vector<ResourceKey>& next) {
  const ObjectPtr object = hub_.store.Get(key);
  if (object == nullptr) return Ok();
  auto workspace = hub_.workspaces.Find(key.workspace);
  if (!workspace.ok() || !CollectsGarbage(workspace->type)) return Ok();
  const Target target{*workspace, TypeOf(*workspace, *object), key, object};
  if (target.type == nullptr) return Ok();  // its definition is gone; so will it be
  if (object->meta().deletion_timestamp.empty()) return Judge(target);
  if (!object->meta().has_finalizers) return Ok();
  const Json tree = object->ToJson();
  if (HasFinalizer(tree, kOrphanFinalizer)) return Orphan(target);
  if (HasFinalizer(tree, kForegroundFinalizer)) return DeleteDependents(target, next);
  return Ok();
}

Result<void> GarbageStep::DeleteDependents(const Target& target, std::vector<ResourceKey>& next) {
  bool first = false;
  {
    // Before the blocking ones are counted: whoever goes afterwards wakes this object again.
    std::lock_guard lock(mutex_);
    first = waiting_.emplace(std::pair{target.key.workspace, target.uid()}, target.key).second;
  }
  if (index_.Blocking(target.key.workspace, target.uid()) == 0) {
    return RemoveFinalizerOf(target, kForegroundFinalizer);
  }
  // Each is told once; what happens to it afterwards makes it be looked at by itself.
  if (first) next = index_.DependentsOf(target.key.workspace, target.uid());
  return Ok();
}

Result<void> GarbageStep::Orphan(const Target& target) {
  for (const ResourceKey& key : index_.DependentsOf(target.key.workspace, target.uid())) {
    const ObjectPtr object = hub_.store.Get(key);
    if (object == nullptr) continue;
    const Target dependent{target.workspace, TypeOf(target.workspace, *object), key, object};
    if (dependent.type == nullptr) continue;
    TRY(DropOwners(dependent, {target.uid()}));
  }
  return RemoveFinalizerOf(target, kOrphanFinalizer);
}

GarbageStep::Fate GarbageStep::FateOf(const Target& target, const OwnerReference& owner) const {
  const auto* type = target.workspace.catalog->FindKind(KindOf(owner.api_version, owner.kind));
  if (type == nullptr) return Fate::kUnknown;
  if (type->namespaced && target.key.ns.empty()) return Fate::kOutOfScope;
  const ObjectPtr found =
      Present(hub_, target.workspace, *type,
              {target.key.workspace, type->stored_as,
               type->namespaced ? target.key.ns : std::string(), owner.name});
  if (found == nullptr || found->meta().uid != owner.uid) return Fate::kAbsent;
  return IsDeletingDependents(*found) ? Fate::kWaiting : Fate::kAlive;
}

bool GarbageStep::IsElsewhere(const Target& target, const OwnerReference& owner) const {
  {
    std::lock_guard lock(mutex_);
    const std::uint64_t hash = HashOf(owner.uid);
    if (gone_[hash % gone_.size()] == hash) return false;
  }
  const auto* type = target.workspace.catalog->FindKind(KindOf(owner.api_version, owner.kind));
  if (type == nullptr || !type->namespaced) return false;
  auto found = hub_.store.List(
      {.scope = {target.key.workspace, type->stored_as, ""},
       .filter = [&](const Object& object) { return object.meta().uid == owner.uid; }});
  return found.ok() && !found->entries.empty();
}

Result<void> GarbageStep::Judge(const Target& target) {
  const std::vector<OwnerReference> owners = OwnersOf(*target.object);
  if (owners.empty()) return Ok();
  bool alive = false;
  bool waiting = false;
  std::set<std::string> lost;
  for (const OwnerReference& owner : owners) {
    switch (FateOf(target, owner)) {
      case Fate::kAlive:
        alive = true;
        break;
      case Fate::kWaiting:
        waiting = true;
        lost.insert(owner.uid);
        break;
      case Fate::kAbsent:
        if (IsElsewhere(target, owner)) Complain(target, owner);
        lost.insert(owner.uid);
        break;
      case Fate::kOutOfScope:  // can never be resolved
        Complain(target, owner);
        return Ok();
      case Fate::kUnknown: {  // until somebody defines the kind
        std::lock_guard lock(mutex_);
        parked_[target.key.workspace].insert(target.key);
        return Ok();
      }
    }
  }
  if (alive) return lost.empty() ? Ok() : DropOwners(target, lost);
  const auto dependents = index_.DependentsOf(target.key.workspace, target.uid());
  if (waiting && !dependents.empty()) {
    Revision revision = target.object->revision();
    // A dependent that itself waits for its dependents closes a circle, which has to be broken.
    for (const ResourceKey& key : dependents) {
      const ObjectPtr object = hub_.store.Get(key);
      if (object == nullptr || !IsDeletingDependents(*object)) continue;
      revision = TRY(Unblock(target));
      break;
    }
    return Delete(target, "Foreground", revision);
  }
  const Json tree = target.object->ToJson();
  const char* propagation = HasFinalizer(tree, kOrphanFinalizer)       ? "Orphan"
                            : HasFinalizer(tree, kForegroundFinalizer) ? "Foreground"
                                                                       : "Background";
  return Delete(target, propagation, target.object->revision());
}

Result<void> GarbageStep::DropOwners(const Target& target, const std::set<std::string>& uids) const {
  return UnlessGone(self_.Change(
      target.workspace, target.type, target.key.ns, target.key.name, "",
      [&](Json& object) {
        Json* owners = Find(object, {"metadata", "ownerReferences"});
        if (owners == nullptr || !owners->is_array()) return;
        Json kept = Json::array();
        for (Json& owner : *owners) {
          if (!uids.contains(StringAt(owner, {"uid"}))) kept.push_back(std::move(owner));
        }
        if (kept.empty()) {
          Erase(object, {"metadata", "ownerReferences"});
        } else {
          *owners = std::move(kept);
        }
      },
      target.uid()));
}

Result<Revision> GarbageStep::Unblock(const Target& target) const {
  const Outcome outcome = TRY(self_.Change(
      target.workspace, target.type, target.key.ns, target.key.name, "",
      [](Json& object) {
        Json* owners = Find(object, {"metadata", "ownerReferences"});
        if (owners == nullptr || !owners->is_array()) return;
        for (Json& owner : *owners) {
          if (BoolAt(owner, {"blockOwnerDeletion"})) Set(owner, {"blockOwnerDeletion"}, false);
        }
      },
      target.uid(), target.object->revision()));
  return outcome.object->revision();
}

Result<void> GarbageStep::Delete(const Target& target, const std::string& propagation,
                                 Revision revision) const {
  DeleteRequest request;
  request.uid = target.uid();
  request.resource_version = revision.ToString();
  request.propagation = propagation;
  return UnlessGone(self_.Remove(target.workspace, target.type, target.key.ns, target.key.name,
                                 request));
}

Result<void> GarbageStep::RemoveFinalizerOf(const Target& target,
                                            std::string_view finalizer) const {
  return UnlessGone(self_.Change(
      target.workspace, target.type, target.key.ns, target.key.name, "",
      [finalizer](Json& object) { RemoveFinalizer(object, finalizer); }, target.uid()));
}

void GarbageStep::Complain(const Target& target, const OwnerReference& owner) const {
  const std::string now = FormatTime(hub_.clock.Now());
  const std::string ns = target.key.ns.empty() ? "default" : target.key.ns;
  Json about = {{"apiVersion", std::string(target.object->api_version())},
                {"kind", std::string(target.object->kind())},
                {"name", target.key.name},
                {"uid", target.uid()}};
  if (!target.key.ns.empty()) about["namespace"] = target.key.ns;
  const Json event = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", target.key.name + "." + owner.uid}, {"namespace", ns}}},
      {"involvedObject", std::move(about)},
      {"reason", "OwnerRefInvalidNamespace"},
      {"message", "ownerRef [" + owner.api_version + "/" + owner.kind + ", namespace: " +
                      target.key.ns + ", name: " + owner.name + ", uid: " + owner.uid +
                      "] does not exist in namespace " + Quoted(target.key.ns)},
      {"source", {{"component", "garbage-collector-controller"}}},
      {"firstTimestamp", now},
      {"lastTimestamp", now},
      {"count", 1},
      {"type", "Warning"}};
  // Said once; a repetition finds the event there.
  (void)self_.Insert(target.workspace, target.workspace.catalog->FindShared("", "v1", "events"), ns,
                     event);
}

}  // namespace mailroom::apiserver
