#include "apiserver/furnisher.h"

#include <arpa/inet.h>

#include "apiserver/client/controller.h"
#include "apiserver/hub_watch.h"
#include "apiserver/self_write.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kRootCa = "kube-root-ca.crt";
constexpr const char* kServiceIp = "10.0.0.1";  // the first address of Kubernetes' default range

// Host and port of `https://host:port`, when the host is an IPv4 address.
struct Endpoint {
  std::string ip;
  int port = 443;
};
std::optional<Endpoint> EndpointOf(const std::string& url) {
  const std::size_t start = url.find("://");
  if (start == std::string::npos) return std::nullopt;
  const std::string rest = url.substr(start + 3);
  const std::size_t colon = rest.rfind(':');
  Endpoint endpoint{rest.substr(0, colon), 443};
  if (colon != std::string::npos) endpoint.port = std::atoi(rest.c_str() + colon + 1);
  in_addr address{};
  if (inet_pton(AF_INET, endpoint.ip.c_str(), &address) != 1) return std::nullopt;
  return endpoint;
}

bool IsInteresting(const Object& object) {
  const std::string_view kind = object.kind();
  const std::string_view name = object.meta().name;
  if (kind == "Namespace" || kind == "ServiceAccount") return true;
  if (kind == "ConfigMap") return name == kRootCa;
  const bool serves = kind == "Service" || kind == "Endpoints" || kind == "EndpointSlice";
  return serves && name == "kubernetes" && object.meta().ns == "default";
}

class Running final : public Furnisher, private client::Reconciler {
 public:
  Running(const Hub& hub, std::string root_ca)
      : hub_(hub), root_ca_(std::move(root_ca)), self_(hub, "furnisher") {}
  ~Running() override {
    if (controller_ != nullptr) controller_->Stop();
    watch_.reset();
  }

  Result<void> Begin() {
    controller_ = client::Controller::Start("furnisher", *this, limits::kFurnishWorkers);
    HubWatch::Options options;
    options.name = "furnisher";
    options.filter = IsInteresting;
    options.change = [this](const ResourceKey& key, const Object*, const Object*) {
      const std::string& ns = key.resource == kNamespacesResource ? key.name : key.ns;
      controller_->queue().Add({key.workspace.name(), ns});
    };
    watch_ = TRY(HubWatch::Start(hub_.store, std::move(options)));
    return Ok();
  }

 private:
  Result<client::Requeue> Reconcile(const client::WorkKey& key) override {
    const Workspace name{key.lane};
    const ObjectPtr ns = hub_.store.Get({name, kNamespacesResource, "", key.id});
    if (ns == nullptr || !ns->meta().deletion_timestamp.empty()) return client::Requeue{};
    auto workspace = hub_.workspaces.Find(name);
    if (!workspace.ok() || !openapi::PolicyIsLive(workspace->type)) return client::Requeue{};
    TRY(Ensure(*workspace, key.id, "", "v1", "serviceaccounts",
               {{"apiVersion", "v1"},
                {"kind", "ServiceAccount"},
                {"metadata", {{"name", "default"}, {"namespace", key.id}}}}));
    TRY(EnsureRootCa(*workspace, key.id));
    if (key.id == "default" && workspace->type == openapi::WorkspaceType::kCluster) {
      TRY(EnsureService(*workspace));
    }
    TRY(DropTokens(*workspace, key.id));
    return client::Requeue{};
  }

  // Makes the object when it is not there.
  Result<void> Ensure(const WorkspaceView& workspace, const std::string& ns,
                      const std::string& group, const std::string& version,
                      const std::string& plural, const Json& object) {
    const auto type = workspace.catalog->FindShared(group, version, plural);
    if (type == nullptr) return Ok();
    const ResourceKey key{workspace.name, type->stored_as, ns, StringAt(object, {"metadata", "name"})};
    if (hub_.store.Get(key) != nullptr) return Ok();
    auto made = self_.Insert(workspace, type, ns, object);
    if (made.ok()) return Ok();
    const Reason reason = made.error().reason();
    // Somebody was faster, or the namespace is going.
    if (reason == Reason::kAlreadyExists || reason == Reason::kForbidden ||
        reason == Reason::kNotFound) {
      return Ok();
    }
    return std::move(made).error();
  }

  Result<void> EnsureRootCa(const WorkspaceView& workspace, const std::string& ns) {
    const ResourceKey key{workspace.name, {"", "configmaps"}, ns, kRootCa};
    const Json wanted = {{"ca.crt", root_ca_}};
    if (const ObjectPtr there = hub_.store.Get(key)) {
      if (there->ToJson().value("data", Json()) == wanted) return Ok();
      return UnlessGone(self_.Change(
          workspace, workspace.catalog->FindShared("", "v1", "configmaps"), ns, kRootCa, "",
          [&](Json& object) { Set(object, {"data"}, wanted); }));
    }
    return Ensure(workspace, ns, "", "v1", "configmaps",
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

  Result<void> EnsureService(const WorkspaceView& workspace) {
    const auto endpoint = EndpointOf(hub_.external_url);
    const int port = endpoint ? endpoint->port : 443;
    TRY(Ensure(workspace, "default", "", "v1", "services",
               {{"apiVersion", "v1"},
                {"kind", "Service"},
                {"metadata",
                 {{"name", "kubernetes"},
                  {"namespace", "default"},
                  {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
                {"spec",
                 {{"type", "ClusterIP"},
                  {"clusterIP", kServiceIp},
                  {"clusterIPs", Json::array({kServiceIp})},
                  {"ipFamilies", Json::array({"IPv4"})},
                  {"ipFamilyPolicy", "SingleStack"},
                  {"ports", Json::array({{{"name", "https"},
                                          {"protocol", "TCP"},
                                          {"port", 443},
                                          {"targetPort", port}}})}}}}));
    if (!endpoint) return Ok();
    const Json ports = Json::array({{{"name", "https"}, {"port", port}, {"protocol", "TCP"}}});
    TRY(Ensure(workspace, "default", "", "v1", "endpoints",
               {{"apiVersion", "v1"},
                {"kind", "Endpoints"},
                {"metadata",
                 {{"name", "kubernetes"},
                  {"namespace", "default"},
                  {"labels", {{"endpointslice.kubernetes.io/skip-mirror", "true"}}}}},
                {"subsets",
                 Json::array({{{"addresses", Json::array({{{"ip", endpoint->ip}}})},
                               {"ports", ports}}})}}));
    return Ensure(workspace, "default", "discovery.k8s.io", "v1", "endpointslices",
                  {{"apiVersion", "discovery.k8s.io/v1"},
                   {"kind", "EndpointSlice"},
                   {"metadata",
                    {{"name", "kubernetes"},
                     {"namespace", "default"},
                     {"labels", {{"kubernetes.io/service-name", "kubernetes"}}}}},
                   {"addressType", "IPv4"},
                   {"endpoints", Json::array({{{"addresses", Json::array({endpoint->ip})},
                                               {"conditions", {{"ready", true}}}}})},
                   {"ports", ports}});
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
  const SelfWriter self_;
  std::unique_ptr<client::Controller> controller_;
  std::unique_ptr<HubWatch> watch_;
};

}  // namespace

Result<std::unique_ptr<Furnisher>> Furnisher::Start(const Hub& hub, std::string root_ca) {
  auto running = std::make_unique<Running>(hub, std::move(root_ca));
  TRY(running->Begin());
  return std::unique_ptr<Furnisher>(std::move(running));
}

}  // namespace mailroom::apiserver
