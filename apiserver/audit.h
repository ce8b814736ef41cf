// The record of what was asked, by whom and how it ended: audit.k8s.io/v1 Events, as the policy
// chooses, each naming its workspace. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/auth/audit_log.h"
#include "apiserver/auth/audit_policy.h"
#include "apiserver/request_info.h"
#include "storage/object/clock.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// One request on its way.
struct AuditRecord {
  std::string id;
  std::chrono::system_clock::time_point received;
  RequestInfo info = {};
  User user = {};
  std::optional<User> impersonated = {};
  AuditChoice choice = {};
  std::string decision = {};  // allow or forbid, once known
  std::string reason = {};
  std::map<std::string, std::string> annotations = {};  // of admission
  // The request was allowed and is one that is served: only then are bodies recorded.
  bool served = false;
};

class Audit {
 public:
  Audit(AuditPolicy policy, std::unique_ptr<AuditLog> log, const Clock& clock)
      : policy_(std::move(policy)), log_(std::move(log)), clock_(clock) {}

  AuditRecord Begin(std::string id) const { return {std::move(id), clock_.Now()}; }
  // The request is understood and its user known: what is to be recorded is decided.
  void Received(AuditRecord& record, const Request& request) const;
  // The answer is known. A stream's end is told by the function returned, if any.
  std::function<void()> Answered(AuditRecord record, const Request& request,
                                 const Response& response) const;
  // Events that could not be written.
  std::uint64_t lost() const { return log_->lost(); }

 private:
  Json EventOf(const AuditRecord& record, const Request& request, AuditStage stage) const;

  const AuditPolicy policy_;
  const std::unique_ptr<AuditLog> log_;
  const Clock& clock_;
};

}  // namespace mailroom::apiserver
