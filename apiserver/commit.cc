#include "apiserver/commit.h"

#include <unordered_set>

#include "apiserver/admit.h"
#include "apiserver/convert.h"
#include "apiserver/finalize.h"
#include "apiserver/home.h"
#include "apiserver/implied.h"
#include "apiserver/kinds.h"
#include "apiserver/names.h"
#include "apiserver/preconditions.h"
#include "apiserver/settle.h"
#include "openapi/builtin.h"
#include "openapi/disabled_fields.h"
#include "openapi/normalize.h"
#include "openapi/validate.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/problems.h"

namespace mailroom::apiserver {
namespace {

using storage::Txn;
using storage::TxnResult;

// Owner references given twice are taken once, with a warning.
void DropRepeatedOwners(Call& call, Json& object) {
  Json* owners = Find(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  Json kept = Json::array();
  std::string repeated;
  std::unordered_set<std::string> seen;
  for (Json& owner : *owners) {
    if (seen.insert(DumpJson(owner)).second) {
      kept.push_back(std::move(owner));
    } else {
      repeated += (repeated.empty() ? "" : ", ") + StringAt(owner, {"uid"});
    }
  }
  *owners = std::move(kept);
  if (repeated.empty()) return;
  call.Warn(".metadata.ownerReferences contains duplicate entries; API server dedups owner "
            "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
            "requests; duplicate UID(s) observed: " + repeated);
}

}  // namespace

Result<void> CheckTree(Call& call, const WriteOptions& options, const openapi::ResourceType& type,
                       Draft& draft) {
  // What is applied to custom resources is no document that is decoded: its nulls are looked at.
  if (type.builtin || !draft.tracked) {
    openapi::DropNulls(type, draft.object);
  } else {
    openapi::DropMetadataNulls(type, draft.object);
  }
  const auto decoder = draft.strategic ? openapi::Decoder::kTree : openapi::Decoder::kJson;
  if (auto problem = openapi::CheckBuiltinTypes(type, draft.object, decoder)) {
    if (draft.patch) return InvalidPatch(*draft.patch, *problem);
    return CannotBeHandled(type.gvk, *problem);
  }
  return ReportFields(call, options, type.gvk, openapi::PruneUnknown(type, draft.object),
                      draft.duplicates, draft.patch);
}

namespace {

void FillIn(Call& call, Json& object) {
  DropRepeatedOwners(call, object);
  openapi::ApplyDefaults(*call.type, object);
}

}  // namespace

Result<void> Normalize(Call& call, const WriteOptions& options, Draft& draft) {
  TRY(CheckTree(call, options, *call.type, draft));
  FillIn(call, draft.object);
  return Ok();
}

namespace {

Result<void> Validate(Call& call, const Json& object, const Json* live) {
  if (!call.type->builtin) TRY(CheckSameKind(call.type->gvk, object));
  const KindRules& rules = RulesOf(*call.type);
  Causes causes;
  const auto add_own = [&] {
    if (rules.validate != nullptr) causes.Add(rules.validate(call, object, live));
  };
  if (rules.validates_first) add_own();
  // Where objects are payload, their status is told by a cluster that what it told before does not bind.
  const bool told = rules.retold && call.info.subresource == "status" &&
                    !openapi::PolicyIsLive(call.workspace.type);
  causes.Add(openapi::ValidateMetadata(*call.type, object, live));
  causes.Add(openapi::ValidateObject(*call.type, object, told ? &object : live, call.info.subresource));
  if (!rules.validates_first) add_own();
  if (causes.empty()) {
    for (std::string& text :
         openapi::WarningsFor(*call.type, object, live, call.info.subresource)) {
      call.Warn(std::move(text));
    }
    return Ok();
  }
  // Kinds of two groups are known by the one they are kept in.
  return Invalid(call.type->gvk.kind, call.type->stored_as.group, StringAt(object, {"metadata", "name"}),
                 std::move(causes));
}

Result<std::string> Encode(const Call& call, const Json& object) {
  if (HasStoredForm(call, object)) return Object::Encode(object);
  return Object::Encode(TRY(Stored(call, object)));
}

// What is too large only because of who owns its fields is kept without that, unless it was applied.
Result<std::string> EncodeStored(const Call& call, bool applied, Json& object) {
  std::string bytes = TRY(Encode(call, object));
  const bool large = bytes.size() > limits::kStoredObjectBytes;
  if (large && !applied && Erase(object, {"metadata", "managedFields"})) {
    bytes = TRY(Encode(call, object));
  }
  if (bytes.size() > limits::kStoredObjectBytes) {
    return RequestTooLarge("limit is " + std::to_string(limits::kStoredObjectBytes));
  }
  return bytes;
}

// What is stored, as the request's version has it.
Result<Json> Served(const Call& call, const ObjectPtr& stored) {
  Json live = TRY(Settler(call)(stored))->ToJson();
  if (stored->api_version().empty()) return live;
  return ConvertTo(call, *call.type, std::move(live));
}

storage::Operation Put(const ResourceKey& key, std::string bytes) {
  return {storage::Operation::Type::kPut, key.ToStoreKey(),
          std::make_shared<const std::string>(std::move(bytes))};
}

bool SpecDiffers(const openapi::ResourceType& type, const Json& before, const Json& after) {
  auto relevant = [&](const std::string& member) {
    return member != "metadata" && member != "apiVersion" && member != "kind" &&
           !(member == "status" && type.has_status);
  };
  for (const auto& [member, value] : after.items()) {
    if (!relevant(member)) continue;
    auto it = before.find(member);
    if (it == before.end() || *it != value) return true;
  }
  for (const auto& [member, value] : before.items()) {
    if (relevant(member) && !after.contains(member)) return true;
  }
  return false;
}

bool RaisesGeneration(const Call& call, const Json& before, const Json& after) {
  const Counted counted = RulesOf(*call.type).counted;
  if (counted == Counted::kNothing) return false;
  if (!call.type->tracks_generation && counted != Counted::kLater) return false;
  if (SpecDiffers(*call.type, before, after)) return true;
  const bool labels = counted == Counted::kLabelsToo;
  if (!call.info.subresource.empty() || (!labels && counted != Counted::kAnnotationsToo)) return false;
  static const Json kNone = Json::object();
  const std::string_view member = labels ? "labels" : "annotations";
  const Json* old = Find(before, {"metadata", member});
  const Json* now = Find(after, {"metadata", member});
  return (old != nullptr ? *old : kNone) != (now != nullptr ? *now : kNone);
}

// Members of metadata that a client cannot change.
void RestoreMetadata(const Json& live, Json& object) {
  for (const char* member : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                             "deletionGracePeriodSeconds", "generation", "generateName"}) {
    const Json* value = Find(live, {"metadata", member});
    if (value != nullptr) {
      Set(object, {"metadata", member}, *value);
    } else {
      Erase(object, {"metadata", member});
    }
  }
  Erase(object, {"metadata", "selfLink"});
}

// Of some kinds, parts of metadata cannot be written along with the status.
void KeepInStatus(const openapi::ResourceType& type, const Json& live, Json& metadata) {
  auto members = openapi::StatusKeeps().find(type.group_resource());
  if (members == openapi::StatusKeeps().end()) return;
  for (const std::string& member : members->second) {
    if (auto it = live.find(member); it != live.end()) {
      metadata[member] = *it;
    } else {
      metadata.erase(member);
    }
  }
}

// A syncer reports what a cluster says, and nothing about the object it says it of: no label,
// finalizer or owner.
bool ReportsOnly(const Call& call) { return call.user.InGroup(kSyncers); }

// Keeps what the endpoint does not write: status on the main one, the rest on /status. `settled`:
// the object's managedFields are the outcome of an apply, not what a client sent.
void RestoreParts(const Call& call, const Json& live, bool settled, Json& object) {
  auto restore = [&](const char* member) {
    if (auto it = live.find(member); it != live.end()) {
      object[member] = *it;
    } else {
      object.erase(member);
    }
  };
  const std::string& subresource = call.info.subresource;
  if (subresource.empty()) {
    if (call.type->has_status) restore("status");
  } else if (subresource == "status") {
    Json status = object.value("status", Json());
    Json metadata = object.value("metadata", Json::object());
    object = live;
    const bool reports = ReportsOnly(call);
    if (call.type->builtin && !reports) {
      const Json kept = std::exchange(object["metadata"], std::move(metadata));
      KeepInStatus(*call.type, kept, object["metadata"]);
    } else if (const Json* owners = Find(metadata, {"managedFields"});
               owners != nullptr && (settled || !reports)) {
      Set(object, {"metadata", "managedFields"}, *owners);
    }
    if (status.is_null()) {
      object.erase("status");
    } else {
      object["status"] = std::move(status);
    }
  } else if (subresource == "finalize") {
    const Json* finalizers = Find(object, {"spec", "finalizers"});
    Json kept = finalizers ? *finalizers : Json::array();
    object = live;
    Set(object, {"spec", "finalizers"}, std::move(kept));
  } else if (const KindRules& rules = RulesOf(*call.type); rules.restore != nullptr) {
    rules.restore(call, live, object);
  }
}

void Track(const Call& call, const WriteOptions& options, const Json* live, Draft& draft) {
  if (draft.tracked) {
    StripMissingOwned(*call.type, draft.object);
  } else {
    TrackUpdate(*call.type, live, draft.object, WriterOf(call, options));
  }
}

// Where objects are payload, the cluster they go to decides which features it has.
void DropOff(const Call& call, const Json* live, Json& object) {
  if (openapi::PolicyIsLive(call.workspace.type)) openapi::DropDisabled(*call.type, object, live);
}

void DropStatus(const Call& call, Json& created) {
  if (call.type->has_status && !RulesOf(*call.type).status_at_creation) created.erase("status");
  DropOff(call, nullptr, created);
}

// Lets admission change the object. What it changes belongs to no field manager, so ownership is
// settled before. The server's own parts are restored afterwards.
Result<void> MutateCreated(Call& call, const WriteOptions& options, Admit& admit, Draft& draft) {
  if (!admit.wanted()) return Ok();
  Track(call, options, nullptr, draft);
  draft.tracked = true;
  if (!TRY(admit.Mutate(&draft.object, nullptr))) return Ok();
  TRY(PrepareIdentity(call, draft.object));
  DropStatus(call, draft.object);
  FillIn(call, draft.object);  // what a new object's status says depends on what it has become
  return Ok();
}

Result<void> MutateChanged(Call& call, const WriteOptions& options, const Json& live, Admit& admit,
                           Draft& draft) {
  // Scale is shown as such, by its own verb.
  if (!admit.wanted() || call.info.subresource == "scale") return Ok();
  Track(call, options, &live, draft);
  draft.tracked = true;
  if (!TRY(admit.Mutate(&draft.object, &live))) return Ok();
  const Json* managed = Find(draft.object, {"metadata", "managedFields"});
  Json kept = managed != nullptr ? *managed : Json();
  RestoreMetadata(live, draft.object);
  RestoreParts(call, live, draft.tracked, draft.object);
  if (!kept.is_null()) Set(draft.object, {"metadata", "managedFields"}, std::move(kept));
  DropRepeatedOwners(call, draft.object);
  return Ok();
}

// The object a change asks for, complete and valid, or the live one when nothing changes.
Result<Json> Complete(Call& call, const WriteOptions& options, const Json& live, Admit& admit,
                      Draft draft) {
  Json& object = draft.object;
  // All of it must make sense, also what this endpoint does not write.
  TRY(CheckTree(call, options, *call.type, draft));
  TRY(CheckPreconditions(call, live, object));
  RestoreMetadata(live, object);
  RestoreParts(call, live, draft.tracked, object);
  // Left empty on purpose, to be tracked anew; what fills in would take it for left out, which is what
  // the original does with custom resources.
  const Json* managed = Find(object, {"metadata", "managedFields"});
  const bool untracked = call.type->builtin && !draft.tracked && managed != nullptr &&
                         managed->is_array() && managed->empty();
  DropOff(call, &live, object);
  FillIn(call, object);
  if (untracked) Set(object, {"metadata", "managedFields"}, Json::array());
  TRY(MutateChanged(call, options, live, admit, draft));
  const KindRules& rules = RulesOf(*call.type);
  if (rules.prepare != nullptr) TRY(rules.prepare(call, object, &live));
  if (draft.counts && RaisesGeneration(call, live, object)) {
    Set(object, {"metadata", "generation"}, IntAt(live, {"metadata", "generation"}) + 1);
  }
  Track(call, options, &live, draft);
  if (rules.settle != nullptr) rules.settle(call, object, &live);
  const Json* revision = Find(live, {"metadata", "resourceVersion"});
  Set(object, {"metadata", "resourceVersion"}, revision ? *revision : Json());
  KeepTimesWhenUnchanged(live, object);
  TRY(Validate(call, object, &live));
  if (call.info.subresource != "scale") TRY(admit.Validate(&object, &live));
  return std::move(object);
}

// Whether a create that failed did not do so by its name.
bool IsFree(const ResourceKey& key, const TxnResult& result) {
  const std::string text = key.ToStoreKey();
  return std::none_of(result.actual.begin(), result.actual.end(),
                      [&](const auto& entry) { return entry.key == text; });
}

// `made` is what was to be created: a name that may have been generated is worth another try.
Status Taken(const Call& call, const Object& existing, const Json& made) {
  const Status taken = AlreadyExists(call.type->plural, call.type->gvk.group, existing.meta().name);
  std::string message = taken.message();
  StatusDetails details = taken.details();
  if (!StringAt(made, {"metadata", "generateName"}).empty()) {
    message += ", the server was not able to generate a unique name for the object";
    details.retry_after_seconds = 1;
  }
  const bool ending = !existing.meta().deletion_timestamp.empty();
  return Status(Reason::kAlreadyExists, (ending ? "object is being deleted: " : "") + message,
                std::move(details));
}

}  // namespace

Result<Outcome> Insert(Call& call, const WriteOptions& options, Draft draft) {
  Json& object = draft.object;
  const bool applied = draft.tracked;
  // An apply that finds no object makes one, whatever version it was written for.
  const Revision given = call.info.verb == "patch" ? Revision() : GivenRevision(object);
  TRY(CheckTree(call, options, *call.type, draft));
  TRY(PrepareIdentity(call, object));
  TRY(CheckDefinition(call));
  Home home = TRY(Home::Of(call));  // before anything is asked of it, so that the answers hold
  TRY(CheckNamespace(call, StringAt(object, {"metadata", "name"})));
  TRY(CheckCapacity(call, StringAt(object, {"metadata", "name"})));
  DropStatus(call, object);
  FillIn(call, object);
  Admit admit(call, options, admission::Operation::kCreate);
  TRY(MutateCreated(call, options, admit, draft));
  Set(object, {"metadata", "uid"}, NewUid());
  Set(object, {"metadata", "creationTimestamp"}, FormatTime(call.hub.clock.Now()));
  if (call.type->tracks_generation) Set(object, {"metadata", "generation"}, 1);
  const KindRules& rules = RulesOf(*call.type);
  const bool generated = NeedsName(object);
  bool settled = rules.settle == nullptr;
  int moves = 0;
  for (int attempt = 0;; ++attempt) {
    if (generated) GenerateName(object);
    const std::string name = StringAt(object, {"metadata", "name"});
    if (rules.prepare != nullptr) TRY(rules.prepare(call, object, nullptr));
    Track(call, options, nullptr, draft);
    if (!std::exchange(settled, true)) rules.settle(call, object, nullptr);
    TRY(Validate(call, object, nullptr));
    TRY(admit.Validate(&object, nullptr));
    const ResourceKey key = call.Key(name);
    TRY(key.Check());
    std::string bytes = TRY(EncodeStored(call, applied, object));
    if (options.dry_run) {
      TRY(admit.CheckQuota(object, nullptr));
      if (const ObjectPtr existing = call.hub.store.Get(key)) return Taken(call, *existing, object);
      return Outcome{TRY(Object::Decode(bytes, given)), true, false};
    }
    if (given != Revision()) {
      return Status(Reason::kUnknown, 500,
                    "resourceVersion should not be set on objects to be created");
    }
    Txn txn;
    txn.compares.push_back({key.ToStoreKey(), Revision()});
    home.Hold(txn);
    auto stored = std::make_shared<const std::string>(std::move(bytes));
    txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(), stored});
    if (rules.on_create != nullptr) TRY(rules.on_create(call, object, txn));
    const TxnResult result = TRY(admit.Commit(std::move(txn), &object, nullptr));
    if (result.committed) return Outcome{TRY(Object::Decode(*stored, result.revision)), true, false};
    const bool free = IsFree(key, result);
    if ((free || home.Moved(result)) && moves++ < limits::kCommitRetries) {
      TRY(home.Again(call, result.revision));
      TRY(CheckNamespace(call, name));
      --attempt;  // the name was not at fault
      continue;
    }
    if (generated && attempt + 1 < limits::kGenerateNameAttempts) continue;
    const ObjectPtr existing = call.hub.store.Get(key);
    if (existing != nullptr) return Taken(call, *existing, object);
    if (free) return Modified(call.type->plural, call.type->gvk.group, name);
    return AlreadyExists(call.type->plural, call.type->gvk.group, name);
  }
}

