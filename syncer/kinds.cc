#include "syncer/kinds.h"

#include <algorithm>

#include "storage/object/json_path.h"

namespace mailroom::syncer {
namespace {

std::map<std::string, KindFacts> ReadResources(const Json& document) {
  std::map<std::string, KindFacts> out;
  const Json* entries = Find(document, {"resources"});
  if (entries == nullptr || !entries->is_array()) return out;
  for (const Json& entry : *entries) {
    const std::string name = StringAt(entry, {"name"});
    if (name.find('/') != std::string::npos) continue;
    const auto verbs = StringsAt(entry, {"verbs"});
    out[name] = {.kind = StringAt(entry, {"kind"}),
                 .namespaced = BoolAt(entry, {"namespaced"}),
                 .has_status = false,
                 .listable = std::find(verbs.begin(), verbs.end(), "list") != verbs.end()};
  }
  for (const Json& entry : *entries) {
    const std::string name = StringAt(entry, {"name"});
    if (!name.ends_with("/status")) continue;
    const auto owner = out.find(name.substr(0, name.size() - 7));
    if (owner != out.end()) owner->second.has_status = true;
  }
  return out;
}

std::string DocumentPath(const std::string& api_version) {
  return (api_version.find('/') == std::string::npos ? "/api/" : "/apis/") + api_version;
}

}  // namespace

Result<std::shared_ptr<const Kinds::Resources>> Kinds::Load(const std::string& api_version) {
  {
    std::lock_guard lock(mutex_);
    const auto found = known_.find(api_version);
    if (found != known_.end()) return found->second;
  }
  const Json document = TRY(client_.GetPath(DocumentPath(api_version)));
  auto resources = std::make_shared<const Resources>(ReadResources(document));
  std::lock_guard lock(mutex_);
  known_[api_version] = resources;
  return std::shared_ptr<const Resources>(resources);
}

Result<KindFacts> Kinds::Find(const client::Gvr& gvr) {
  const auto resources = TRY(Load(gvr.api_version));
  const auto found = resources->find(gvr.resource);
  if (found != resources->end()) return found->second;
  Forget(gvr.group());
  return Status(Reason::kNotFound, gvr.resource + " of " + gvr.api_version + " is not served");
}

Result<std::vector<std::pair<client::Gvr, KindFacts>>> Kinds::All() {
  std::vector<std::string> versions = {"v1"};
  const Json groups = TRY(client_.GetPath("/apis"));
  if (const Json* entries = mailroom::Find(groups, {"groups"}); entries != nullptr) {
    for (const Json& entry : *entries) {
      versions.push_back(StringAt(entry, {"preferredVersion", "groupVersion"}));
    }
  }
  std::vector<std::pair<client::Gvr, KindFacts>> out;
  for (const std::string& version : versions) {
    // One broken aggregated API must not hide the others.
    const auto resources = Load(version);
    if (!resources.ok()) continue;
    for (const auto& [name, facts] : **resources) {
      if (facts.listable) out.push_back({{version, name}, facts});
    }
  }
  return out;
}

void Kinds::Forget(const std::string& group) {
  std::lock_guard lock(mutex_);
  std::erase_if(known_, [&group](const auto& entry) {
    return client::Gvr{entry.first, ""}.group() == group;
  });
}

}  // namespace mailroom::syncer
