#include "apiserver/authz.h"

#include <algorithm>
#include <array>

#include "apiserver/authn.h"

namespace mailroom::apiserver {
namespace {

bool IsPublicPath(const RequestInfo& info) {
  if (info.is_resource || info.segments.empty()) return false;
  constexpr std::array<std::string_view, 4> kPublic = {"healthz", "livez", "readyz", "version"};
  return std::find(kPublic.begin(), kPublic.end(), info.segments[0]) != kPublic.end();
}

bool IsRead(const std::string& verb) { return verb == "get" || verb == "list" || verb == "watch"; }

// A syncer reads its mailbox, reports status, and keeps its SyncerConfig's report.
bool SyncerMay(const RequestInfo& info) {
  if (!info.is_resource) return info.verb == "get" || info.verb == "head";
  if (IsRead(info.verb)) return true;
  const bool writes = info.verb == "update" || info.verb == "patch";
  if (!writes) return false;
  return info.subresource == "status" ||
         (info.group == "edge.kubestellar.io" && info.resource == "syncerconfigs");
}

bool Allowed(const User& user, const RequestInfo& info) {
  if (user.InGroup(kMasters) || IsPublicPath(info)) return true;
  if (user.InGroup(kSyncers) && user.name.starts_with(kSyncerPrefix) && !info.all_workspaces) {
    const std::string_view mailbox = std::string_view(user.name).substr(kSyncerPrefix.size());
    return info.workspace.name() == mailbox && info.workspace.name() != kRootWorkspace &&
           SyncerMay(info);
  }
  return false;
}

}  // namespace

Result<void> Authorize(const User& user, const RequestInfo& info) {
  if (Allowed(user, info)) return Ok();
  if (!info.is_resource) {
    return Status(Reason::kForbidden, "forbidden: User " + Quoted(user.name) + " cannot " +
                                          info.verb + " path " + Quoted(info.path));
  }
  const std::string resource =
      info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource;
  const std::string where = info.ns.empty() ? "at the cluster scope"
                                            : "in the namespace " + Quoted(info.ns);
  return Forbidden(info.resource, info.group, info.name,
                   "User " + Quoted(user.name) + " cannot " + info.verb + " resource " +
                       Quoted(resource) + " in API group " + Quoted(info.group) + " " + where);
}

}  // namespace mailroom::apiserver
