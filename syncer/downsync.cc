#include "syncer/downsync.h"

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "syncer/rewrite.h"
#include "syncer/undeclared.h"
#include "syncer/upstatus.h"

namespace mailroom::syncer {
namespace {

constexpr std::string_view kFieldManager = "mailroom-syncer";

std::string AnnotationOf(const Json& object, std::string_view key) {
  return StringAt(object, {"metadata", "annotations", key});
}

bool IsCreateOnly(const Json& object) {
  return AnnotationOf(object, openapi::kOverwriteAnnotation) == "false";
}

bool IsDeleting(const Json& object) {
  return !StringAt(object, {"metadata", "deletionTimestamp"}).empty();
}

std::optional<Json> Cached(const Collections& collections, const Place& place) {
  const auto informer = collections.Of(place.resource);
  if (informer == nullptr) return std::nullopt;
  const ObjectPtr object = informer->Get({.workspace = "", .ns = place.ns, .name = place.name});
  if (object == nullptr) return std::nullopt;
  return object->ToJson();
}

const char* const kHoldText =
    "kept, because the mailbox has no SyncerConfig that could say otherwise";

std::string ConflictText(Owner owner) {
  return owner == Owner::kOtherMailbox
             ? "the object in the WEC belongs to another mailbox"
             : "the WEC has an object of this name that the syncer did not make; annotate the "
               "source with " +
                   std::string(kAdoptAnnotation) + "=true to take it over";
}

}  // namespace

Result<client::Requeue> Downsync::Reconcile(const Place& place, const std::string& api_version) {
  const auto selection = parts_.instructions.Get();
  const bool mailbox_known =
      parts_.mailbox.collections.synced(place.resource) || parts_.unserved.Has(place.resource);
  // Both sides must be known completely; their first complete list brings this key back.
  if (selection == nullptr || !mailbox_known || !parts_.wec.collections.synced(place.resource)) {
    return client::Requeue{};
  }
  Pair pair = TRY(Look(place, api_version, *selection));
  const Situation situation = Judge(place, pair, *selection);
  const Action action = Decide(situation);
  if (action == Action::kConflict || action == Action::kHold) {
    parts_.report.Set(place, action == Action::kHold ? kHoldText : ConflictText(situation.owner));
    // Nothing tells when somebody else's object goes away, so look again now and then.
    return client::Requeue{limits::kForeignCheck};
  }
  auto done = [&]() -> Result<void> {
    if (action != Action::kNothing) return Act(action, place, api_version, pair);
    const bool ours = situation.present && situation.owner == Owner::kOurs;
    if (!ours || !pair.copy.has_value()) return Ok();
    return ReturnStatus(parts_, place, api_version, *pair.existing, std::move(*pair.copy));
  }();
  if (done.ok()) {
    parts_.report.Clear(place);
    return client::Requeue{};
  }
  parts_.report.Set(place, done.error().message());
  if (action == Action::kRemove && done.error().reason() == Reason::kForbidden) {
    return client::Requeue{limits::kForeignCheck};
  }
  return std::move(done).error();
}

Result<Downsync::Pair> Downsync::Look(const Place& place, const std::string& api_version,
                                      const Selection& selection) {
  Pair pair;
  pair.copy = Cached(parts_.mailbox.collections, place);
  if (pair.copy.has_value() && IsDeleting(*pair.copy)) pair.copy.reset();
  if (pair.copy.has_value() && selection.Wants(place.resource, place.ns, place.name)) {
    pair.desired = DesiredBody(*pair.copy, place.resource, parts_.identity);
  } else if (place.resource == kNamespaces && selection.Ensures(place.name)) {
    pair.desired = DesiredBody(BareNamespace(place.name), place.resource, parts_.identity);
  }
  pair.existing = Cached(parts_.wec.collections, place);
  // The cache has only marked objects; something unmarked may be in the way.
  if (pair.desired.has_value() && !pair.existing.has_value()) {
    auto found = parts_.wec.client.Get(RefOf(place, api_version));
    if (found.ok()) {
      pair.existing = std::move(found).value();
    } else if (found.error().reason() != Reason::kNotFound) {
      return std::move(found).error();
    }
  }
  if (pair.desired.has_value() && pair.existing.has_value()) {
    YieldScale(*pair.existing, *pair.desired);
  }
  return pair;
}

Situation Downsync::Judge(const Place& place, const Pair& pair, const Selection& selection) {
  Situation s;
  s.instructed = selection.instructed();
  s.wanted = pair.desired.has_value();
  s.is_namespace = place.resource == kNamespaces;
  if (pair.copy.has_value()) {
    s.create_only = IsCreateOnly(*pair.copy);
    s.adopt = AnnotationOf(*pair.copy, kAdoptAnnotation) == "true";
  }
  s.present = pair.existing.has_value();
  if (!s.present) return s;
  s.deleting = IsDeleting(*pair.existing);
  s.kept = IsCreateOnly(*pair.existing);
  s.owner = OwnerOf(*pair.existing, place.resource, parts_.identity);
  s.settled = s.wanted && Settled(place, *pair.desired, *pair.existing);
  return s;
}

Result<void> Downsync::Act(Action action, const Place& place, const std::string& api_version,
                           Pair& pair) {
  switch (action) {
    case Action::kApply:
      return Apply(place, api_version, pair);
    case Action::kMarkCreateOnly:
      return MarkCreateOnly(place, api_version);
    case Action::kRemove:
      TRY(removal_.Remove(place, api_version, *pair.existing));
      {
        std::lock_guard lock(mutex_);
        wordings_.erase(place);
      }
      return Ok();
    case Action::kNothing:
    case Action::kConflict:
    case Action::kHold:
      break;
  }
  return Ok();
}

Result<void> Downsync::Apply(const Place& place, const std::string& api_version, Pair& pair) {
  Json& body = *pair.desired;
  // A mark left from create-only days would keep the object from being deleted later.
  if (pair.existing.has_value() && IsCreateOnly(*pair.existing) && !IsCreateOnly(body)) {
    Set(body, {"metadata", "annotations", openapi::kOverwriteAnnotation}, "true");
  }
  const client::ObjectRef ref = RefOf(place, api_version);
  auto applied = parts_.wec.client.Apply(ref, body, kFieldManager, true);
  if (!applied.ok()) {
    Json known = body;
    const auto dropped = DropUndeclared(applied.error().message(), known);
    if (dropped.empty()) return std::move(applied).error();
    Log(Level::kWarn, "the WEC does not know some fields",
        {{"resource", LaneOf(place.resource)},
         {"namespace", place.ns},
         {"name", place.name},
         {"first", dropped.front()}});
    applied = parts_.wec.client.Apply(ref, known, kFieldManager, true);
    if (!applied.ok()) return std::move(applied).error();
  }
  Settle(place, body, *applied);
  Log(Level::kInfo, "applied in the WEC",
      {{"resource", LaneOf(place.resource)}, {"namespace", place.ns}, {"name", place.name}});
  return Ok();
}

Result<void> Downsync::MarkCreateOnly(const Place& place, const std::string& api_version) {
  Json patch;
  Set(patch, {"metadata", "annotations", openapi::kOverwriteAnnotation}, "false");
  TRY(parts_.wec.client.MergePatch(RefOf(place, api_version), patch));
  return Ok();
}

bool Downsync::Settled(const Place& place, const Json& desired, const Json& existing) {
  if (AnnotationOf(existing, kAppliedAnnotation) != AnnotationOf(desired, kAppliedAnnotation)) {
    return false;
  }
  const Json projection = Project(existing, desired);
  if (projection == desired) return true;
  std::lock_guard lock(mutex_);
  const auto known = wordings_.find(place);
  return known != wordings_.end() && known->second == Fingerprint(projection);
}

void Downsync::Settle(const Place& place, const Json& desired, const Json& existing) {
  const Json projection = Project(existing, desired);
  std::lock_guard lock(mutex_);
  if (projection == desired) {
    wordings_.erase(place);
  } else {
    wordings_[place] = Fingerprint(projection);
  }
}

}  // namespace mailroom::syncer
