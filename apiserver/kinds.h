// What the server itself does to objects of particular kinds: the parts it fills in, the extra
// writes that belong to creating or removing one, and what must not be deleted. A table of plain
// functions; verbs ask it and know no kind by name.
#pragma once

#include <vector>

#include "apiserver/auth/uid.h"
#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// What a delete without a policy does to dependents.
enum class Propagation { kBackground, kOrphan, kNone };  // kNone: the kind takes no policy

// What raises metadata.generation: the spec of the kinds that have it from their creation on; with
// it annotations, or labels; nothing at all; the spec, of objects that are made without it.
enum class Counted { kSpec, kAnnotationsToo, kLabelsToo, kNothing, kLater };

struct KindRules {
  // Fills server-owned parts of an object about to be written. `live` is null on create.
  Result<void> (*prepare)(Call& call, Json& object, const Json* live) = nullptr;
  // The same of parts that belong to no field manager, whoever writes the object; once for each write.
  void (*settle)(Call& call, Json& object, const Json* live) = nullptr;
  // Gives an object written through one of the kind's own subresources the parts of `live` that
  // this subresource does not write. The object may still be of any shape.
  void (*restore)(const Call& call, const Json& live, Json& object) = nullptr;
  // The same for an applied configuration: drops what the subresource does not write.
  void (*narrow)(const Call& call, Json& config) = nullptr;
  // Field errors beyond the schema's.
  std::vector<Cause> (*validate)(const Call& call, const Json& object, const Json* live) = nullptr;
  bool validates_first = false;  // these are told before the schema's
  bool retold = false;           // of payload, a status may be told that could not follow the last one
  // Objects of the kind that are there without being stored, each complete; see implied.h.
  std::vector<Json> (*implied)(const Hub& hub, const WorkspaceView& workspace) = nullptr;
  // Further operations of the transaction that creates or removes the object, the removal being
  // the last so far. A create whose compares fail is tried again from `prepare` on.
  Result<void> (*on_create)(const Call& call, const Json& object, storage::Txn& txn) = nullptr;
  void (*on_remove)(const Call& call, const Object& object, storage::Txn& txn) = nullptr;
  // True while something besides metadata.finalizers keeps a deleted object alive.
  bool (*holds)(const Json& object) = nullptr;
  // Changes to an object that is being deleted but stays for now.
  void (*on_terminating)(Json& object) = nullptr;
  Result<void> (*may_delete)(const Call& call, std::string_view name) = nullptr;
  // Delete preconditions are worded as the store words those of an update.
  bool store_preconditions = false;
  Propagation propagation = Propagation::kBackground;
  bool status_at_creation = false;       // may be given with the object
  Counted counted = Counted::kSpec;      // what raises the generation
  const char* delete_warning = nullptr;  // when a delete names no policy
};

// The rules of a kind; an empty row for most.
const KindRules& RulesOf(const openapi::ResourceType& type);

// 404 or 403 when nothing can be created in that namespace now.
Result<void> CheckNamespace(const Call& call, const std::string& resource_name);

// 403 when the workspace holds as many objects as its Workspace object allows.
Result<void> CheckCapacity(const Call& call, const std::string& resource_name);

// 405 when the kind's definition is being deleted.
Result<void> CheckDefinition(const Call& call);

// The objects every new workspace of that type starts with, as puts into `txn`.
void AddBootstrapObjects(const Workspace& workspace, openapi::WorkspaceType type,
                         const std::string& now, storage::Txn& txn);

}  // namespace mailroom::apiserver
