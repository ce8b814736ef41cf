// One resource request on its way through the house: what it asks, who asks, and what the
// workspace says about the kind. Lives for one request, on one thread.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/request_info.h"
#include "apiserver/workspaces.h"
#include "storage/object/clock.h"
#include "storage/object/deadline.h"
#include "storage/object/limits.h"

namespace mailroom::openapi {
class ApiDocs;
}

namespace mailroom::admission {
class Admission;
class QuotaController;
}

namespace mailroom::apiserver {

class Aggregator;
class Audit;
class Conversions;
class TimerQueue;
class WatchQuota;

// The collaborators every verb may use.
struct Hub {
  storage::CachedStore& store;
  const Workspaces& workspaces;
  const Authenticator& authenticator;
  const Authorizer& authorizer;
  const ServiceAccountTokens& tokens;
  const Clock& clock;
  TimerQueue& timers;
  std::string external_url;  // https://host:port, for URLs in statuses
  bool reads_wait = false;   // consistent reads ask the engine (etcd) for its revision first
  admission::Admission* admission = nullptr;  // null: nothing is asked
  admission::QuotaController* quotas = nullptr;  // null: nothing is counted
  const Audit* audit = nullptr;   // null: nothing is recorded
  WatchQuota* watches = nullptr;  // null: no bound
  Conversions* conversions = nullptr;  // null: no webhook converts
  const openapi::ApiDocs* docs = nullptr;  // null: our own words
  const std::atomic<bool>* draining = nullptr;  // set once the server is about to stop
  Aggregator* aggregator = nullptr;  // null: no other server serves a group of a workspace
};

struct Call {
  const Hub& hub;
  const Request& request;
  RequestInfo info;
  User user;
  WorkspaceView workspace;
  openapi::ResourceTypePtr type;
  std::vector<std::string> warnings;  // become Warning headers
  std::map<std::string, std::string> annotations = {};  // what admission notes for an audit log
  Deadline deadline = {};  // the server's own calls have none

  ResourceKey Key() const { return Key(info.name); }
  ResourceKey Key(const std::string& name) const {
    return {info.workspace, type->stored_as, type->namespaced ? info.ns : std::string(), name};
  }
  // For a revision to arrive: as long as the server waits, or less if the client says so.
  std::chrono::milliseconds Patience() const { return deadline.Left(limits::kFreshnessWait); }
  Status NotFoundHere() const { return NotFound(type->plural, type->gvk.group, info.name); }
  void Warn(std::string text) { warnings.push_back(std::move(text)); }
};

}  // namespace mailroom::apiserver
