// Tokens of service accounts: issued for one workspace, audience and time, and believed only while
// the account (and the object a token is bound to) is still the one it was issued for.
// Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/jwt.h"
#include "apiserver/auth/user.h"
#include "storage/cached_store.h"
#include "storage/object/clock.h"

namespace mailroom::apiserver {

inline const GroupResource kServiceAccountsResource{"", "serviceaccounts"};
inline const GroupResource kSecretsResource{"", "secrets"};

// Kubelets ask for 3607 seconds, and are told so; such a token is good for a year, as in Kubernetes,
// because programs of old read their token once.
inline constexpr std::chrono::seconds kPodTokenTold{3607};
inline constexpr std::chrono::seconds kPodTokenReal = std::chrono::hours(24 * 365);

// An object named with its identity.
struct Bound {
  std::string kind, name, uid;  // kind is Pod, Secret or Node; "" for none
};

struct TokenSpec {
  std::string workspace, ns, account, account_uid;
  std::vector<std::string> audiences;
  std::chrono::seconds validity{0};  // zero: for ever (token Secrets)
  Bound bound = {};
  // When clients are expected to have a new one, though this one still holds; zero: at its end.
  std::chrono::seconds warn_after{0};
};

class ServiceAccountTokens {
 public:
  // `issuer` is the URL of the hub; that of a workspace follows from it.
  ServiceAccountTokens(TokenKeys keys, std::string issuer, const storage::CachedStore& store,
                       const Clock& clock)
      : keys_(std::move(keys)), issuer_(std::move(issuer)), store_(store), clock_(clock) {}

  std::string IssuerOf(std::string_view workspace) const;
  std::string Issue(const TokenSpec& spec) const;

  struct Verified {
    User user;
    std::vector<std::string> audiences;  // those asked for that the token is meant for
  };
  // Unauthorized when the token does not hold now or is meant for none of `audiences` (empty:
  // the API of the workspace that issued it).
  Result<Verified> Verify(std::string_view token, std::vector<std::string> audiences) const;

  // The documents by which others verify tokens of a workspace.
  Json Configuration(std::string_view workspace) const;
  const Json& key_set() const { return keys_.key_set(); }

 private:
  bool Exists(const std::string& workspace, const std::string& ns, const Bound& bound) const;

  const TokenKeys keys_;
  const std::string issuer_;
  const storage::CachedStore& store_;
  const Clock& clock_;
};

}  // namespace mailroom::apiserver
