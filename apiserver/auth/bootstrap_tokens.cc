#include "apiserver/auth/bootstrap_tokens.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "openapi/base64.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kIdBytes = 6, kSecretBytes = 16;
constexpr std::string_view kGroup = "system:bootstrappers";

std::string DataAt(const Json& secret, std::string_view name) {
  return openapi::DecodeBase64(StringAt(secret, {"data", name})).value_or("");
}

bool Equal(const std::string& a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// The Secret of a token that can still be used to authenticate, or null.
Json UsableSecret(const storage::CachedStore& store, const Clock& clock,
                  std::string_view workspace, std::string_view id) {
  const ObjectPtr object =
      store.Get({Workspace(std::string(workspace)), {"", "secrets"}, "kube-system",
                 std::string(kBootstrapSecretPrefix) + std::string(id)});
  if (object == nullptr || !object->meta().deletion_timestamp.empty()) return nullptr;
  Json secret = object->ToJson();
  if (StringAt(secret, {"type"}) != kBootstrapSecretType || DataAt(secret, "token-id") != id ||
      DataAt(secret, "usage-bootstrap-authentication") != "true") {
    return nullptr;
  }
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               clock.Now().time_since_epoch()).count();
  if (const std::string ends = DataAt(secret, "expiration"); !ends.empty()) {
    if (ParseTime(ends) <= now) return nullptr;
  }
  if (!DataAt(secret, "mailbox").empty()) {
    const std::int64_t made = ParseTime(StringAt(secret, {"metadata", "creationTimestamp"}));
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(limits::kBootstrapTokenAge);
    if (now - made > age.count()) return nullptr;
  }
  return secret;
}

}  // namespace

bool LooksLikeBootstrapToken(std::string_view token) {
  if (token.size() != kIdBytes + 1 + kSecretBytes || token[kIdBytes] != '.') return false;
  return std::all_of(token.begin(), token.end(), [&](const char& c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || &c == token.data() + kIdBytes;
  });
}

Result<User> VerifyBootstrapToken(const storage::CachedStore& store, const Clock& clock,
                                  std::string_view workspace, std::string_view token) {
  const std::string_view id = token.substr(0, kIdBytes);
  const Json secret = UsableSecret(store, clock, workspace, id);
  if (secret.is_null() || !Equal(DataAt(secret, "token-secret"), token.substr(kIdBytes + 1))) {
    return Unauthorized();
  }
  User user{std::string(kBootstrapUserPrefix) + std::string(id), {std::string(kGroup)}};
  user.home = workspace;
  user.joins = DataAt(secret, "mailbox");
  user.spent = !DataAt(secret, kSpentEntry).empty();
  std::string extra = DataAt(secret, "auth-extra-groups");
  for (std::size_t at = 0; at < extra.size();) {
    const std::size_t comma = std::min(extra.find(',', at), extra.size());
    const std::string group = extra.substr(at, comma - at);
    if (!group.starts_with(std::string(kGroup) + ":")) return Unauthorized();
    user.groups.push_back(group);
    at = comma + 1;
  }
  return user;
}

std::string MailboxJoinedBy(const storage::CachedStore& store, const Clock& clock,
                            std::string_view workspace, std::string_view request,
                            std::string_view id) {
  const Json secret = UsableSecret(store, clock, workspace, id);
  if (secret.is_null() || request.empty() || DataAt(secret, kSpentEntry) != request) return "";
  return DataAt(secret, "mailbox");
}

}  // namespace mailroom::apiserver
