#include "apiserver/auth/impersonate.h"

#include "apiserver/auth/authenticator.h"
#include "apiserver/auth/homes.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kUser = "impersonate-user";
constexpr std::string_view kGroup = "impersonate-group";
constexpr std::string_view kUid = "impersonate-uid";
constexpr std::string_view kExtra = "impersonate-extra-";
constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";

struct Wanted {
  std::string name, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

Wanted Read(const Headers& headers) {
  Wanted wanted;
  wanted.name = headers.Get(kUser);
  wanted.uid = headers.Get(kUid);
  for (const std::string_view group : headers.All(kGroup)) wanted.groups.emplace_back(group);
  for (const auto& [header, value] : headers.fields()) {
    if (header.starts_with(kExtra)) wanted.extra[ExtraKey(header, kExtra)].push_back(value);
  }
  return wanted;
}

Result<void> CheckUser(const Authorizer& authorizer, const User& user, Attributes asked,
                       const Wanted& wanted) {
  const auto account = SplitServiceAccount(wanted.name);
  asked.group = "";
  if (account) {
    asked.resource = "serviceaccounts";
    asked.ns = account->first;
    asked.name = account->second;
  } else {
    asked.resource = "users";
    asked.name = wanted.name;
  }
  return authorizer.Check(user, asked);
}

Result<void> CheckAll(const Authorizer& authorizer, const User& user, const Attributes& where,
                      const Wanted& wanted) {
  Attributes asked{.workspace = where.workspace, .all_workspaces = where.all_workspaces,
                   .verb = "impersonate"};
  asked.version = "v1";
  TRY(CheckUser(authorizer, user, asked, wanted));
  for (const std::string& group : wanted.groups) {
    asked.resource = "groups";
    asked.name = group;
    TRY(authorizer.Check(user, asked));
  }
  asked.group = kAuthenticationGroup;
  for (const auto& [key, values] : wanted.extra) {
    asked.resource = "userextras";
    asked.subresource = key;
    for (const std::string& value : values) {
      asked.name = value;
      TRY(authorizer.Check(user, asked));
    }
  }
  if (!wanted.uid.empty()) {
    asked.resource = "uids";
    asked.subresource = "";
    asked.name = wanted.uid;
    TRY(authorizer.Check(user, asked));
  }
  return Ok();
}

}  // namespace

std::vector<std::string> ServiceAccountGroups(std::string_view ns) {
  return {"system:serviceaccounts", "system:serviceaccounts:" + std::string(ns)};
}

std::optional<std::pair<std::string, std::string>> SplitServiceAccount(std::string_view name) {
  if (!name.starts_with(kServiceAccountPrefix)) return std::nullopt;
  name.remove_prefix(kServiceAccountPrefix.size());
  const std::size_t colon = name.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == name.size()) {
    return std::nullopt;
  }
  return std::pair(std::string(name.substr(0, colon)), std::string(name.substr(colon + 1)));
}

Result<std::optional<User>> Impersonate(const Authorizer& authorizer, const User& user,
                                        const Headers& headers, const Attributes& asked) {
  const Wanted wanted = Read(headers);
  if (wanted.name.empty()) {
    if (wanted.groups.empty() && wanted.extra.empty() && wanted.uid.empty()) {
      return std::optional<User>();
    }
    const char* what = !wanted.groups.empty() ? "groups" : !wanted.uid.empty() ? "uid" : "extra";
    return BadRequest(std::string("requested ") + what + " without impersonating a user");
  }
  TRY(CheckAll(authorizer, user, asked, wanted));
  User other{wanted.name, wanted.groups, wanted.uid, wanted.extra};
  if (IsLocalName(other.name)) other.home = asked.workspace;
  if (const auto account = SplitServiceAccount(other.name); account && other.groups.empty()) {
    other.groups = ServiceAccountGroups(account->first);
  }
  if (other.name == kAnonymous) {
    if (!other.InGroup(kUnauthenticated)) other.groups.emplace_back(kUnauthenticated);
  } else if (!other.InGroup(kUnauthenticated)) {
    AddAuthenticated(other);
  }
  return std::optional<User>(std::move(other));
}

}  // namespace mailroom::apiserver
