// The way of a request through the house, one straight function: what is asked, who asks, may
// they, which verb, and the answer. Runs on the calling thread from beginning to end; thread-safe.
#pragma once

#include "apiserver/audit.h"
#include "apiserver/call.h"
#include "apiserver/discovery.h"
#include "apiserver/metrics.h"
#include "apiserver/openapi_paths.h"
#include "apiserver/pace.h"

namespace mailroom::apiserver {

class Dispatcher {
 public:
  explicit Dispatcher(const Hub& hub);

  // Never fails: errors are rendered.
  Response Handle(const Request& request);
  // The same for a caller inside the process, whose identity needs no proof.
  Response HandleAs(const Request& request, const User& user);
  // Writes may wait, and so may reads of a future revision or of a remote engine; lists of a large
  // workspace are long.
  Pace PaceOf(const Request& request) const;

  // The workspace a request asks for, by its path alone, for sharing the server's time fairly. All
  // that name none that exists are one flow, so that making up names gains nothing.
  std::string FlowOf(const Request& request) const;

  const Hub& hub() const { return hub_; }
  // To add series of other parts, before the first request is handled.
  Metrics& metrics() { return metrics_; }

 private:
  bool MayBeLong(const Request& request) const;
  bool MayConvert(const Request& request) const;
  Result<Response> Route(const Request& request, const User* known, AuditRecord* record);
  Result<void> MayDo(const User& user, const std::string& method, const RequestInfo& info,
                     AuditRecord* record) const;
  // Puts an open watch under supervision.
  Result<void> Oversee(const Request& request, RequestInfo info, User user, Response& response);
  Result<Response> Resource(const Request& request, RequestInfo info, const User& user,
                            const Deadline& deadline, AuditRecord* record);
  Result<Response> NonResource(const Request& request, const RequestInfo& info);

  const Hub& hub_;
  Metrics metrics_;
  std::vector<Counter*> answers_;  // by the first digit of the code
  DocumentCache documents_;
  Discovery discovery_{documents_};
  OpenApiPaths openapi_{documents_};
};

}  // namespace mailroom::apiserver
