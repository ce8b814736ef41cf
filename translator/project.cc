#include "translator/project.h"

#include "apiserver/client/discard.h"
#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "translator/conditions.h"
#include "translator/copy.h"
#include "translator/discover.h"

namespace mailroom::translator {
namespace {

using client::Discard;

client::ObjectRef RefOf(const client::Gvr& gvr, const ObjectId& id) {
  return {.gvr = gvr, .ns = id.ns, .name = id.name, .subresource = ""};
}

client::Gvr GvrOf(const Object& object, const ObjectId& id) {
  return {std::string(object.api_version()), id.resource.resource};
}

std::string SourceOf(const Object& copy) {
  return StringAt(copy.ToJson(), {"metadata", "annotations", openapi::kSourceAnnotation});
}

constexpr auto kDropped = client::Client::Answer::kDropped;

bool IsSystem(const ObjectId& id, const Json& object) {
  const ObjectPtr view = Object::Make(object, Revision());
  return view != nullptr && IsSystemObject(id, *view);
}

}  // namespace

Project::Project(client::Client hub, Plan& plan, const Copies& copies,
                 std::function<void(const Changes&)> changed)
    : hub_(std::move(hub)), plan_(plan), copies_(copies), changed_(std::move(changed)) {}

Result<client::Requeue> Project::Reconcile(const client::WorkKey& key) {
  const std::optional<ObjectId> id = ParseObjectId(key.id);
  if (!id) return Internal("not an object key: " + key.id);
  const Target target{.key = key, .mailbox = key.lane, .id = *id};
  const Verdict verdict = plan_.Judge(target.mailbox, *id);
  // A mailbox without its cluster is about to go, and its contents with it. Emptying it first
  // would tell the syncer to delete them in the cluster.
  if (!verdict.serving || !verdict.in_inventory) return client::Requeue{};
  const auto listed = [this, &id] { return copies_.Synced(id->resource); };
  if (!listed()) return parked_.Park(key, listed);
  const ObjectPtr copy = copies_.Get(target.mailbox, *id);
  // One that is going away is made again once it is gone.
  if (copy != nullptr && !copy->meta().deletion_timestamp.empty()) return client::Requeue{};
  if (verdict.source == nullptr && copy == nullptr) {
    Report(target, client::Requeue{});
    return client::Requeue{};
  }
  Result<client::Requeue> result =
      verdict.source != nullptr ? Ensure(target, verdict, copy) : Remove(target, *copy);
  Report(target, result);
  return result;
}

void Project::Report(const Target& target, const Result<client::Requeue>& result) {
  // A conflict only says that the cache was behind.
  if (!result.ok() && result.error().reason() == Reason::kConflict) return;
  const std::string error = result.ok() ? "" : result.error().message();
  changed_(plan_.SetFailure(target.mailbox, target.id, error));
}

bool Project::DependenciesReady(const Target& target) const {
  for (const ObjectId& need : plan_.DependenciesOf(target.id)) {
    const ObjectPtr copy = copies_.Get(target.mailbox, need);
    if (copy == nullptr || !copy->meta().deletion_timestamp.empty()) return false;
    if (need.resource == kCrds && !ConditionIsTrue(copy->ToJson(), "Established")) return false;
  }
  return true;
}

Result<client::Requeue> Project::Ensure(const Target& target, const Verdict& verdict,
                                        const ObjectPtr& copy) {
  const Json desired =
      DesiredCopy(verdict.source->ToJson(), verdict.wds,
                  verdict.create_only ? Overwrite::kCreateOnly : Overwrite::kAlways);
  if (copy == nullptr) {
    // The arrival of the dependency wakes this key; the delay is for the event that got lost.
    if (!DependenciesReady(target)) return client::Requeue{limits::kDependencyCheck};
    TRY(Create(target, desired));
    return client::Requeue{};
  }
  Json body = copy->ToJson();
  const std::string source =
      StringAt(body, {"metadata", "annotations", openapi::kSourceAnnotation});
  // Another workspace's older object may only not have been listed yet.
  if (!source.empty() && source != verdict.wds && !plan_.Complete()) {
    return parked_.Park(target.key, [this] { return plan_.Complete(); });
  }
  if (!BringTo(desired, body)) return client::Requeue{};
  TRY(Update(target, verdict, *copy, body));
  return client::Requeue{};
}

Result<void> Project::Create(const Target& target, const Json& desired) const {
  const client::Gvr gvr{StringAt(desired, {"apiVersion"}), target.id.resource.resource};
  const client::Client mailbox = hub_.InWorkspace(target.mailbox);
  Result<void> created = Discard(mailbox.Create(gvr, target.id.ns, desired, kDropped));
  if (created.ok() || created.error().reason() != Reason::kAlreadyExists) return created;
  return Adopt(target, gvr, desired);
}

// An object without our label stands where the copy belongs: it becomes the copy. The label-less
// object is in no cache, hence the read.
Result<void> Project::Adopt(const Target& target, const client::Gvr& gvr,
                            const Json& desired) const {
  const client::Client mailbox = hub_.InWorkspace(target.mailbox);
  Json body = TRY(mailbox.Get(RefOf(gvr, target.id)));
  const bool ours =
      StringAt(body, {"metadata", "labels", openapi::kProjectedLabel}) == openapi::kProjectedValue;
  if (ours) return Ok();  // made by us a moment ago; its event is on the way
  Log(Level::kInfo, "adopting an object in a mailbox",
      {{"mailbox", target.mailbox}, {"object", Describe(target.id)}});
  if (target.id.resource == kNamespaces) {
    Set(body, {"metadata", "annotations", openapi::kAdoptedAnnotation}, "true");
  }
  BringTo(desired, body);
  return Discard(mailbox.Update(RefOf(gvr, target.id), body, kDropped));
}

Result<void> Project::Update(const Target& target, const Verdict& verdict, const Object& copy,
                             const Json& body) const {
  const client::ObjectRef ref = RefOf(GvrOf(copy, target.id), target.id);
  const client::Client mailbox = hub_.InWorkspace(target.mailbox);
  Result<void> updated = Discard(mailbox.Update(ref, body, kDropped));
  if (updated.ok() || updated.error().reason() != Reason::kInvalid) return updated;
  // A source that was deleted and made anew may differ in fields that never change. Its copy is
  // made anew too.
  const std::string source_made = verdict.source->ScalarAt("metadata.creationTimestamp");
  if (source_made <= copy.ScalarAt("metadata.creationTimestamp")) return updated;
  Log(Level::kInfo, "replacing a copy",
      {{"mailbox", target.mailbox}, {"object", Describe(target.id)}});
  return mailbox.Delete(
      ref, {.uid = std::string(copy.meta().uid), .resource_version = "", .propagation = ""});
}

Result<client::Requeue> Project::Remove(const Target& target, const Object& copy) {
  const std::string source = SourceOf(copy);
  if (!plan_.MayRemove(source)) {
    return parked_.Park(target.key, [this, &source] { return plan_.MayRemove(source); });
  }
  const client::ObjectRef ref = RefOf(GvrOf(copy, target.id), target.id);
  const client::Client mailbox = hub_.InWorkspace(target.mailbox);
  const Json tree = copy.ToJson();
  if (target.id.resource == kNamespaces &&
      Find(tree, {"metadata", "annotations", openapi::kAdoptedAnnotation}) != nullptr) {
    // Somebody else's Namespace is given back.
    const Json patch = {{"metadata",
                         {{"labels", {{std::string(openapi::kProjectedLabel), nullptr}}},
                          {"annotations",
                           {{std::string(openapi::kSourceAnnotation), nullptr},
                            {std::string(openapi::kAdoptedAnnotation), nullptr}}}}}};
    TRY(mailbox.MergePatch(ref, patch));
    return client::Requeue{};
  }
  if (TRY(InUse(target, copy))) return client::Requeue{limits::kLeftoverCheck};
  Result<void> removed = mailbox.Delete(
      ref, {.uid = std::string(copy.meta().uid), .resource_version = "", .propagation = ""});
  if (!removed.ok() && removed.error().reason() != Reason::kNotFound) return removed.error();
  return client::Requeue{};
}

// Whether a Namespace or definition still holds anything, ours or not. Ours are in the caches;
// the last check asks the mailbox, because objects of others are in no cache.
Result<bool> Project::InUse(const Target& target, const Object& copy) const {
  if (target.id.resource == kNamespaces) return NamespaceInUse(target);
  if (target.id.resource != kCrds) return false;
  const auto defined = DefinedBy(target.id.name);
  if (!defined) return false;
  if (copies_.AnyOfResource(target.mailbox, *defined)) return true;
  const Json tree = copy.ToJson();
  const Json* versions = Find(tree, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return false;
  for (const Json& version : *versions) {
    if (!BoolAt(version, {"served"})) continue;
    const client::Gvr gvr{defined->group + "/" + StringAt(version, {"name"}), defined->resource};
    auto list = hub_.InWorkspace(target.mailbox).List(gvr, {});
    if (!list.ok()) {
      if (list.error().reason() == Reason::kNotFound) continue;  // never established
      return std::move(list).error();
    }
    const Json* items = Find(*list, {"items"});
    return items != nullptr && !items->empty();
  }
  return false;
}

Result<bool> Project::NamespaceInUse(const Target& target) const {
  const std::string& ns = target.id.name;
  if (copies_.AnyInNamespace(target.mailbox, ns)) return true;
  const client::Client mailbox = hub_.InWorkspace(target.mailbox);
  for (const ResourceFacts& facts : TRY(Discover(mailbox))) {
    if (!facts.namespaced || facts.resource.resource == "events") continue;
    const Json list =
        TRY(mailbox.List(facts.gvr(), {.ns = ns, .label_selector = "", .field_selector = ""}));
    const Json* items = Find(list, {"items"});
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : *items) {
      const ObjectId id{facts.resource, ns, StringAt(item, {"metadata", "name"})};
      if (!IsSystem(id, item)) return true;
    }
  }
  return false;
}

}  // namespace mailroom::translator
