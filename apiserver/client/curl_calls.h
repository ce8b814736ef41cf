// One-off HTTPS calls to addresses that users wrote down (webhooks): each with its own CA, time
// and size bound, and none to an address the operator refuses. The address is checked where it is
// connected to, so a name that resolves elsewhere the second time gains nothing; redirects are
// not followed and no proxy is asked. Blocks the calling thread; thread-safe. Connections are
// kept for the next call.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apiserver/client/address_policy.h"
#include "storage/object/result.h"

namespace mailroom::client {

struct OutgoingCall {
  std::string url;
  std::string ca_pem;      // "" means the system's
  std::string connect_to;  // host:port to dial instead of the URL's; "" for the URL's
  std::string body;        // POSTed as JSON
  std::chrono::milliseconds timeout{10'000};
  std::size_t max_bytes = 0;  // of the answer
};

struct OutgoingAnswer {
  int code = 0;
  std::string body;
  std::string error;  // why there is no answer, in the words of Go's HTTP client; else ""
};

class OutgoingCalls {
 public:
  explicit OutgoingCalls(AddressPolicy policy);
  ~OutgoingCalls();
  // Runs all of them side by side; answers in the same order.
  std::vector<OutgoingAnswer> Run(const std::vector<OutgoingCall>& calls);

 private:
  struct Session;
  std::unique_ptr<Session> Take();
  void Return(std::unique_ptr<Session> session);

  const AddressPolicy policy_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;  // guarded by mutex_
};

}  // namespace mailroom::client
