#include "apiserver/host_authorizer.h"

#include <algorithm>

#include "apiserver/auth/homes.h"
#include "apiserver/auth/impersonate.h"
#include "apiserver/client/curl_transport.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/worker_pool.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

Result<std::unique_ptr<HostAuthorizer>> HostAuthorizer::Open(const std::string& kubeconfig) {
  const client::ServerConfig config = TRY(client::LoadKubeconfig(kubeconfig, ""));
  return std::make_unique<HostAuthorizer>(client::MakeCurlTransport(config), config.base_path,
                                          Times());
}

const HostAuthorizer::Answer* HostAuthorizer::RecallLocked(const std::string& question, Time now,
                                                           std::chrono::milliseconds age) const {
  auto it = answers_.find(question);
  return it != answers_.end() && now - it->second.given < age ? &it->second : nullptr;
}

void HostAuthorizer::RememberLocked(const std::string& question, bool allowed, Time now) {
  if (answers_.size() >= limits::kHostDecisions) {
    std::erase_if(answers_, [&](const auto& entry) {
      return !entry.second.allowed || now - entry.second.given >= times_.fresh + times_.outage;
    });
  }
  if (answers_.size() >= limits::kHostDecisions) answers_.clear();
  answers_[question] = {allowed, now};
}

bool HostAuthorizer::Silent(const std::string& question, Time now) {
  std::lock_guard lock(mutex_);
  silent_until_ = now + times_.retry;
  const Answer* last = RecallLocked(question, now, times_.fresh + times_.outage);
  return last != nullptr && last->allowed;
}

bool HostAuthorizer::Allows(const User& user, const Attributes& asked) {
  Json facts = {{"verb", asked.verb},         {"group", asked.group},
                {"version", asked.version},   {"resource", asked.resource},
                {"subresource", asked.subresource}, {"name", asked.name}};
  std::vector<std::string> groups = user.groups;
  groups.insert(groups.end(), user.host_groups.begin(), user.host_groups.end());
  if (const auto account = SplitServiceAccount(user.name); account && user.home == kHostHome) {
    // Of the host's own account; they mean nothing to the hub, which set them aside.
    for (std::string& group : ServiceAccountGroups(account->first)) {
      const bool named = std::find(groups.begin(), groups.end(), group) != groups.end();
      if (!named) groups.push_back(std::move(group));
    }
  }
  Json spec = {{"user", user.name}, {"groups", groups}, {"resourceAttributes", std::move(facts)}};
  if (!user.uid.empty()) spec["uid"] = user.uid;
  for (const auto& [key, values] : user.extra) spec["extra"][key] = values;
  const std::string question = DumpJson(spec);
  {
    const Time now = std::chrono::steady_clock::now();
    std::lock_guard lock(mutex_);
    if (const Answer* known = RecallLocked(question, now, times_.fresh)) return known->allowed;
    if (now < silent_until_) {
      const Answer* last = RecallLocked(question, now, times_.fresh + times_.outage);
      return last != nullptr && last->allowed;
    }
  }
  Result<Json> answer = [&] {
    const WaitElsewhere waiting;
    return client_.Create({"authorization.k8s.io/v1", "subjectaccessreviews"}, "",
                          {{"apiVersion", "authorization.k8s.io/v1"},
                           {"kind", "SubjectAccessReview"},
                           {"spec", std::move(spec)}});
  }();
  const Time now = std::chrono::steady_clock::now();
  if (!answer.ok()) {
    Log(Level::kWarn, "the host cluster does not answer access reviews",
        {{"error", answer.error().message()}});
    // A refusal to talk to us is an answer; that there is nobody to ask is none.
    if (answer.error().code() >= 500 || answer.error().code() == 429) return Silent(question, now);
  }
  const bool allowed = answer.ok() && BoolAt(*answer, {"status", "allowed"});
  std::lock_guard lock(mutex_);
  silent_until_ = {};
  RememberLocked(question, allowed, now);
  return allowed;
}

}  // namespace mailroom::apiserver
