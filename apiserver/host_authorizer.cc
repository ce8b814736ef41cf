#include "apiserver/host_authorizer.h"

#include "apiserver/client/curl_transport.h"
#include "apiserver/client/kubeconfig.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

Result<std::unique_ptr<HostAuthorizer>> HostAuthorizer::Open(const std::string& kubeconfig) {
  const client::ServerConfig config = TRY(client::LoadKubeconfig(kubeconfig, ""));
  return std::unique_ptr<HostAuthorizer>(
      new HostAuthorizer(client::MakeCurlTransport(config), config.base_path));
}

bool HostAuthorizer::Allows(const User& user, const Attributes& asked) {
  Json facts = {{"verb", asked.verb},         {"group", asked.group},
                {"version", asked.version},   {"resource", asked.resource},
                {"subresource", asked.subresource}, {"name", asked.name}};
  Json spec = {{"user", user.name}, {"groups", user.groups}, {"resourceAttributes", std::move(facts)}};
  if (!user.uid.empty()) spec["uid"] = user.uid;
  for (const auto& [key, values] : user.extra) spec["extra"][key] = values;
  const std::string question = DumpJson(spec);
  const auto now = std::chrono::steady_clock::now();
  {
    std::lock_guard lock(mutex_);
    auto it = answers_.find(question);
    if (it != answers_.end() && it->second.until > now) return it->second.allowed;
  }
  auto answer = client_.Create({"authorization.k8s.io/v1", "subjectaccessreviews"}, "",
                               {{"apiVersion", "authorization.k8s.io/v1"},
                                {"kind", "SubjectAccessReview"},
                                {"spec", std::move(spec)}});
  if (!answer.ok()) {
    Log(Level::kWarn, "the host cluster does not answer access reviews",
        {{"error", answer.error().message()}});
    return false;
  }
  const bool allowed = BoolAt(*answer, {"status", "allowed"});
  std::lock_guard lock(mutex_);
  if (answers_.size() >= limits::kHostDecisions) answers_.clear();
  answers_[question] = {allowed, now + limits::kHostDecisionAge};
  return allowed;
}

}  // namespace mailroom::apiserver