Result<Outcome> Change(Call& call, const WriteOptions& options, const Propose& propose) {
  const ResourceKey key = call.Key();
  Admit admit(call, options, admission::Operation::kUpdate);
  TRY(call.hub.store.Freshen());
  for (int attempt = 0; attempt < limits::kCommitRetries; ++attempt) {
    const ObjectPtr stored = Present(call, key);
    if (stored == nullptr) return call.NotFoundHere();
    Json live = TRY(Served(call, stored));
    Draft draft = TRY(propose(live));
    const bool applied = draft.tracked;
    Json object = TRY(Complete(call, options, live, admit, std::move(draft)));
    const bool gone = IsGone(call, object);
    const auto same = [&] { return object == live && !gone; };
    if (same()) return Outcome{stored, false, false};
    std::string bytes = TRY(EncodeStored(call, applied, object));
    // Without the owners of its fields it may be what it was.
    if (!object["metadata"].contains("managedFields") && same()) return Outcome{stored, false, false};
    if (options.dry_run) {
      TRY(admit.CheckQuota(object, &live));
      return Outcome{TRY(Object::Decode(bytes, stored->revision())), false, gone};
    }
    Txn txn;
    txn.compares.push_back({key.ToStoreKey(), StoredRevision(*stored)});
    if (gone) {
      AddRemoval(call, key, *stored, txn);
    } else {
      txn.operations.push_back(Put(key, bytes));
    }
    const TxnResult result = TRY(admit.Commit(std::move(txn), gone ? nullptr : &object, &live));
    if (result.committed) {
      admit.Release(key.ns, gone ? Admit::Written::kRemoved : Admit::Written::kChanged);
      return Outcome{TRY(Object::Decode(bytes, result.revision)), false, gone};
    }
    TRY(call.hub.store.WaitFor(result.revision, call.Patience()));
  }
  return Modified(call.type->plural, call.type->gvk.group, call.info.name);
}

