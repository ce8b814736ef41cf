#include "syncer/removal.h"

#include "storage/object/json_path.h"
#include "storage/object/log.h"
#include "syncer/wec_content.h"

namespace mailroom::syncer {
namespace {

Status NotYet(std::string message) {
  return Status(Reason::kServiceUnavailable, std::move(message));
}

// Only a server that knows the resource says that just this object is missing.
bool IsMissingObject(const Status& status, const std::string& name) {
  return status.reason() == Reason::kNotFound && status.details().name == name;
}

}  // namespace

Result<bool> KindGone(const client::Client& client, const GroupResource& resource) {
  const std::string name = LaneOf(resource);
  auto found = client.Get({{kCrds.group + "/v1", kCrds.resource}, "", name, ""});
  if (found.ok()) return false;
  if (IsMissingObject(found.error(), name)) return true;
  return std::move(found).error();
}

Result<std::string> ReadUid(const client::Client& client) {
  const Json found = TRY(client.Get({{"v1", "namespaces"}, "", "kube-system", ""}));
  std::string uid = StringAt(found, {"metadata", "uid"});
  if (uid.empty()) return Internal("namespace kube-system has no UID");
  return uid;
}

Result<void> Removal::Remove(const Place& place, const std::string& api_version,
                             const Json& existing) {
  const auto selection = parts_.instructions.Get();
  const bool selected = selection->Wants(place.resource, place.ns, place.name);
  if (selected) TRY(CheckGone(place, api_version));
  TRY(CheckContent(place, existing));
  TRY(CheckIdentity());
  auto deleted = parts_.wec.client.Delete(
      RefOf(place, api_version),
      {.uid = StringAt(existing, {"metadata", "uid"}),
       .resource_version = StringAt(existing, {"metadata", "resourceVersion"}),
       .propagation = ""});
  if (!deleted.ok() && deleted.error().reason() != Reason::kNotFound) {
    return std::move(deleted).error();
  }
  Log(Level::kInfo, "deleted in the WEC",
      {{"resource", LaneOf(place.resource)},
       {"namespace", place.ns},
       {"name", place.name},
       {"because", selected ? "gone from the mailbox" : "no longer selected"}});
  return Ok();
}

Result<void> Removal::CheckGone(const Place& place, const std::string& api_version) {
  const auto found = parts_.mailbox.client.Get(RefOf(place, api_version));
  if (found.ok()) {
    if (!StringAt(*found, {"metadata", "deletionTimestamp"}).empty()) return Ok();
    return NotYet("the mailbox still has it");
  }
  if (IsMissingObject(found.error(), place.name)) return Ok();
  if (found.error().reason() != Reason::kNotFound) return found.error();
  const bool gone = TRY(KindGone(parts_.mailbox.client, place.resource));
  if (gone) return Ok();
  return NotYet("the mailbox has the kind's definition but does not serve it");
}

Result<void> Removal::CheckIdentity() {
  const std::string uid = TRY(ReadUid(parts_.mailbox.client));
  if (uid == parts_.identity.uid) return Ok();
  return NotYet("the mailbox was replaced; nothing is deleted on its behalf");
}

// Deleting a container destroys what is in it, whoever made that.
Result<void> Removal::CheckContent(const Place& place, const Json& existing) {
  std::string left;
  if (place.resource == kCrds) {
    left = TRY(RemainingInstance(parts_.wec.client, existing));
  } else if (place.resource == kNamespaces) {
    left = TRY(ForeignObject(parts_.wec.client, parts_.wec.kinds, place.name, parts_.identity));
  }
  if (left.empty()) return Ok();
  const Reason reason =
      place.resource == kNamespaces ? Reason::kForbidden : Reason::kServiceUnavailable;
  return Status(reason, "not deleted, because it would take " + left + " along");
}

}  // namespace mailroom::syncer
