#include "apiserver/auth/service_account_tokens.h"

#include <algorithm>

#include "apiserver/auth/impersonate.h"
#include "apiserver/auth/uid.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/resource_key.h"

namespace mailroom::apiserver {
namespace {

// Private claims: Kubernetes' own, and the workspace.
constexpr std::string_view kClaims = "kubernetes.io";
constexpr std::string_view kWorkspaceClaim = "mailbox.kubestellar.io/workspace";

std::int64_t Seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string LowerKind(const std::string& kind) {
  return kind == "Pod" ? "pod" : kind == "Node" ? "node" : "secret";
}

GroupResource ResourceOf(const std::string& kind) {
  return {"", kind == "Pod" ? "pods" : kind == "Node" ? "nodes" : "secrets"};
}

std::vector<std::string> AudiencesOf(const Json& claims) {
  const Json* audience = Find(claims, {"aud"});
  if (audience == nullptr) return {};
  if (audience->is_string()) return {StringAt(claims, {"aud"})};
  return StringsAt(claims, {"aud"});
}

// Whether it is still the object a token was issued for. One that is being deleted keeps its tokens
// a little, so that it can end in order.
bool IsThere(const ObjectPtr& object, std::string_view uid, std::int64_t now) {
  if (object == nullptr || object->meta().uid != uid) return false;
  if (object->meta().deletion_timestamp.empty()) return true;
  return now - ParseTime(object->meta().deletion_timestamp) < limits::kDeletedTokenGrace.count();
}

// The token of a Secret holds as long as it is the one in there.
bool IsKept(const ObjectPtr& secret, std::string_view token) {
  const std::string text = StringAt(secret->ToJson(), {"data", "token"});
  return openapi::DecodeBase64(text).value_or("") == token;
}

}  // namespace

std::string ServiceAccountTokens::IssuerOf(std::string_view workspace) const {
  return issuer_ + "/clusters/" + std::string(workspace);
}

std::string ServiceAccountTokens::Issue(const TokenSpec& spec) const {
  const std::int64_t now = Seconds(clock_.Now());
  Json known = {{"namespace", spec.ns},
                {"serviceaccount", {{"name", spec.account}, {"uid", spec.account_uid}}}};
  if (!spec.bound.kind.empty()) {
    known[LowerKind(spec.bound.kind)] = {{"name", spec.bound.name}, {"uid", spec.bound.uid}};
  }
  if (spec.warn_after.count() > 0) known["warnafter"] = now + spec.warn_after.count();
  Json claims = {{"iss", IssuerOf(spec.workspace)},
                 {"sub", std::string(kServiceAccountPrefix) + spec.ns + ":" + spec.account},
                 {"aud", spec.audiences},
                 {"iat", now},
                 {"nbf", now},
                 {"jti", NewUid()},
                 {std::string(kWorkspaceClaim), spec.workspace},
                 {std::string(kClaims), std::move(known)}};
  if (spec.validity.count() > 0) claims["exp"] = now + spec.validity.count();
  return keys_.Sign(claims);
}

bool ServiceAccountTokens::Exists(const std::string& workspace, const std::string& ns,
                                  const Bound& bound) const {
  const ObjectPtr object = store_.Get({Workspace(workspace), ResourceOf(bound.kind),
                                       bound.kind == "Node" ? std::string() : ns, bound.name});
  return IsThere(object, bound.uid, Seconds(clock_.Now()));
}

Result<ServiceAccountTokens::Verified> ServiceAccountTokens::Verify(
    std::string_view token, std::vector<std::string> audiences) const {
  const Json claims = TRY(keys_.Verify(token));
  const std::string workspace = StringAt(claims, {kWorkspaceClaim});
  const std::string ns = StringAt(claims, {kClaims, "namespace"});
  const std::string name = StringAt(claims, {kClaims, "serviceaccount", "name"});
  const std::string uid = StringAt(claims, {kClaims, "serviceaccount", "uid"});
  const std::string user_name = std::string(kServiceAccountPrefix) + ns + ":" + name;
  if (StringAt(claims, {"iss"}) != IssuerOf(workspace) || StringAt(claims, {"sub"}) != user_name) {
    return Unauthorized();
  }
  const ResourceKey key{Workspace(workspace), kServiceAccountsResource, ns, name};
  if (!key.Check().ok()) return Unauthorized();
  const std::int64_t now = Seconds(clock_.Now());
  Bound bound;
  for (const char* kind : {"Pod", "Secret", "Node"}) {
    const Json* part = Find(claims, {kClaims, LowerKind(kind)});
    // A pod's token may name its node besides; the pod is what it is bound to.
    if (part == nullptr || !bound.kind.empty()) continue;
    bound = {kind, StringAt(*part, {"name"}), StringAt(*part, {"uid"})};
  }
  // Only the token of a Secret lives for ever, which is as long as the Secret.
  const std::int64_t ends = IntAt(claims, {"exp"}, bound.kind == "Secret" ? now + 1 : 0);
  if (ends <= now || IntAt(claims, {"nbf"}) > now) return Unauthorized();

  if (audiences.empty()) audiences = {IssuerOf(workspace)};
  Verified out;
  const std::vector<std::string> meant = AudiencesOf(claims);
  for (std::string& audience : audiences) {
    if (std::find(meant.begin(), meant.end(), audience) != meant.end()) {
      out.audiences.push_back(std::move(audience));
    }
  }
  if (out.audiences.empty()) return Unauthorized();

  const ObjectPtr account = store_.Get(key);
  if (!IsThere(account, uid, now)) return Unauthorized();
  if (!bound.kind.empty() && !Exists(workspace, ns, bound)) return Unauthorized();
  if (Find(claims, {"exp"}) == nullptr) {
    const ObjectPtr secret = store_.Get({Workspace(workspace), kSecretsResource, ns, bound.name});
    if (secret == nullptr || !IsKept(secret, token)) return Unauthorized();
  }

  out.user = User{user_name, ServiceAccountGroups(ns), uid};
  out.user.home = workspace;
  out.user.extra["authentication.kubernetes.io/credential-id"] = {"JTI=" + StringAt(claims, {"jti"})};
  if (bound.kind == "Pod" || bound.kind == "Node") {
    const std::string prefix = "authentication.kubernetes.io/" + LowerKind(bound.kind);
    out.user.extra[prefix + "-name"] = {bound.name};
    out.user.extra[prefix + "-uid"] = {bound.uid};
  }
  return out;
}

Json ServiceAccountTokens::Configuration(std::string_view workspace) const {
  return {{"issuer", IssuerOf(workspace)},
          {"jwks_uri", IssuerOf(workspace) + "/openid/v1/jwks"},
          {"response_types_supported", {"id_token"}},
          {"subject_types_supported", {"public"}},
          {"id_token_signing_alg_values_supported", keys_.algorithms()}};
}

}  // namespace mailroom::apiserver
