// Who is asking. In order: the identity a front proxy vouches for, a client certificate, a bearer
// token, and nobody in particular. The first that holds decides; if one is presented and none holds, it is
// Unauthorized, never anonymous. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/service_account_tokens.h"
#include "apiserver/auth/user.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// Headers by which a front proxy names the user, lower-case.
struct RequestHeaders {
  std::vector<std::string> user = {"x-remote-user"};
  std::vector<std::string> uid = {"x-remote-uid"};
  std::vector<std::string> group = {"x-remote-group"};
  std::vector<std::string> extra_prefix = {"x-remote-extra-"};
};

class Authenticator {
 public:
  struct Parts {
    const storage::CachedStore& store;
    const Clock& clock;
    const Authorizer& authorizer;
    const ServiceAccountTokens& tokens;
    RequestHeaders request_headers = {};
  };
  explicit Authenticator(Parts parts) : parts_(std::move(parts)) {}

  // `workspace` is the one asked for, "" for all.
  Result<User> Authenticate(const Request& request, std::string_view workspace) const;
  // Those parts of the request that decide who sent it: all that is needed to ask again later.
  Request CredentialsOf(const Request& request) const;
  // The user of a bearer token presented to that workspace.
  Result<User> AuthenticateToken(std::string_view token, std::string_view workspace) const;

 private:
  enum class Proof { kFrontProxy, kCertificate, kHeader, kNone };
  Proof ProofOf(const Request& request) const;
  bool CertificateFails(const Peer& peer) const;

  const Parts parts_;
};

// Adds the group of everybody who proved who they are.
void AddAuthenticated(User& user);
// `Impersonate-Extra-` and the like: the key behind the prefix, percent-decoded and lower-case.
std::string ExtraKey(std::string_view header, std::string_view prefix);

}  // namespace mailroom::apiserver
