#include "apiserver/pace.h"

#include <algorithm>

#include "apiserver/aggregator.h"
#include "apiserver/call.h"
#include "apiserver/kinds.h"
#include "storage/object/limits.h"
#include "storage/object/resource_key.h"

namespace mailroom::apiserver {
namespace {

// A path as it is written: the workspace it names (root when none) and what it asks there.
struct Place {
  std::string_view workspace = kRootWorkspace;
  std::string_view rest;
};

// Takes `prefix` and the segment after it off the front; that segment, or "" when it is not there.
std::string_view TakeNamed(std::string_view prefix, std::string_view& path) {
  if (!path.starts_with(prefix)) return "";
  const std::string_view after = path.substr(prefix.size());
  const std::string_view name = after.substr(0, after.find('/'));
  path = after.substr(name.size());
  return name;
}

// Only for paths without escapes.
Place PlaceOf(std::string_view path) {
  constexpr std::string_view kMailboxes = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/";
  constexpr std::string_view kProxy = "/proxy";
  Place place{.rest = path};
  if (const std::string_view name = TakeNamed("/clusters/", place.rest); !name.empty()) {
    place.workspace = name;
    while (true) {  // as ParseRequestInfo does
      std::string_view again = place.rest;
      if (TakeNamed("/clusters/", again) != name) break;
      place.rest = again;
    }
  }
  if (place.workspace != kRootWorkspace) return place;
  std::string_view behind = place.rest;
  const std::string_view mailbox = TakeNamed(kMailboxes, behind);
  if (mailbox.empty() || (behind != kProxy && !behind.starts_with("/proxy/"))) return place;
  return {.workspace = mailbox, .rest = behind.substr(kProxy.size())};
}

bool IsPlain(std::string_view path) {
  return path.starts_with('/') && !path.ends_with('/') && path.find('%') == std::string_view::npos;
}

// Whether a webhook may have to convert what is read. Watches convert as they go.
bool MayConvert(const Hub& hub, const Request& request, const Place& place) {
  if (!place.rest.starts_with("/apis/")) return false;
  const Workspace named{std::string(place.workspace)};
  if (hub.store.LastChange(named, kCrdResource) == Revision()) return false;
  const auto info = ParseRequestInfo(request);
  if (!info.ok() || !info->is_resource || info->verb == "watch") return false;
  const auto workspace = hub.workspaces.Find(info->workspace);
  if (!workspace.ok()) return false;
  const auto* type =
      workspace->catalog->FindShared(info->group, info->version, info->resource).get();
  return type != nullptr && type->conversion != nullptr;
}

// Reads of a collection may be all the workspace holds.
bool MayBeLong(const Hub& hub, const Place& place) {
  // A collection lies three or five segments deep below /api, four or six below /apis.
  const auto depth = std::count(place.rest.begin(), place.rest.end(), '/');
  const bool grouped = place.rest.starts_with("/apis/");
  if (depth % 2 != (grouped ? 0 : 1)) return false;
  if (place.workspace == openapi::kAllWorkspaces) return true;
  return hub.store.Count(Workspace(std::string(place.workspace))) > limits::kHeavyList;
}

}  // namespace

Pace PaceOf(const Hub& hub, const Request& request) {
  if (hub.reads_wait || hub.authorizer.Delegates()) return Pace::kMayWait;
  if (request.method != "GET" && request.method != "HEAD") return Pace::kMayWait;
  if (!IsPlain(request.path)) return Pace::kMayWait;
  const Place place = PlaceOf(request.path);
  if (MayConvert(hub, request, place)) return Pace::kMayWait;
  if (hub.aggregator != nullptr &&
      hub.aggregator->MayForward(Workspace(std::string(place.workspace)), request)) {
    return Pace::kMayWait;
  }
  if (!request.query.empty()) {
    const Query query(request.query);
    const std::string revision = query.Get("resourceVersion");
    if (!revision.empty() && revision != "0") return Pace::kMayWait;
    if (query.Bool("watch")) return Pace::kAtOnce;  // served as they come
  }
  return MayBeLong(hub, place) ? Pace::kLong : Pace::kAtOnce;
}

std::string FlowOf(const Hub& hub, const Request& request) {
  std::string name;
  if (request.path.find('%') == std::string::npos) {
    name = PlaceOf(request.path).workspace;
  } else if (const auto info = ParseRequestInfo(request); info.ok()) {
    name = info->all_workspaces ? openapi::kAllWorkspaces : info->workspace.name();
  }
  if (name == kRootWorkspace || name == openapi::kAllWorkspaces) return name;
  const bool known = IsWorkspaceName(name) &&
                     hub.store.Get({Workspace(std::string(kRootWorkspace)), kWorkspacesResource,
                                    "", name}) != nullptr;
  return known ? name : std::string(kUnknownFlow);
}

}  // namespace mailroom::apiserver
