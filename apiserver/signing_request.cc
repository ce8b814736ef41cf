#include "apiserver/signing_request.h"

#include <algorithm>

#include "apiserver/auth/bootstrap_tokens.h"
#include "apiserver/conditions.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

std::string RequestPem(const Json& request) {
  return openapi::DecodeBase64(StringAt(request, {"spec", "request"})).value_or("");
}

// Rights on a signer are rights on its full name or on all of its domain.
bool MayDecide(const Call& call, std::string_view verb, const std::string& signer) {
  const std::string domain = signer.substr(0, signer.find('/')) + "/*";
  for (const std::string& name : {signer, domain}) {
    Attributes asked;
    asked.workspace = call.info.workspace.name();
    asked.verb = verb;
    asked.group = kSigningRequestsResource.group;
    asked.version = "v1";
    asked.resource = "signers";
    asked.name = name;
    if (call.hub.authorizer.Decide(call.user, asked).allowed) return true;
  }
  return false;
}

Result<void> CheckMayDecide(const Call& call, const Json& live, std::string_view verb) {
  const std::string signer = StringAt(live, {"spec", "signerName"});
  if (MayDecide(call, verb, signer)) return Ok();
  return Forbidden(call.type->plural, call.type->gvk.group, call.info.name,
                   "user not permitted to " + std::string(verb) + " requests with signerName " +
                       Quoted(signer));
}

// Conditions of one type, in their order.
std::vector<const Json*> ConditionsOfType(const Json& conditions, const std::string& type) {
  std::vector<const Json*> found;
  for (const Json& condition : conditions) {
    if (StringAt(condition, {"type"}) == type) found.push_back(&condition);
  }
  return found;
}

Json ConditionsOf(const Json& request) {
  const Json* conditions = Find(request, {"status", "conditions"});
  return conditions != nullptr && conditions->is_array() ? *conditions : Json::array();
}

// Whether neither says more than the other; an empty list says nothing.
bool SameStatus(const Json& a, const Json& b) {
  return StringAt(a, {"status", "certificate"}) == StringAt(b, {"status", "certificate"}) &&
         ConditionsOf(a) == ConditionsOf(b);
}

// A signer leaves the decisions as they are; that it brings or drops none is validated.
void KeepDecisions(Json& conditions, const Json& before) {
  for (const char* type : {"Approved", "Denied"}) {
    const auto kept = ConditionsOfType(before, type);
    if (kept.size() != ConditionsOfType(conditions, type).size()) continue;
    auto next = kept.begin();
    for (Json& condition : conditions) {
      if (StringAt(condition, {"type"}) == type) condition = **next++;
    }
  }
}

// Conditions that are written get the times they lack.
Json WrittenConditions(const Json& object, const Json& live, bool decisions,
                       const std::string& now) {
  Json conditions = ConditionsOf(object);
  const Json before = ConditionsOf(live);
  if (!decisions) KeepDecisions(conditions, before);
  for (Json& condition : conditions) {
    if (!condition.is_object()) continue;
    if (StringAt(condition, {"lastUpdateTime"}).empty()) condition["lastUpdateTime"] = now;
    if (!StringAt(condition, {"lastTransitionTime"}).empty()) continue;
    condition["lastTransitionTime"] = now;
    for (const Json* known : ConditionsOfType(before, StringAt(condition, {"type"}))) {
      const std::string then = StringAt(*known, {"lastTransitionTime"});
      if (then.empty() || StringAt(*known, {"status"}) != StringAt(condition, {"status"})) continue;
      condition["lastTransitionTime"] = then;
      break;
    }
  }
  return conditions;
}

// The mailbox named by a syncer's subject, "" when it is not one exactly.
std::string MailboxOf(const CertificateFacts& facts) {
  if (facts.organizations != std::vector<std::string>{std::string(kSyncers)}) return "";
  if (!facts.common_name.starts_with(kSyncerPrefix)) return "";
  return facts.common_name.substr(kSyncerPrefix.size());
}

bool IsClientUse(const Json& request) {
  const std::vector<std::string> usages = StringsAt(request, {"spec", "usages"});
  const bool known = std::all_of(usages.begin(), usages.end(), [](const std::string& usage) {
    return usage == "client auth" || usage == "digital signature" || usage == "key encipherment";
  });
  return known && std::find(usages.begin(), usages.end(), "client auth") != usages.end();
}

bool IsOfType(const Hub& hub, const std::string& workspace, std::string_view type) {
  const ObjectPtr object = hub.store.Get({Workspace(std::string(kRootWorkspace)),
                                          kWorkspacesResource, "", workspace});
  return object != nullptr && object->ScalarAt("spec.type") == type;
}

