#include "apiserver/admission/webhook_client.h"

#include "apiserver/worker_pool.h"
#include "openapi/validate_builtin.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::admission {
namespace {

using openapi::ArrayAt;
const GroupResource kServices{"", "services"};
const GroupResource kEndpoints{"", "endpoints"};
const GroupResource kSlices{"discovery.k8s.io", "endpointslices"};

std::string HostPort(const std::string& host, std::int64_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

// The port of that name; the only one when there is only one.
std::int64_t NamedPort(const Json& ports, const std::string& name) {
  for (const Json& port : ports) {
    if (StringAt(port, {"name"}) == name || ports.size() == 1) return IntAt(port, {"port"});
  }
  return 0;
}

std::string FirstOf(const Json& addresses) {
  for (const Json& address : addresses) {
    if (address.is_string()) return address.get<std::string>();
    if (const std::string ip = StringAt(address, {"ip"}); !ip.empty()) return ip;
  }
  return "";
}

}  // namespace

// One of the requests of a workspace that wait; none when there are too many.
class WebhookClient::Slot {
 public:
  Slot(WebhookClient& client, const Workspace& workspace) : client_(client), workspace_(workspace) {
    std::lock_guard lock(client_.mutex_);
    std::size_t& count = client_.waiting_[workspace_];
    taken_ = count < limits::kWebhookWaiters;
    if (taken_) ++count;
  }
  ~Slot() {
    if (!taken_) return;
    std::lock_guard lock(client_.mutex_);
    auto it = client_.waiting_.find(workspace_);
    if (--it->second == 0) client_.waiting_.erase(it);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  bool taken() const { return taken_; }

 private:
  WebhookClient& client_;
  const Workspace& workspace_;
  bool taken_ = false;
};

std::string WebhookClient::Locate(const Workspace& workspace,
                                  const openapi::WebhookEndpoint& service,
                                  std::string& error) const {
  const std::string& ns = service.service_namespace;
  const std::string& name = service.service_name;
  const int wanted = service.service_port;
  const ObjectPtr object = store_.Get({workspace, kServices, ns, name});
  if (object == nullptr) {
    error = "service " + Quoted(name) + " not found";
    return "";
  }
  const Json tree = object->ToJson();
  if (StringAt(tree, {"spec", "type"}) == "ExternalName") {
    return HostPort(StringAt(tree, {"spec", "externalName"}), wanted);
  }
  const Json* port = nullptr;
  for (const Json& item : ArrayAt(tree, {"spec", "ports"})) {
    if (IntAt(item, {"port"}) == wanted) port = &item;
  }
  if (port == nullptr) {
    error = "no service port " + std::to_string(wanted) + " found for service " +
            Quoted(name);
    return "";
  }
  // Nothing routes cluster addresses in a workspace, so the endpoints come first.
  const std::string port_name = StringAt(*port, {"name"});
  if (const ObjectPtr found = store_.Get({workspace, kEndpoints, ns, name})) {
    const Json endpoints = found->ToJson();
    for (const Json& subset : ArrayAt(endpoints, {"subsets"})) {
      const std::string ip = FirstOf(ArrayAt(subset, {"addresses"}));
      const std::int64_t target = NamedPort(ArrayAt(subset, {"ports"}), port_name);
      if (!ip.empty() && target != 0) return HostPort(ip, target);
    }
  }
  auto slices = store_.List({.scope = {workspace, kSlices, ns}});
  if (slices.ok()) {
    for (const storage::Entry& entry : slices->entries) {
      const Json slice = entry.object->ToJson();
      if (StringAt(slice, {"metadata", "labels", "kubernetes.io/service-name"}) != name) {
        continue;
      }
      const std::int64_t target = NamedPort(ArrayAt(slice, {"ports"}), port_name);
      for (const Json& endpoint : ArrayAt(slice, {"endpoints"})) {
        const std::string ip = FirstOf(ArrayAt(endpoint, {"addresses"}));
        if (BoolAt(endpoint, {"conditions", "ready"}, true) && !ip.empty() && target != 0) {
          return HostPort(ip, target);
        }
      }
    }
  }
  const std::string cluster_ip = StringAt(tree, {"spec", "clusterIP"});
  if (!cluster_ip.empty() && cluster_ip != "None") return HostPort(cluster_ip, wanted);
  error = "no endpoints available for service " + Quoted(name);
  return "";
}

client::OutgoingCall WebhookClient::Prepare(const Workspace& workspace, const Request& request,
                                            const Deadline& deadline, std::string& error) const {
  const openapi::WebhookEndpoint& endpoint = *request.endpoint;
  client::OutgoingCall call;
  call.ca_pem = endpoint.ca_pem;
  // Nothing left is still a moment: none at all would mean for ever.
  call.timeout = std::max(deadline.Left(request.timeout), std::chrono::milliseconds(1));
  call.max_bytes = limits::kWebhookAnswerBytes;
  const bool service = endpoint.url.empty();
  if (service) {
    const std::string slash = endpoint.service_path.starts_with('/') ? "" : "/";
    call.url = "https://" + endpoint.service_name + "." + endpoint.service_namespace + ".svc:" +
               std::to_string(endpoint.service_port) + slash + endpoint.service_path;
  } else {
    call.url = endpoint.url;
  }
  const auto told = std::chrono::ceil<std::chrono::seconds>(call.timeout);
  const char mark = call.url.find('?') == std::string::npos ? '?' : '&';
  call.url += mark + ("timeout=" + std::to_string(told.count()) + "s");
  if (service) call.connect_to = Locate(workspace, endpoint, error);
  if (!error.empty()) error = "Post \"" + call.url + "\": " + error;
  return call;
}

Result<std::vector<client::OutgoingAnswer>> WebhookClient::Call(
    const Workspace& workspace, const Deadline& deadline, const std::vector<Request>& requests) {
  const Slot slot(*this, workspace);
  if (!slot.taken()) {
    return TooManyRequests("too many requests are waiting for the webhooks of this workspace", 1);
  }
  std::vector<client::OutgoingAnswer> answers(requests.size());
  std::vector<client::OutgoingCall> calls;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    client::OutgoingCall call = Prepare(workspace, requests[i], deadline, answers[i].error);
    if (!answers[i].error.empty()) continue;
    call.body = requests[i].body;
    calls.push_back(std::move(call));
    places.push_back(i);
  }
  const apiserver::WaitElsewhere waiting;
  std::vector<client::OutgoingAnswer> found = calls_.Run(calls);
  for (std::size_t i = 0; i < found.size(); ++i) answers[places[i]] = std::move(found[i]);
  return answers;
}

}  // namespace mailroom::admission
