#include "syncer/wec_content.h"

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::syncer {
namespace {

bool IsController(const Json& reference) { return BoolAt(reference, {"controller"}); }

// Made by the cluster for every namespace, or derived from another object.
bool IsAutomatic(const std::string& resource, const Json& item) {
  const std::string name = StringAt(item, {"metadata", "name"});
  if (resource == "events" || resource == "endpoints") return true;
  if (resource == "serviceaccounts" && name == "default") return true;
  if (resource == "configmaps" && name == "kube-root-ca.crt") return true;
  if (StringAt(item, {"type"}) == "kubernetes.io/service-account-token") return true;
  const Json* owners = Find(item, {"metadata", "ownerReferences"});
  return owners != nullptr && owners->is_array() &&
         std::any_of(owners->begin(), owners->end(), IsController);
}

}  // namespace

Result<std::string> RemainingInstance(const client::Client& wec, const Json& crd) {
  const std::string group = StringAt(crd, {"spec", "group"});
  const std::string plural = StringAt(crd, {"spec", "names", "plural"});
  const Json* versions = Find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return std::string();
  for (const Json& version : *versions) {
    if (!BoolAt(version, {"served"})) continue;
    const client::Gvr gvr{group + "/" + StringAt(version, {"name"}), plural};
    auto list = wec.List(gvr, {.ns = "", .label_selector = "", .field_selector = "", .limit = 1});
    if (!list.ok()) {
      if (list.error().reason() == Reason::kNotFound) continue;
      return std::move(list).error();
    }
    const Json* items = Find(*list, {"items"});
    if (items == nullptr || items->empty()) return std::string();
    return StringAt(items->front(), {"metadata", "namespace"}) + "/" +
           StringAt(items->front(), {"metadata", "name"});
  }
  return std::string();
}

Result<std::string> ForeignObject(const client::Client& wec, Kinds& kinds, const std::string& ns,
                                  const Identity& identity) {
  const std::string not_ours = std::string(kSyncedLabel) + "!=" + identity.LabelValue();
  const auto served = TRY(kinds.All());
  for (const auto& [gvr, facts] : served) {
    if (!facts.namespaced) continue;
    auto list = wec.List(gvr, {.ns = ns, .label_selector = not_ours, .field_selector = ""});
    if (!list.ok()) {
      const Reason reason = list.error().reason();
      if (reason == Reason::kNotFound || reason == Reason::kMethodNotAllowed) continue;
      return std::move(list).error();
    }
    const Json* items = Find(*list, {"items"});
    if (items == nullptr || !items->is_array()) continue;
    for (const Json& item : *items) {
      if (IsAutomatic(gvr.resource, item)) continue;
      return gvr.resource + " " + StringAt(item, {"metadata", "name"});
    }
  }
  return std::string();
}

}  // namespace mailroom::syncer
