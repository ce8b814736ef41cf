// Calls webhooks, those of admission and those that convert: finds where a service is, keeps the number of requests that wait for the
// webhooks of one workspace bounded, and lets the thread pool stand in for a waiting thread.
// Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "apiserver/client/curl_calls.h"
#include "openapi/webhook_endpoint.h"
#include "storage/cached_store.h"
#include "storage/object/deadline.h"

namespace mailroom::admission {

class WebhookClient {
 public:
  WebhookClient(const storage::CachedStore& store, client::AddressPolicy policy)
      : store_(store), calls_(policy) {}

  struct Request {
    const openapi::WebhookEndpoint* endpoint;
    std::chrono::seconds timeout;
    std::string body;
  };
  // Side by side, each within its own timeout and all within `deadline`; TooManyRequests when the
  // workspace has too many requests waiting already.
  Result<std::vector<client::OutgoingAnswer>> Call(const Workspace& workspace,
                                                   const Deadline& deadline,
                                                   const std::vector<Request>& requests);

 private:
  class Slot;
  // The call, or the reason why there is none in `error`.
  client::OutgoingCall Prepare(const Workspace& workspace, const Request& request,
                               const Deadline& deadline, std::string& error) const;

  const storage::CachedStore& store_;
  client::OutgoingCalls calls_;
  std::mutex mutex_;
  std::map<Workspace, std::size_t> waiting_;  // guarded by mutex_; entries above zero only
};

}  // namespace mailroom::admission
