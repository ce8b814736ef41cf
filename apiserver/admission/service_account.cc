#include "apiserver/admission/plugins.h"
#include "apiserver/admission/service_account_secrets.h"
#include "apiserver/auth/uid.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::admission {
namespace {

const GroupResource kServiceAccounts{"", "serviceaccounts"};
constexpr const char* kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr const char* kVolume = "kube-api-access-";
constexpr std::int64_t kTokenSeconds = 3607;  // as kube-apiserver: an hour, told apart
constexpr const char* kDefault = "default";
constexpr std::chrono::milliseconds kDefaultWait{2000};  // for the account of a new namespace

bool IsMirror(const Json& pod) {
  return Find(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr;
}

// The default account comes after its namespace, by another hand: a pod that is quicker waits.
Json AwaitDefault(const PluginCall& call) {
  const Deadline patience(Deadline::Clock::now() + call.attributes.deadline.Left(kDefaultWait));
  for (;;) {
    const Revision seen = call.store.applied();
    Json account = call.FindHere(kServiceAccounts, kDefault);
    if (!account.is_null() || patience.Passed()) return account;
    if (!call.store.WaitFor(seen.Next(), patience.Left(kDefaultWait)).ok()) return account;
  }
}

Result<Json> AccountOf(const PluginCall& call, const std::string& name) {
  Json account = call.FindHere(kServiceAccounts, name);
  if (account.is_null() && name == kDefault) account = AwaitDefault(call);
  if (!account.is_null()) return account;
  return Refuse(call.attributes, "error looking up service account " + call.attributes.ns + "/" +
                                     name + ": serviceaccount " + Quoted(name) + " not found");
}

// The account that the pod says it has.
Result<Json> OwnAccount(const PluginCall& call, const Json& pod) {
  const std::string name = StringAt(pod, {"spec", "serviceAccountName"});
  if (!name.empty()) return AccountOf(call, name);
  return Refuse(call.attributes, "no service account specified for pod " + call.attributes.ns + "/" +
                                     StringAt(pod, {"metadata", "name"}));
}

bool Automounts(const Json& account, const Json& pod) {
  if (const Json* own = Find(pod, {"spec", "automountServiceAccountToken"})) return *own == true;
  return BoolAt(account, {"automountServiceAccountToken"}, true);
}

Json TokenVolume(const std::string& name) {
  const Json token = {{"serviceAccountToken",
                       {{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}};
  const Json authority = {
      {"configMap",
       {{"name", "kube-root-ca.crt"},
        {"items", Json::array({{{"key", "ca.crt"}, {"path", "ca.crt"}}})}}}};
  const Json ns = {
      {"downwardAPI",
       {{"items",
         Json::array({{{"path", "namespace"},
                       {"fieldRef",
                        {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}}})}}}};
  return {{"name", name},
          {"projected",
           {{"defaultMode", 420}, {"sources", Json::array({token, authority, ns})}}}};
}

// Adds the mount to the containers that have none there; true when one was added.
bool Mount(Json& pod, const char* list, const std::string& volume) {
  Json* containers = Find(pod, {"spec", list});
  if (containers == nullptr || !containers->is_array()) return false;
  bool added = false;
  for (Json& container : *containers) {
    bool mounted = false;
    for (const Json& mount : openapi::ArrayAt(container, {"volumeMounts"})) {
      mounted = mounted || StringAt(mount, {"mountPath"}) == kMountPath;
    }
    if (mounted) continue;
    Json mounts = openapi::ArrayAt(container, {"volumeMounts"});
    mounts.push_back({{"name", volume}, {"readOnly", true}, {"mountPath", kMountPath}});
    container["volumeMounts"] = std::move(mounts);
    added = true;
  }
  return added;
}

void MountToken(Json& pod) {
  Json volumes = openapi::ArrayAt(pod, {"spec", "volumes"});
  std::string name;
  for (const Json& volume : volumes) {
    const std::string known = StringAt(volume, {"name"});
    if (name.empty() && known.starts_with(kVolume)) name = known;
  }
  const bool has_volume = !name.empty();
  if (!has_volume) name = kVolume + apiserver::NameSuffix();
  const bool first = Mount(pod, "initContainers", name);
  const bool second = Mount(pod, "containers", name);
  if (has_volume || !(first || second)) return;
  volumes.push_back(TokenVolume(name));
  Set(pod, {"spec", "volumes"}, std::move(volumes));
}

}  // namespace

Result<void> CheckServiceAccount(const PluginCall& call, const Json& pod) {
  if (!call.creates()) return Ok();
  std::string why;
  if (IsMirror(pod)) {
    why = ForbiddenInMirror(pod);
  } else if (const Json account = TRY(OwnAccount(call, pod)); LimitsSecrets(account)) {
    why = ForbiddenSecret(account, pod);
  }
  return why.empty() ? Ok() : Refuse(call.attributes, why);
}

Result<void> CheckLaterContainers(const PluginCall& call, const Json& pod) {
  if (!call.updates()) return Ok();
  const Json account = TRY(OwnAccount(call, pod));
  const std::string why = LimitsSecrets(account) ? ForbiddenLaterSecret(account, pod) : "";
  // kube-apiserver gives this error no kind.
  return why.empty() ? Ok() : Result<void>(Status(Reason::kUnknown, 500, why));
}

Result<void> GiveServiceAccount(const PluginCall& call, Json& pod) {
  // A mirror pod belongs to its kubelet.
  if (!call.creates() || IsMirror(pod)) return CheckServiceAccount(call, pod);
  std::string name = StringAt(pod, {"spec", "serviceAccountName"});
  if (name.empty()) name = kDefault;
  const Json account = TRY(AccountOf(call, name));
  Set(pod, {"spec", "serviceAccountName"}, name);
  Set(pod, {"spec", "serviceAccount"}, name);
  if (Automounts(account, pod)) MountToken(pod);
  const Json& secrets = openapi::ArrayAt(account, {"imagePullSecrets"});
  if (!secrets.empty() && openapi::ArrayAt(pod, {"spec", "imagePullSecrets"}).empty()) {
    Set(pod, {"spec", "imagePullSecrets"}, secrets);
  }
  return CheckServiceAccount(call, pod);
}

}  // namespace mailroom::admission
