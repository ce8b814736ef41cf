#include "apiserver/definition_apis.h"

#include "apiserver/client/controller.h"
#include "apiserver/hub_watch.h"
#include "apiserver/local_apis.h"
#include "apiserver/remote_apis.h"
#include "apiserver/self_write.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

bool IsOurs(const Object& api_service) {
  for (const auto& [key, value] : api_service.meta().labels) {
    if (key == kAutomanaged) return value == "true";
  }
  return false;
}

class Running final : public DefinitionApis, private client::Reconciler {
 public:
  explicit Running(const Hub& hub) : hub_(hub), self_(hub, "apiservice-registration") {}
  ~Running() override {
    if (controller_ != nullptr) controller_->Stop();
    definitions_.reset();
    services_.reset();
  }

  Result<void> Begin() {
    controller_ = client::Controller::Start("definition-apis", *this, 1);
    HubWatch::Options services;
    services.name = "definition-apis";
    services.scope = {Workspace(), kApiServicesResource, ""};
    services.filter = IsOurs;
    services.change = [this](const ResourceKey& key, const Object*, const Object*) {
      controller_->queue().Add({key.workspace.name(), key.name});
    };
    services_ = TRY(HubWatch::Start(hub_.store, std::move(services)));
    HubWatch::Options definitions;
    definitions.name = "definition-apis";
    definitions.scope = {Workspace(), kCrdResource, ""};
    definitions.filter = [](const Object&) { return true; };
    definitions.restart = [this] { LookAtAll(); };
    definitions.change = [this](const ResourceKey& key, const Object* before, const Object* now) {
      if (!Acts(key.workspace)) return;
      for (const Object* definition : {before, now}) {
        if (definition != nullptr) LookAt(key.workspace, definition->ToJson());
      }
    };
    definitions_ = TRY(HubWatch::Start(hub_.store, std::move(definitions)));
    return Ok();
  }

 private:
  // Whether APIServices act there, without a look at what is served: most definitions are in
  // workspaces where they do not.
  bool Acts(const Workspace& name) const {
    const Workspace root{std::string(kRootWorkspace)};
    if (name == root) return true;
    const ObjectPtr object = hub_.store.Get({root, kWorkspacesResource, "", name.name()});
    if (object == nullptr) return false;
    const auto type = openapi::ParseWorkspaceType(object->ScalarAt("spec.type"));
    return type.ok() && ApiServicesAct(*type);
  }

  void LookAt(const Workspace& workspace, const Json& definition) {
    const Json* versions = Find(definition, {"spec", "versions"});
    if (versions == nullptr || !versions->is_array()) return;
    const std::string group = StringAt(definition, {"spec", "group"});
    for (const Json& version : *versions) {
      controller_->queue().Add({workspace.name(), StringAt(version, {"name"}) + "." + group});
    }
  }

  // Definitions may have gone untold.
  void LookAtAll() {
    const auto all = hub_.store.List({.scope = {Workspace(), kApiServicesResource, ""},
                                      .filter = IsOurs});
    if (!all.ok()) return;
    for (const storage::Entry& entry : all->entries) {
      controller_->queue().Add({entry.workspace->name(), std::string(entry.object->meta().name)});
    }
  }

  Result<client::Requeue> Reconcile(const client::WorkKey& key) override {
    const Workspace name{key.lane};
    const std::size_t dot = key.id.find('.');
    if (!Acts(name) || dot == std::string::npos) return client::Requeue{};
    auto workspace = hub_.workspaces.Find(name);
    if (!workspace.ok()) return client::Requeue{};
    const auto type = workspace->catalog->FindShared(kApiServicesResource.group, "v1",
                                                     kApiServicesResource.resource);
    if (type == nullptr) return client::Requeue{};
    const std::string version = key.id.substr(0, dot), group = key.id.substr(dot + 1);
    const bool wanted = ServedHere(*workspace->catalog, group, version) &&
                        !IsImpliedApi(workspace->type, group, version);
    const ObjectPtr stored = hub_.store.Get({name, kApiServicesResource, "", key.id});
    const Json desired = DefinitionApi(group, version);
    if (stored == nullptr) {
      if (wanted) TRY(self_.Provide(*workspace, type, "", desired));
      return client::Requeue{};
    }
    if (!IsOurs(*stored)) return client::Requeue{};
    const std::string uid(stored->meta().uid);
    if (!wanted) {
      DeleteRequest request;
      request.uid = uid;
      TRY(UnlessGone(self_.Remove(*workspace, type, "", key.id, request)));
    } else if (stored->ToJson().value("spec", Json()) != desired.at("spec")) {
      TRY(UnlessGone(self_.Change(
          *workspace, type, "", key.id, "",
          [&](Json& object) { Set(object, {"spec"}, desired.at("spec")); }, uid)));
    }
    return client::Requeue{};
  }

  const Hub& hub_;
  const SelfWriter self_;
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> services_, definitions_;
};

}  // namespace

Result<std::unique_ptr<DefinitionApis>> DefinitionApis::Start(const Hub& hub) {
  auto running = std::make_unique<Running>(hub);
  TRY(running->Begin());
  return std::unique_ptr<DefinitionApis>(std::move(running));
}

}  // namespace mailroom::apiserver
