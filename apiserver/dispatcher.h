// The way of a request through the house, one straight function: what is asked, who asks, may
// they, which verb, and the answer. Runs on the calling thread from beginning to end; thread-safe.
#pragma once

#include "apiserver/audit.h"
#include "apiserver/call.h"
#include "apiserver/discovery.h"
#include "apiserver/metrics.h"
#include "apiserver/openapi_paths.h"
#include "apiserver/pace.h"
#include "apiserver/worker_pool.h"

namespace mailroom::apiserver {

class Dispatcher {
 public:
  explicit Dispatcher(const Hub& hub);

  // Never fails: errors are rendered.
  Response Handle(const Request& request);
  // The same for a caller inside the process, whose identity needs no proof.
  Response HandleAs(const Request& request, const User& user);
  Pace PaceOf(const Request& request) const { return apiserver::PaceOf(hub_, request); }
  std::string FlowOf(const Request& request) const { return apiserver::FlowOf(hub_, request); }

  const Hub& hub() const { return hub_; }
  // A workspace is gone, and with it, it may be, what it alone served.
  void SweepDocuments() { documents_.Sweep(); }
  // To add series of other parts, before the first request is handled.
  Metrics& metrics() { return metrics_; }

 private:
  Result<Response> Route(const Request& request, const User* known, AuditRecord* record);
  Result<void> MayDo(const User& user, const std::string& method, const RequestInfo& info,
                     AuditRecord* record) const;
  // Puts an open watch under supervision.
  Result<void> Oversee(const Request& request, RequestInfo info, const User& sender,
                       Response& response);
  Request CredentialsOf(const Request& request) const;
  Result<Response> Resource(const Request& request, RequestInfo info, const User& user,
                            const Deadline& deadline, AuditRecord* record);
  Result<Response> NonResource(const Request& request, const RequestInfo& info);
  // What a path is that names no resource, as a GET of it says.
  Result<Response> Document(const Request& request, const RequestInfo& info);

  const Hub& hub_;
  Metrics metrics_;
  std::vector<Counter*> answers_;  // by the first digit of the code
  DocumentCache documents_;
  Discovery discovery_{documents_, hub_.external_url};
  OpenApiPaths openapi_{documents_, hub_.docs};
  // Ask again about open watches where that may wait; null where it never does. Last, so that
  // nobody asks while the rest goes.
  std::unique_ptr<WorkerPool> checkers_;
};

}  // namespace mailroom::apiserver
