#include "apiserver/furnisher.h"

#include "apiserver/client/controller.h"
#include "apiserver/cluster_objects.h"
#include "apiserver/hub_watch.h"
#include "apiserver/kubernetes_service.h"
#include "apiserver/self_write.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kRootCa = "kube-root-ca.crt";

bool IsInteresting(const Object& object) {
  const std::string_view kind = object.kind();
  const std::string_view name = object.meta().name;
  if (kind == "Namespace" || kind == "ServiceAccount") return true;
  if (kind == "ConfigMap" && name == kRootCa) return true;
  return IsOfKubernetesService(object) || IsClusterObject(object);
}

class Running final : public Furnisher, private client::Reconciler {
 public:
  Running(const Hub& hub, std::string root_ca, FrontProxy& front_proxy)
      : hub_(hub), root_ca_(std::move(root_ca)), front_proxy_(front_proxy),
        self_(hub, "furnisher") {}
  ~Running() override {
    front_proxy_.OnChange({});
    if (controller_ != nullptr) controller_->Stop();
    watch_.reset();
  }

  Result<void> Begin() {
    controller_ = client::Controller::Start("furnisher", *this, limits::kFurnishWorkers);
    HubWatch::Options options;
    options.name = "furnisher";
    options.filter = IsInteresting;
    options.change = [this](const ResourceKey& key, const Object*, const Object*) {
      std::string ns = key.resource == kNamespacesResource ? key.name : key.ns;
      if (ns.empty()) ns = "default";  // where what the cluster has once is looked after
      controller_->queue().Add({key.workspace.name(), std::move(ns)});
    };
    front_proxy_.OnChange([this] { TellTrust(); });  // before anything is told as it is now
    watch_ = TRY(HubWatch::Start(hub_.store, std::move(options)));
    return Ok();
  }

 private:
  // Wherever it is told whom to believe.
  void TellTrust() {
    const Workspace root{std::string(kRootWorkspace)};
    controller_->queue().Add({root.name(), "kube-system"});
    const auto all = hub_.store.List({.scope = {root, kWorkspacesResource, ""}});
    if (!all.ok()) return;
    for (const storage::Entry& entry : all->entries) {
      const auto type = openapi::ParseWorkspaceType(entry.object->ScalarAt("spec.type"));
      if (!type.ok() || *type != openapi::WorkspaceType::kCluster) continue;
      controller_->queue().Add({std::string(entry.object->meta().name), "kube-system"});
    }
  }

  Result<client::Requeue> Reconcile(const client::WorkKey& key) override {
    const Workspace name{key.lane};
    const ObjectPtr ns = hub_.store.Get({name, kNamespacesResource, "", key.id});
    if (ns == nullptr || !ns->meta().deletion_timestamp.empty()) return client::Requeue{};
    auto workspace = hub_.workspaces.Find(name);
    if (!workspace.ok() || !openapi::PolicyIsLive(workspace->type)) return client::Requeue{};
    TRY(self_.Provide(*workspace, workspace->catalog->FindShared("", "v1", "serviceaccounts"), key.id,
                      {{"apiVersion", "v1"},
                       {"kind", "ServiceAccount"},
                       {"metadata", {{"name", "default"}, {"namespace", key.id}}}}));
    TRY(EnsureRootCa(*workspace, key.id));
    const bool cluster = workspace->type == openapi::WorkspaceType::kCluster;
    const bool root = workspace->type == openapi::WorkspaceType::kRoot;
    if (cluster && key.id == "default") {
      TRY(ProvideKubernetesService(self_, *workspace, hub_));
      TRY(ProvideFlowControl(self_, *workspace, hub_));
    }
    if (key.id == "kube-system" && (cluster || root)) {
      TRY(ProvideTrust(self_, *workspace, hub_, front_proxy_));
    }
    TRY(DropTokens(*workspace, key.id));
    return client::Requeue{};
  }

  Result<void> EnsureRootCa(const WorkspaceView& workspace, const std::string& ns) {
    const ResourceKey key{workspace.name, {"", "configmaps"}, ns, kRootCa};
    const auto type = workspace.catalog->FindShared("", "v1", "configmaps");
    const Json wanted = {{"ca.crt", root_ca_}};
    if (const ObjectPtr there = hub_.store.Get(key)) {
      if (there->ToJson().value("data", Json()) == wanted) return Ok();
      return UnlessGone(self_.Change(workspace, type, ns, kRootCa, "",
                                     [&](Json& object) { Set(object, {"data"}, wanted); }));
    }
    return self_.Provide(
        workspace, type, ns,
        {{"apiVersion", "v1"},
         {"kind", "ConfigMap"},
         {"metadata",
          {{"name", kRootCa},
           {"namespace", ns},
           {"annotations",
            {{"kubernetes.io/description",
              "The certificates by which clients inside recognise this API server."}}}}},
         {"data", wanted}});
  }

  Result<void> DropTokens(const WorkspaceView& workspace, const std::string& ns) {
    storage::CacheListOptions list;
    list.scope = {workspace.name, {"", "secrets"}, ns};
    list.filter = [](const Object& object) {
      return object.ScalarAt("type") == "kubernetes.io/service-account-token";
    };
    for (const storage::Entry& entry : TRY(hub_.store.List(list)).entries) {
      const Json secret = entry.object->ToJson();
      const Json* notes = Find(secret, {"metadata", "annotations"});
      if (notes == nullptr) continue;
      const std::string account = StringAt(*notes, {"kubernetes.io/service-account.name"});
      const std::string uid = StringAt(*notes, {"kubernetes.io/service-account.uid"});
      const ObjectPtr owner = hub_.store.Get({workspace.name, {"", "serviceaccounts"}, ns, account});
      if (account.empty()) continue;
      if (owner != nullptr && (uid.empty() || owner->meta().uid == uid)) continue;
      if (owner == nullptr && uid.empty()) continue;  // not a token yet; its account may come
      DeleteRequest request;
      request.uid = std::string(entry.object->meta().uid);
      TRY(UnlessGone(self_.Remove(workspace, workspace.catalog->FindShared("", "v1", "secrets"), ns,
                                  std::string(entry.object->meta().name), request)));
    }
    return Ok();
  }

  const Hub& hub_;
  const std::string root_ca_;
  FrontProxy& front_proxy_;
  const SelfWriter self_;
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> watch_;
};

}  // namespace

Result<std::unique_ptr<Furnisher>> Furnisher::Start(const Hub& hub, std::string root_ca,
                                                    FrontProxy& front_proxy) {
  auto running = std::make_unique<Running>(hub, std::move(root_ca), front_proxy);
  TRY(running->Begin());
  return std::unique_ptr<Furnisher>(std::move(running));
}

}  // namespace mailroom::apiserver
