#include "apiserver/admission/configurations.h"

#include <map>

#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::admission {
namespace {

constexpr const char* kGroup = "admissionregistration.k8s.io";

enum Kind : std::size_t {
  kMutatingWebhooks,
  kValidatingWebhooks,
  kMutatingPolicies,
  kMutatingBindings,
  kValidatingPolicies,
  kValidatingBindings,
};

const std::array<GroupResource, 6>& Kinds() {
  static const std::array<GroupResource, 6> kinds = {
      GroupResource{kGroup, "mutatingwebhookconfigurations"},
      GroupResource{kGroup, "validatingwebhookconfigurations"},
      GroupResource{kGroup, "mutatingadmissionpolicies"},
      GroupResource{kGroup, "mutatingadmissionpolicybindings"},
      GroupResource{kGroup, "validatingadmissionpolicies"},
      GroupResource{kGroup, "validatingadmissionpolicybindings"}};
  return kinds;
}

std::vector<storage::Entry> ListOf(const storage::CachedStore& store, const Workspace& workspace,
                                   Kind kind) {
  auto list = store.List({.scope = {workspace, Kinds()[kind], ""}});
  return list.ok() ? std::move(list->entries) : std::vector<storage::Entry>();
}

std::vector<Webhook> WebhooksOf(const storage::CachedStore& store, const Workspace& workspace,
                                Kind kind) {
  std::vector<Webhook> out;
  for (const storage::Entry& entry : ListOf(store, workspace, kind)) {
    for (Webhook& webhook : ParseWebhooks(entry.object->ToJson())) {
      out.push_back(std::move(webhook));
    }
  }
  return out;
}

// Policies nobody bound do nothing and are not compiled.
std::vector<BoundPolicy> PoliciesOf(const storage::CachedStore& store, const Workspace& workspace,
                                    Kind policies, Kind bindings) {
  std::map<std::string, std::vector<Binding>> bound;
  for (const storage::Entry& entry : ListOf(store, workspace, bindings)) {
    const Json object = entry.object->ToJson();
    bound[StringAt(object, {"spec", "policyName"})].push_back(ParseBinding(object));
  }
  std::vector<BoundPolicy> out;
  if (bound.empty()) return out;
  for (const storage::Entry& entry : ListOf(store, workspace, policies)) {
    auto it = bound.find(std::string(entry.object->meta().name));
    if (it == bound.end()) continue;
    out.push_back({std::make_shared<const Policy>(ParsePolicy(entry.object->ToJson())),
                   std::move(it->second)});
  }
  return out;
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
  out->mutating = WebhooksOf(store_, workspace, kMutatingWebhooks);
  out->validating = WebhooksOf(store_, workspace, kValidatingWebhooks);
  out->mutating_policies = PoliciesOf(store_, workspace, kMutatingPolicies, kMutatingBindings);
  out->validating_policies = PoliciesOf(store_, workspace, kValidatingPolicies, kValidatingBindings);
  return out;
}

}  // namespace mailroom::admission
