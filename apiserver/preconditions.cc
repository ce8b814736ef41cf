#include "apiserver/preconditions.h"

#include "apiserver/call.h"
#include "apiserver/go_text.h"
#include "apiserver/names.h"
#include "storage/object/clock.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

// Where kube-apiserver would keep the object, for texts that name its key.
std::string RegistryKey(const Call& call) {
  std::string key = "/registry/";
  if (!call.type->builtin) key += call.type->gvk.group + "/";
  key += call.type->plural + "/";
  if (call.type->namespaced) key += call.info.ns + "/";
  return key + call.info.name;
}

// Metadata is checked by the kind and once more by the store.
Status Immutable(const Call& call, const char* field, const std::string& value) {
  const Cause immutable = InvalidValue(field, Quoted(value), "field is immutable");
  return Invalid(call.type->gvk.kind, call.type->gvk.group, call.info.name,
                 std::vector<Cause>(2, immutable));
}

// Only a delete sets the time of deletion; whoever leaves it out means the one that is there.
Result<void> CheckDeletionTime(const Call& call, const Json& live, const Json& object) {
  const std::string time = StringAt(object, {"metadata", "deletionTimestamp"});
  if (time.empty() || ParseTime(time) == ParseTime(StringAt(live, {"metadata", "deletionTimestamp"}))) {
    return Ok();
  }
  return Immutable(call, "metadata.deletionTimestamp", time);
}

}  // namespace

Result<void> CheckPreconditions(const Call& call, const Json& live, const Json& object) {
  const std::string& name = call.info.name;
  const std::string& group = call.type->gvk.group;
  const std::string uid = StringAt(object, {"metadata", "uid"});
  const std::string live_uid = StringAt(live, {"metadata", "uid"});
  if (!uid.empty() && uid != live_uid) {
    if (call.info.verb == "patch") {
      return Immutable(call, "metadata.uid", uid);
    }
    return Conflict(call.type->plural, group, name,
                    "StorageError: invalid object, Code: 4, Key: " + RegistryKey(call) +
                        ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                        "precondition: " + uid + ", UID in object meta: " + live_uid);
  }
  const std::string revision = StringAt(object, {"metadata", "resourceVersion"});
  if (!revision.empty()) {
    const std::string problem = ParseUintProblem(revision);
    if (!problem.empty()) return Status(Reason::kUnknown, 500, problem);
  }
  const Revision given = GivenRevision(object);
  if (given != Revision() && given != GivenRevision(live)) {
    return Modified(call.type->plural, group, name);
  }
  return CheckDeletionTime(call, live, object);
}

}  // namespace mailroom::apiserver
