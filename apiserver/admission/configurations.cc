#include "apiserver/admission/configurations.h"

#include "storage/object/limits_admission.h"

namespace mailroom::admission {
namespace {

constexpr const char* kGroup = "admissionregistration.k8s.io";

const std::array<GroupResource, 2>& Kinds() {
  static const std::array<GroupResource, 2> kinds = {
      GroupResource{kGroup, "mutatingwebhookconfigurations"},
      GroupResource{kGroup, "validatingwebhookconfigurations"}};
  return kinds;
}

}  // namespace

ConfigurationPtr Configurations::Of(const Workspace& workspace) {
  Revisions now;
  bool any = false;
  for (std::size_t i = 0; i < kKinds; ++i) {
    now[i] = store_.LastChange(workspace, Kinds()[i]);
    any = any || now[i] != Revision();
  }
  if (!any) return nullptr;
  {
    std::lock_guard lock(mutex_);
    auto it = parsed_.find(workspace);
    if (it != parsed_.end() && it->second.revisions == now) return it->second.configuration;
  }
  ConfigurationPtr configuration = Parse(workspace);
  if (configuration->empty()) configuration = nullptr;
  std::lock_guard lock(mutex_);
  // Workspaces come and go unseen here: when the table is full it starts anew.
  if (parsed_.size() >= limits::kAdmissionWorkspaces) parsed_.clear();
  parsed_[workspace] = {now, configuration};
  return configuration;
}

ConfigurationPtr Configurations::Parse(const Workspace& workspace) const {
  auto out = std::make_shared<Configuration>();
  for (std::size_t i = 0; i < kKinds; ++i) {
    auto list = store_.List({.scope = {workspace, Kinds()[i], ""}});
    if (!list.ok()) continue;
    for (const storage::Entry& entry : list->entries) {
      auto& into = i == 0 ? out->mutating : out->validating;
      for (Webhook& webhook : ParseWebhooks(entry.object->ToJson())) {
        into.push_back(std::move(webhook));
      }
    }
  }
  return out;
}

}  // namespace mailroom::admission