// Whether requests in `workspace` may be about `mailbox` at all: in root, in the workspace of its
// inventory entry, and in itself.
bool Concerns(const Hub& hub, const Workspace& workspace, const std::string& mailbox) {
  const auto parts = openapi::ParseMailboxName(mailbox);
  if (!parts) return false;  // the name of one made by hand may be another's tomorrow
  if (!IsOfType(hub, mailbox, "mailbox") || !IsOfType(hub, parts->inventory, "inventory")) {
    return false;
  }
  return workspace.name() == kRootWorkspace || workspace.name() == mailbox ||
         workspace.name() == parts->inventory;
}

SigningStep SyncerStep(const Hub& hub, const Workspace& workspace, const Json& request) {
  using Kind = SigningStep::Kind;
  const auto facts = ReadSigningRequest(RequestPem(request));
  const std::string mailbox = facts.ok() ? MailboxOf(*facts) : "";
  if (mailbox.empty() || !IsClientUse(request) || !Concerns(hub, workspace, mailbox)) {
    if (ConditionOf(request, "Approved") == nullptr) return {};
    return {Kind::kFail, "not a request for the certificate of a syncer"};
  }
  if (ConditionOf(request, "Approved") != nullptr) return {Kind::kSign};
  const std::string user = StringAt(request, {"spec", "username"});
  const std::vector<std::string> groups = StringsAt(request, {"spec", "groups"});
  const bool is_syncer = std::find(groups.begin(), groups.end(), kSyncers) != groups.end();
  if (is_syncer && user == facts->common_name && workspace.name() == mailbox) {
    return {Kind::kApprove, "renewal of the syncer's own certificate"};
  }
  if (!user.starts_with(kBootstrapUserPrefix)) return {};
  const std::string name = StringAt(request, {"metadata", "name"});
  const std::string id = user.substr(kBootstrapUserPrefix.size());
  if (MailboxJoinedBy(hub.store, hub.clock, workspace.name(), name, id) != mailbox) return {};
  return {Kind::kApprove, "the join token of this mailbox"};
}

// Certificates name users of the whole hub, so only root's own decisions are signed, and nobody is
// made a master or a syncer this way.
SigningStep ClientStep(const Workspace& workspace, const Json& request) {
  using Kind = SigningStep::Kind;
  if (workspace.name() != kRootWorkspace || ConditionOf(request, "Approved") == nullptr) return {};
  const auto facts = ReadSigningRequest(RequestPem(request));
  if (!facts.ok() || facts->common_name.empty() || !IsClientUse(request)) {
    return {Kind::kFail, "not a request for a client certificate"};
  }
  for (const std::string& group : facts->organizations) {
    if (group == kMasters || group == kSyncers) {
      return {Kind::kFail, "use of " + group + " group is not allowed"};
    }
  }
  return {Kind::kSign};
}

// Join tokens and syncers ask for the certificate of their own mailbox's syncer and no other. What
// cannot be read is refused by validation.
Result<void> CheckSubject(const Call& call, const Json& object) {
  std::string mailbox = call.user.joins;
  if (call.user.InGroup(kSyncers) && call.user.name.starts_with(kSyncerPrefix)) {
    mailbox = call.user.name.substr(kSyncerPrefix.size());
  }
  if (mailbox.empty()) return Ok();
  const auto facts = ReadSigningRequest(RequestPem(object));
  if (!facts.ok()) return Ok();
  // Only what will be signed: nobody is to wait for another, nor a token to be spent on it.
  if (StringAt(object, {"spec", "signerName"}) == kSyncerSigner && MailboxOf(*facts) == mailbox &&
      IsClientUse(object) && Concerns(call.hub, call.info.workspace, mailbox)) {
    return Ok();
  }
  return Forbidden(call.type->plural, call.type->gvk.group, StringAt(object, {"metadata", "name"}),
                   "user " + Quoted(call.user.name) +
                       " may ask for the client certificate of the syncer of mailbox " +
                       Quoted(mailbox) + " only, and only when an inventory holds its entry");
}

bool IsAnswered(const Json& request) {
  return !StringAt(request, {"status", "certificate"}).empty() ||
         ConditionOf(request, "Denied") != nullptr || ConditionOf(request, "Failed") != nullptr;
}