Result<Outcome> Remove(Call& call, const std::string& name, const DeleteRequest& request) {
  const KindRules& rules = RulesOf(*call.type);
  if (rules.may_delete != nullptr) TRY(rules.may_delete(call, name));
  const ResourceKey key = call.Key(name);
  Admit admit(call, request, name);
  TRY(call.hub.store.Freshen());
  for (int attempt = 0; attempt < limits::kCommitRetries; ++attempt) {
    const ObjectPtr stored = Present(call, key);
    if (stored == nullptr) return NotFound(call.type->plural, call.type->gvk.group, name);
    TRY(CheckDeletePreconditions(call, *stored, request));
    if (admit.wanted()) {
      const Json shown = TRY(Served(call, stored));
      TRY(admit.Mutate(nullptr, &shown));
      TRY(admit.Validate(nullptr, &shown));
    }
    bool gone = GoesAtOnce(call, request, *stored);
    ObjectPtr last = stored;
    std::string bytes;
    if (!gone) {
      Json object = stored->ToJson();
      gone = MarkDeleted(call, request, object);
      if (!gone && object == stored->ToJson()) return Outcome{stored, false, false};
      bytes = Object::Encode(object);
      const bool ending = Find(object, {"metadata", "deletionTimestamp"}) != nullptr;
      if (ending) last = TRY(Object::Decode(bytes, stored->revision()));
    }
    if (request.dry_run) return Outcome{last, false, gone};
    Txn txn;
    txn.compares.push_back({key.ToStoreKey(), StoredRevision(*stored)});
    if (gone) {
      AddRemoval(call, key, *stored, txn);
    } else {
      txn.operations.push_back(Put(key, bytes));
    }
    const TxnResult result = TRY(admit.Commit(std::move(txn), nullptr, nullptr));
    if (result.committed) {
      admit.Release(key.ns, gone ? Admit::Written::kRemoved : Admit::Written::kChanged);
      const bool shown = !gone || call.type->returns_deleted;
      return Outcome{shown ? last->AtRevision(result.revision) : last, false, gone};
    }
    TRY(call.hub.store.WaitFor(result.revision, call.Patience()));
  }
  return Modified(call.type->plural, call.type->gvk.group, name);
}

}  // namespace mailroom::apiserver
