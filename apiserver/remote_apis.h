// The APIServices of a workspace that lead to another server, as they are stored: which group and
// version, which Service, how to trust it. They act where policy does and a cluster is meant, in
// root and in `cluster` workspaces. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/workspaces.h"

namespace mailroom::apiserver {

inline const GroupResource kApiServicesResource{"apiregistration.k8s.io", "apiservices"};

struct RemoteApi {
  std::string name;  // of the APIService
  std::string group, version;
  std::string service_namespace, service_name;
  int port = 443;
  std::string ca_pem;  // "": the system's
  bool insecure = false;
  std::int64_t group_priority = 0, version_priority = 0;
  bool available = false;  // as its condition says
};
using RemoteApiList = std::shared_ptr<const std::vector<RemoteApi>>;

bool ServedHere(const openapi::Catalog& catalog, std::string_view group, std::string_view version);

// Whether APIServices act in workspaces of that type.
bool ApiServicesAct(openapi::WorkspaceType type);

// The API that an APIService describes; nothing for one that is served here.
std::optional<RemoteApi> ReadRemoteApi(const Json& api_service);

class RemoteApis {
 public:
  RemoteApis(const storage::CachedStore& store, const Workspaces& workspaces)
      : store_(store), workspaces_(workspaces) {}

  // Those of a workspace that it does not serve itself, by falling priority: the oldest
  // limits::kAggregatedApis of them. Costs next to nothing where there are none.
  RemoteApiList Of(const Workspace& workspace) const;
  enum class Standing { kActs, kServedHere, kTooMany };
  Standing StandingOf(const Workspace& workspace, const RemoteApi& api) const;
  // Whether APIServices act there.
  bool IsLive(const Workspace& workspace) const;
  void Forget(const Workspace& workspace) const;

 private:
  struct Known {
    Revision revision;  // of the last change to them
    openapi::CatalogPtr catalog;
    RemoteApiList list;
  };
  const storage::CachedStore& store_;
  const Workspaces& workspaces_;
  mutable std::mutex mutex_;
  mutable std::map<Workspace, Known> known_;  // guarded by mutex_; only of workspaces with some
};

}  // namespace mailroom::apiserver