// A syncer that asks again and again waits for its answers; a join token asks once.
Result<void> CheckUnderWay(const Call& call) {
  if (!call.user.InGroup(kSyncers)) return Ok();
  std::size_t waiting = 0;
  const storage::Scope all{call.info.workspace, kSigningRequestsResource, ""};
  for (const storage::Entry& entry : TRY(call.hub.store.List({.scope = all})).entries) {
    if (entry.object->ScalarAt("spec.username") != call.user.name) continue;
    if (!IsAnswered(entry.object->ToJson())) ++waiting;
  }
  if (waiting < limits::kRequestsOfOne) return Ok();
  return TooManyRequests("this syncer has " + std::to_string(waiting) +
                             " signing requests under way", 1);
}

}  // namespace

Result<void> PrepareSigningRequest(Call& call, Json& object, const Json* live) {
  if (live == nullptr) {
    object.erase("status");  // nothing has been decided about it
    Json& spec = object["spec"];
    if (!spec.is_object()) return Ok();
    spec["username"] = call.user.name;
    for (const char* member : {"uid", "groups", "extra"}) spec.erase(member);
    if (!call.user.uid.empty()) spec["uid"] = call.user.uid;
    if (!call.user.groups.empty()) spec["groups"] = call.user.groups;
    for (const auto& [key, values] : call.user.extra) spec["extra"][key] = values;
    TRY(CheckSubject(call, object));
    return CheckUnderWay(call);
  }
  const std::string now = FormatTime(call.hub.clock.Now());
  const std::string& subresource = call.info.subresource;
  if (auto spec = live->find("spec"); spec != live->end()) object["spec"] = *spec;
  if (subresource == "approval") {
    Json conditions = WrittenConditions(object, *live, true, now);
    object["status"] = live->value("status", Json::object());
    object["status"].erase("conditions");
    if (!conditions.empty()) object["status"]["conditions"] = std::move(conditions);
    return CheckMayDecide(call, *live, "approve");
  }
  if (subresource == "status") {
    Json conditions = WrittenConditions(object, *live, false, now);
    if (!conditions.empty()) object["status"]["conditions"] = std::move(conditions);
    return SameStatus(object, *live) ? Ok() : CheckMayDecide(call, *live, "sign");
  }
  return Ok();
}

std::vector<Cause> ValidateSigningRequest(const Call&, const Json& object, const Json* live) {
  // Without such a block something else has been said.
  const std::string pem = RequestPem(object);
  if (live != nullptr || pem.find("CERTIFICATE REQUEST-----") == std::string::npos) return {};
  if (ReadSigningRequest(pem).ok()) return {};
  return {InvalidValue("spec.request", Quoted(StringAt(object, {"spec", "request"})),
                       "unable to parse csr")};
}

Result<void> SpendJoinToken(const Call& call, const Json& object, storage::Txn& txn) {
  if (call.user.joins.empty()) return Ok();
  const std::string name = StringAt(object, {"metadata", "name"});
  const ResourceKey key{call.info.workspace, kSecretsResource, "kube-system",
                        std::string(kBootstrapSecretPrefix) +
                            call.user.name.substr(kBootstrapUserPrefix.size())};
  const ObjectPtr secret = call.hub.store.Get(key);
  Json token = secret == nullptr ? Json() : secret->ToJson();
  if (secret == nullptr || !StringAt(token, {"data", kSpentEntry}).empty()) {
    return Forbidden(call.type->plural, call.type->gvk.group, name, "the join token is spent");
  }
  Set(token, {"data", kSpentEntry}, openapi::EncodeBase64(name));
  txn.compares.push_back({key.ToStoreKey(), secret->revision()});
  txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                            std::make_shared<const std::string>(Object::Encode(token))});
  return Ok();
}

SigningStep NextSigningStep(const Hub& hub, const Workspace& workspace, const Json& request) {
  if (IsAnswered(request)) return {};
  const std::string signer = StringAt(request, {"spec", "signerName"});
  if (signer == kSyncerSigner) return SyncerStep(hub, workspace, request);
  if (signer == kClientSigner) return ClientStep(workspace, request);
  return {};
}

Result<std::string> CertificateFor(const KeyPair& authority, const Json& request,
                                   Validity syncer_validity) {
  using std::chrono::seconds;
  const bool syncer = StringAt(request, {"spec", "signerName"}) == kSyncerSigner;
  const seconds longest = syncer ? syncer_validity : seconds(limits::kClientCertificate);
  const seconds shortest = std::min(seconds(limits::kRequestCertificateShortest), longest);
  const seconds asked(IntAt(request, {"spec", "expirationSeconds"}, longest.count()));
  return SignClient(authority, RequestPem(request), std::clamp(asked, shortest, longest));
}

}  // namespace mailroom::apiserver
