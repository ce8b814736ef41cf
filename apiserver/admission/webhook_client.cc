#include "apiserver/admission/webhook_client.h"

#include "apiserver/admission/service_address.h"
#include "apiserver/worker_pool.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::admission {

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
  if (service) {
    auto address = ServiceAddress(store_, workspace, endpoint.service_namespace,
                                  endpoint.service_name, endpoint.service_port);
    if (address.ok()) call.connect_to = std::move(*address);
    if (!address.ok()) error = address.error().message();
  }
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
