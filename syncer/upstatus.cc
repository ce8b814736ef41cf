#include "syncer/upstatus.h"

#include "storage/object/json_path.h"
#include "syncer/rewrite.h"

namespace mailroom::syncer {
namespace {

// Their status describes the server that serves them, and the mailbox serves them itself.
bool StatusStays(const GroupResource& resource) {
  return resource == kNamespaces || resource == kCrds;
}

}  // namespace

Result<void> ReturnStatus(Parts& parts, const Place& place, const std::string& api_version,
                          const Json& wec_object, Json mailbox_copy) {
  const Json* status = Find(wec_object, {"status"});
  if (StatusStays(place.resource) || status == nullptr || !status->is_object()) return Ok();
  const Json* known = Find(mailbox_copy, {"status"});
  const Json before = known != nullptr && known->is_object() ? *known : Json::object();
  if (before == *status) return Ok();

  client::ObjectRef ref = RefOf(place, api_version);
  const KindFacts facts = TRY(parts.mailbox.kinds.Find(ref.gvr));
  auto written = [&]() -> Result<Json> {
    if (!facts.has_status) {
      return parts.mailbox.client.MergePatch(ref, {{"status", MergeDiff(before, *status)}});
    }
    ref.subresource = "status";
    Set(mailbox_copy, {"status"}, *status);
    return parts.mailbox.client.Update(ref, mailbox_copy);
  }();
  // Deleted meanwhile: its own event follows.
  if (!written.ok() && written.error().reason() != Reason::kNotFound) {
    return std::move(written).error();
  }
  return Ok();
}

}  // namespace mailroom::syncer
