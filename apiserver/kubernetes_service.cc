#include "apiserver/kubernetes_service.h"

#include <arpa/inet.h>

#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kName = "kubernetes";
constexpr const char* kNamespace = "default";
constexpr const char* kRange = "10.0.0.0/24";  // Kubernetes' default
constexpr const char* kAddress = "10.0.0.1";   // the first of it
const std::string kNetworking = "networking.k8s.io";

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

Json Metadata(const Json& labels) {
  return {{"name", kName}, {"namespace", kNamespace}, {"labels", labels}};
}

Json Service(int port) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", Metadata({{"component", "apiserver"}, {"provider", "kubernetes"}})},
          {"spec",
           {{"type", "ClusterIP"},
            {"clusterIP", kAddress},
            {"clusterIPs", Json::array({kAddress})},
            {"ipFamilies", Json::array({"IPv4"})},
            {"ipFamilyPolicy", "SingleStack"},
            {"ports", Json::array({{{"name", "https"},
                                    {"protocol", "TCP"},
                                    {"port", 443},
                                    {"targetPort", port}}})}}}};
}

Json Ports(int port) {
  return Json::array({{{"name", "https"}, {"port", port}, {"protocol", "TCP"}}});
}

Json Endpoints(const Endpoint& endpoint) {
  return {{"apiVersion", "v1"},
          {"kind", "Endpoints"},
          {"metadata", Metadata({{"endpointslice.kubernetes.io/skip-mirror", "true"}})},
          {"subsets", Json::array({{{"addresses", Json::array({{{"ip", endpoint.ip}}})},
                                    {"ports", Ports(endpoint.port)}}})}};
}

Json Slice(const Endpoint& endpoint) {
  return {{"apiVersion", "discovery.k8s.io/v1"},
          {"kind", "EndpointSlice"},
          {"metadata", Metadata({{"kubernetes.io/service-name", kName}})},
          {"addressType", "IPv4"},
          {"endpoints", Json::array({{{"addresses", Json::array({endpoint.ip})},
                                      {"conditions", {{"ready", true}}}}})},
          {"ports", Ports(endpoint.port)}};
}

Json Address() {
  return {{"apiVersion", "networking.k8s.io/v1"},
          {"kind", "IPAddress"},
          {"metadata",
           {{"name", kAddress},
            {"labels",
             {{"ipaddress.kubernetes.io/ip-family", "IPv4"},
              {"ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"}}}}},
          {"spec",
           {{"parentRef",
             {{"group", ""}, {"resource", "services"}, {"namespace", kNamespace}, {"name", kName}}}}}};
}

bool HasReady(const Json& range) {
  const Json* conditions = Find(range, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return false;
  for (const Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == "Ready" && StringAt(condition, {"status"}) != "Unknown") {
      return true;
    }
  }
  return false;
}

// The range is ready unless somebody changed it, says otherwise or deletes it.
Result<void> ProvideRange(const SelfWriter& self, const WorkspaceView& workspace, const Hub& hub) {
  const auto type = workspace.catalog->FindShared(kNetworking, "v1", "servicecidrs");
  if (type == nullptr) return Ok();
  const Json ranges = Json::array({kRange});
  TRY(self.Provide(workspace, type, "",
                   {{"apiVersion", "networking.k8s.io/v1"},
                    {"kind", "ServiceCIDR"},
                    {"metadata", {{"name", kName}}},
                    {"spec", {{"cidrs", ranges}}}}));
  const ObjectPtr stored = hub.store.Get({workspace.name, type->stored_as, "", kName});
  if (stored == nullptr || !stored->meta().deletion_timestamp.empty()) return Ok();
  const Json range = stored->ToJson();
  const Json* given = Find(range, {"spec", "cidrs"});
  if (given == nullptr || *given != ranges || HasReady(range)) return Ok();
  return UnlessGone(self.Change(workspace, type, "", kName, "status", [&](Json& object) {
    Set(object, {"status", "conditions"},
        Json::array({{{"type", "Ready"},
                      {"status", "True"},
                      {"reason", ""},
                      {"message", "Kubernetes default Service CIDR is ready"},
                      {"lastTransitionTime", FormatTime(hub.clock.Now())}}}));
  }));
}

}  // namespace

bool IsOfKubernetesService(const Object& object) {
  const std::string_view kind = object.kind();
  const auto& meta = object.meta();
  if (kind == "ServiceCIDR") return meta.name == kName;
  if (kind == "IPAddress") return meta.name == kAddress;
  const bool serves = kind == "Service" || kind == "Endpoints" || kind == "EndpointSlice";
  return serves && meta.name == kName && meta.ns == kNamespace;
}

Result<void> ProvideKubernetesService(const SelfWriter& self, const WorkspaceView& workspace,
                                      const Hub& hub) {
  const openapi::Catalog& catalog = *workspace.catalog;
  TRY(ProvideRange(self, workspace, hub));
  const auto endpoint = EndpointOf(hub.external_url);
  TRY(self.Provide(workspace, catalog.FindShared("", "v1", "services"), kNamespace,
                   Service(endpoint ? endpoint->port : 443)));
  TRY(self.Provide(workspace, catalog.FindShared(kNetworking, "v1", "ipaddresses"), "", Address()));
  if (!endpoint) return Ok();
  TRY(self.Provide(workspace, catalog.FindShared("", "v1", "endpoints"), kNamespace,
                   Endpoints(*endpoint)));
  return self.Provide(workspace, catalog.FindShared("discovery.k8s.io", "v1", "endpointslices"),
                      kNamespace, Slice(*endpoint));
}

}  // namespace mailroom::apiserver
