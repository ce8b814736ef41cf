#include "apiserver/admission/service_account_secrets.h"

#include <algorithm>
#include <set>

#include "openapi/validate_builtin.h"
#include "storage/object/json.h"

namespace mailroom::admission {
namespace {

using openapi::ArrayAt;

std::set<std::string> NamesAt(const Json& account, const char* member) {
  std::set<std::string> names;
  for (const Json& item : ArrayAt(account, {member})) names.insert(StringAt(item, {"name"}));
  return names;
}

// A container's mention of a Secret in its environment.
struct Mention {
  std::string where;
  std::string secret;
};

std::vector<Mention> MentionsOf(const Json& container) {
  std::vector<Mention> out;
  for (const Json& variable : ArrayAt(container, {"env"})) {
    const Json* key = Find(variable, {"valueFrom", "secretKeyRef"});
    if (key == nullptr) continue;
    out.push_back({"envVar " + StringAt(variable, {"name"}), StringAt(*key, {"name"})});
  }
  for (const Json& source : ArrayAt(container, {"envFrom"})) {
    const Json* whole = Find(source, {"secretRef"});
    if (whole != nullptr) out.push_back({"envFrom", StringAt(*whole, {"name"})});
  }
  return out;
}

// Judges by the Secrets that an account names.
class SecretLimit {
 public:
  explicit SecretLimit(const Json& account)
      : allowed_(NamesAt(account, "secrets")), name_(StringAt(account, {"metadata", "name"})) {}

  std::string OfVolumes(const Json& pod) const {
    for (const Json& volume : ArrayAt(pod, {"spec", "volumes"})) {
      if (Find(volume, {"secret"}) == nullptr) continue;
      const std::string secret = StringAt(volume, {"secret", "secretName"});
      if (!allowed_.contains(secret)) return "volume with " + Refusal(secret);
    }
    return "";
  }
  std::string OfContainers(const Json& pod, const char* list, const std::string& what) const {
    for (const Json& container : ArrayAt(pod, {"spec", list})) {
      for (const Mention& mention : MentionsOf(container)) {
        if (allowed_.contains(mention.secret)) continue;
        return what + " " + StringAt(container, {"name"}) + " with " + mention.where +
               " referencing " + Refusal(mention.secret);
      }
    }
    return "";
  }

 private:
  std::string Refusal(const std::string& secret) const {
    return "secret.secretName=\"" + secret + "\" is not allowed because service account " + name_ +
           " does not reference that secret";
  }

  const std::set<std::string> allowed_;
  const std::string name_;
};

std::string ForbiddenPullSecret(const Json& account, const Json& pod) {
  const auto allowed = NamesAt(account, "imagePullSecrets");
  const Json& used = ArrayAt(pod, {"spec", "imagePullSecrets"});
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string name = StringAt(used[i], {"name"});
    if (allowed.contains(name)) continue;
    return "imagePullSecrets[" + std::to_string(i) + "].name=\"" + name +
           "\" is not allowed because service account " + StringAt(account, {"metadata", "name"}) +
           " does not reference that imagePullSecret";
  }
  return "";
}

bool UsesSecret(const Json& volume) {
  for (const Json& source : ArrayAt(volume, {"projected", "sources"})) {
    if (!StringAt(source, {"secret", "name"}).empty()) return true;
  }
  for (const char* kind : {"cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"}) {
    if (!StringAt(volume, {kind, "secretRef", "name"}).empty()) return true;
  }
  return !StringAt(volume, {"secret", "secretName"}).empty() ||
         !StringAt(volume, {"azureFile", "secretName"}).empty() ||
         !StringAt(volume, {"csi", "nodePublishSecretRef", "name"}).empty();
}

bool UsesSecrets(const Json& pod) {
  for (const Json& secret : ArrayAt(pod, {"spec", "imagePullSecrets"})) {
    if (!StringAt(secret, {"name"}).empty()) return true;
  }
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const Json& container : ArrayAt(pod, {"spec", list})) {
      for (const Mention& mention : MentionsOf(container)) {
        if (!mention.secret.empty()) return true;
      }
    }
  }
  const Json& volumes = ArrayAt(pod, {"spec", "volumes"});
  return std::any_of(volumes.begin(), volumes.end(), UsesSecret);
}

bool UsesToken(const Json& pod) {
  for (const Json& volume : ArrayAt(pod, {"spec", "volumes"})) {
    for (const Json& source : ArrayAt(volume, {"projected", "sources"})) {
      if (source.contains("serviceAccountToken")) return true;
    }
  }
  return false;
}

}  // namespace

bool LimitsSecrets(const Json& account) {
  const std::string value =
      StringAt(account, {"metadata", "annotations", "kubernetes.io/enforce-mountable-secrets"});
  for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (value == yes) return true;
  }
  return false;
}

std::string ForbiddenSecret(const Json& account, const Json& pod) {
  const SecretLimit limit(account);
  if (std::string why = limit.OfVolumes(pod); !why.empty()) return why;
  if (std::string why = limit.OfContainers(pod, "initContainers", "init container"); !why.empty()) {
    return why;
  }
  if (std::string why = limit.OfContainers(pod, "containers", "container"); !why.empty()) return why;
  return ForbiddenPullSecret(account, pod);
}

std::string ForbiddenLaterSecret(const Json& account, const Json& pod) {
  return SecretLimit(account).OfContainers(pod, "ephemeralContainers", "ephemeral container");
}

std::string ForbiddenInMirror(const Json& pod) {
  if (!StringAt(pod, {"spec", "serviceAccountName"}).empty()) {
    return "a mirror pod may not reference service accounts";
  }
  if (UsesSecrets(pod)) return "a mirror pod may not reference secrets";
  if (UsesToken(pod)) return "a mirror pod may not use ServiceAccountToken volume projections";
  return "";
}

}  // namespace mailroom::admission
