#include "apiserver/auth/authenticator.h"

#include <algorithm>

#include "apiserver/auth/bootstrap_tokens.h"
#include "apiserver/auth/homes.h"

namespace mailroom::apiserver {
namespace {

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
User ProxiedUser(const Headers& headers, const RequestHeaders& names, std::string_view user_name) {
  User user{std::string(user_name)};
  if (IsLocalName(user_name)) user.home = kHostHome;
  user.uid = FirstOf(headers, names.uid);
  for (const std::string& name : names.group) {
    for (const std::string_view group : headers.All(name)) {
      if (!IsOwnGroup(group)) user.groups.emplace_back(group);
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

Result<User> Authenticator::Authenticate(const Request& request, std::string_view workspace) const {
  const Peer& peer = request.peer;
  // A stream may outlast the certificate it was opened with.
  const bool ended = peer.until != 0 &&
                     peer.until <= std::chrono::system_clock::to_time_t(parts_.clock.Now());
  const bool rejected = peer.certificate_rejected || ended;
  if (peer.front_proxy && !rejected) {
    const std::string_view name = FirstOf(request.headers, parts_.request_headers.user);
    if (!name.empty()) {
      User user = ProxiedUser(request.headers, parts_.request_headers, name);
      if (user.name != kAnonymous) AddAuthenticated(user);
      return user;
    }
  } else if (!peer.common_name.empty() && !rejected) {
    User user = CertificateUser(peer);
    AddAuthenticated(user);
    return user;
  }
  if (const std::string_view header = request.headers.Get("authorization"); !header.empty()) {
    const std::string_view token = BearerToken(header);
    if (token.empty()) return Unauthorized();
    return AuthenticateToken(token, workspace);
  }
  if (rejected) return Unauthorized();
  return User{std::string(kAnonymous), {std::string(kUnauthenticated)}};
}

}  // namespace mailroom::apiserver
