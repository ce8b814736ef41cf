#include "apiserver/auth/authenticator.h"

#include <algorithm>

#include "apiserver/auth/bootstrap_tokens.h"
#include "apiserver/auth/homes.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kAuthorization = "authorization";

std::string_view FirstOf(const Headers& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const std::string_view value = headers.Get(name); !value.empty()) return value;
  }
  return "";
}

// Groups that a front proxy puts nobody into: masters and syncers prove themselves to the hub, and
// the accounts and bootstrap tokens of root are not those of the host.
bool IsOwnGroup(std::string_view group) {
  return group == kMasters || group == kSyncers || group.starts_with("system:serviceaccounts") ||
         group.starts_with("system:bootstrappers");
}

// What a front proxy says.
User ProxiedUser(const Headers& headers, const RequestHeaders& names) {
  User user{std::string(FirstOf(headers, names.user))};
  if (IsLocalName(user.name)) user.home = kHostHome;
  user.uid = FirstOf(headers, names.uid);
  for (const std::string& name : names.group) {
    for (const std::string_view group : headers.All(name)) {
      (IsOwnGroup(group) ? user.host_groups : user.groups).emplace_back(group);
    }
  }
  for (const auto& [header, value] : headers.fields()) {
    for (const std::string& prefix : names.extra_prefix) {
      if (!header.starts_with(prefix)) continue;
      user.extra[ExtraKey(header, prefix)].push_back(value);
      break;
    }
  }
  return user;
}

// Whether a header of that name says something about the user.
bool IsNamed(const std::string& header, const RequestHeaders& names) {
  for (const auto* list : {&names.user, &names.uid, &names.group}) {
    if (std::find(list->begin(), list->end(), header) != list->end()) return true;
  }
  return std::any_of(names.extra_prefix.begin(), names.extra_prefix.end(),
                     [&](const std::string& prefix) { return header.starts_with(prefix); });
}

User CertificateUser(const Peer& peer) {
  User user{peer.common_name, peer.organizations};
  if (user.InGroup(kSyncers) && user.name.starts_with(kSyncerPrefix)) {
    user.home = user.name.substr(kSyncerPrefix.size());
  }
  return user;
}

// The token of a Bearer header, "" when it is none.
std::string_view BearerToken(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() <= kScheme.size()) return "";
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(header[i])) != kScheme[i]) return "";
  }
  header.remove_prefix(kScheme.size());
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

}  // namespace

std::string ExtraKey(std::string_view header, std::string_view prefix) {
  std::string key;
  const std::string_view raw = header.substr(prefix.size());
  if (!PercentDecode(raw, key)) key = raw;
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key;
}

void AddAuthenticated(User& user) {
  if (!user.InGroup(kAuthenticated)) user.groups.emplace_back(kAuthenticated);
}

Result<User> Authenticator::AuthenticateToken(std::string_view token,
                                              std::string_view workspace) const {
  User user;
  if (LooksLikeBootstrapToken(token)) {
    if (!parts_.authorizer.IsLive(workspace)) return Unauthorized();
    user = TRY(VerifyBootstrapToken(parts_.store, parts_.clock, workspace, token));
  } else {
    user = TRY(parts_.tokens.Verify(token, {})).user;
  }
  AddAuthenticated(user);
  return user;
}

// A stream may outlast the certificate it was opened with.
bool Authenticator::CertificateFails(const Peer& peer) const {
  const bool ended = peer.until != 0 &&
                     peer.until <= std::chrono::system_clock::to_time_t(parts_.clock.Now());
  return peer.certificate_rejected || ended;
}

Authenticator::Proof Authenticator::ProofOf(const Request& request) const {
  const Peer& peer = request.peer;
  const bool holds = !CertificateFails(peer);
  if (holds && peer.front_proxy) {
    if (!FirstOf(request.headers, parts_.request_headers.user).empty()) return Proof::kFrontProxy;
  } else if (holds && !peer.common_name.empty()) {
    return Proof::kCertificate;
  }
  return request.headers.Get(kAuthorization).empty() ? Proof::kNone : Proof::kHeader;
}

Result<User> Authenticator::Authenticate(const Request& request, std::string_view workspace) const {
  switch (ProofOf(request)) {
    case Proof::kFrontProxy: {
      User user = ProxiedUser(request.headers, parts_.request_headers);
      if (user.name != kAnonymous) AddAuthenticated(user);
      return user;
    }
    case Proof::kCertificate: {
      User user = CertificateUser(request.peer);
      AddAuthenticated(user);
      return user;
    }
    case Proof::kHeader: {
      const std::string_view token = BearerToken(request.headers.Get(kAuthorization));
      if (token.empty() || token.size() > limits::kTokenBytes) return Unauthorized();
      return AuthenticateToken(token, workspace);
    }
    case Proof::kNone:
      break;
  }
  if (CertificateFails(request.peer)) return Unauthorized();
  return User{std::string(kAnonymous), {std::string(kUnauthenticated)}};
}

Request Authenticator::CredentialsOf(const Request& request) const {
  Request out;
  out.peer = request.peer;
  const Proof proof = ProofOf(request);
  for (const auto& [name, value] : request.headers.fields()) {
    const bool decides = proof == Proof::kFrontProxy ? IsNamed(name, parts_.request_headers)
                                                     : proof == Proof::kHeader && name == kAuthorization;
    if (decides) out.headers.Add(name, value);
  }
  return out;
}

}  // namespace mailroom::apiserver
