#include "apiserver/aggregator.h"

#include <algorithm>

#include "apiserver/admission/service_address.h"
#include "apiserver/render.h"
#include "apiserver/worker_pool.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// As Go's http.Error writes it.
Response ErrorText(int code, const std::string& text) {
  Response response = TextResponse(code, text + "\n");
  response.headers.Set("x-content-type-options", "nosniff");
  return response;
}

Response Unreachable(const std::string& why) {
  return ErrorText(503, "error trying to reach service: " + why);
}

bool IsClean(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

// Headers that are about this hop, that we set ourselves, or by which the other server might take
// the client for somebody else. Some servers take '_' for '-'.
bool IsOurs(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  static constexpr std::string_view kNames[] = {
      "authorization", "host", "content-length", "accept-encoding", "connection", "keep-alive",
      "te", "trailer", "trailers", "transfer-encoding", "upgrade", "expect", "x-forwarded-for"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  return name.starts_with("x-remote-") || name.starts_with("impersonate-") ||
         name.starts_with("proxy-");
}

bool IsOfTheHop(const std::string& name) {
  static constexpr std::string_view kNames[] = {"connection", "content-length", "keep-alive",
                                                "trailer",    "transfer-encoding", "upgrade"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.starts_with("proxy-");
}

// A client would follow it with the credentials that it has for us.
bool Redirects(const Relay& relay) {
  return relay.code() >= 300 && relay.code() <= 399 && !relay.headers().Get("location").empty();
}

// Who asks, in the headers that the other server was told of. False when a name cannot be said so.
bool Introduce(const User& user, Headers& headers) {
  headers.Add("x-remote-user", user.name);
  if (!user.uid.empty()) headers.Add("x-remote-uid", user.uid);
  for (const std::string& group : user.groups) headers.Add("x-remote-group", group);
  for (const auto& [key, values] : user.extra) {
    for (const std::string& value : values) {
      headers.Add("x-remote-extra-" + PercentEncode(key), value);
    }
  }
  return std::all_of(headers.fields().begin(), headers.fields().end(),
                     [](const auto& field) { return IsClean(field.second); });
}

Headers HeadersFor(const Request& request) {
  Headers out;
  const std::string named(request.headers.Get("connection"));
  for (const auto& [name, value] : request.headers.fields()) {
    const bool of_the_hop = !named.empty() && named.find(name) != std::string::npos;
    if (!IsOurs(name) && !of_the_hop && !value.empty() && IsClean(value)) out.Add(name, value);
  }
  std::string way(request.headers.Get("x-forwarded-for"));
  const std::string host = HostOf(request.peer.address);
  if (!host.empty()) way += (way.empty() ? "" : ", ") + host;
  if (!way.empty() && IsClean(way)) out.Add("x-forwarded-for", way);
  return out;
}

}  // namespace

// One of the requests of a workspace that wait; none when there are too many.
class Aggregator::Slot {
 public:
  Slot(Aggregator& owner, const Workspace& workspace) : owner_(owner), workspace_(workspace) {
    std::lock_guard lock(owner_.mutex_);
    std::size_t& count = owner_.waiting_[workspace_];
    taken_ = count < limits::kAggregatedWaiters;
    if (taken_) ++count;
  }
  ~Slot() {
    if (!taken_) return;
    std::lock_guard lock(owner_.mutex_);
    auto it = owner_.waiting_.find(workspace_);
    if (--it->second == 0) owner_.waiting_.erase(it);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  bool taken() const { return taken_; }

 private:
  Aggregator& owner_;
  const Workspace& workspace_;
  bool taken_ = false;
};

Aggregator::Aggregator(Parts parts)
    : parts_(std::move(parts)),
      apis_(parts_.store, parts_.workspaces),
      streams_(client::MakeCurlStreams()) {}

std::optional<RemoteApi> Aggregator::Find(const RequestInfo& info) const {
  const auto& segments = info.segments;
  std::size_t at = 0;
  if (segments.size() >= 5 && segments[0] == "openapi" && segments[1] == "v3") at = 2;
  if (info.all_workspaces || segments.size() < at + 3 || segments[at] != "apis") return {};
  const RemoteApiList list = apis_.Of(info.workspace);
  for (const RemoteApi& api : *list) {
    if (api.group == segments[at + 1] && api.version == segments[at + 2]) return api;
  }
  return std::nullopt;
}

bool Aggregator::Serves(const Workspace& workspace, std::string_view group,
                        std::string_view version) const {
  const RemoteApiList list = apis_.Of(workspace);
  return std::any_of(list->begin(), list->end(), [&](const RemoteApi& api) {
    return api.group == group && api.version == version;
  });
}

bool Aggregator::MayForward(const Workspace& workspace, const Request& request) const {
  const std::string& path = request.path;
  // Nothing is as it seems where characters are encoded.
  if (path.find('%') != std::string::npos) {
    const auto info = ParseRequestInfo(request);
    return info.ok() && Find(*info).has_value();
  }
  const bool version2 = path.ends_with("/openapi/v2");
  if (!version2 && path.find("/apis/") == std::string::npos) return false;
  const RemoteApiList list = apis_.Of(workspace);
  if (version2) return !list->empty();
  return std::any_of(list->begin(), list->end(), [&](const RemoteApi& api) {
    return path.find("/apis/" + api.group + "/" + api.version) != std::string::npos;
  });
}

Result<std::string> Aggregator::AddressOf(const Workspace& workspace, const RemoteApi& api) const {
  return "https://" + TRY(admission::ServiceAddress(parts_.store, workspace, api.service_namespace,
                                                    api.service_name, api.port));
}

Result<std::shared_ptr<const client::ServerConfig>> Aggregator::ConfigFor(
    const Workspace& workspace, const RemoteApi& api) {
  auto config = std::make_shared<client::ServerConfig>();
  config->url = TRY(AddressOf(workspace, api));
  config->tls_server_name = api.service_name + "." + api.service_namespace + ".svc";
  config->ca_pem = api.ca_pem;
  config->insecure = api.insecure;
  const KeyPair pair = TRY(parts_.front_proxy.CertificateFor(workspace));
  // It may have gone, and been forgotten, before that was remembered.
  if (!apis_.IsLive(workspace)) parts_.front_proxy.Forget(workspace);
  config->certificate_pem = pair.cert_pem;
  config->key_pem = pair.key_pem;
  config->refuse = parts_.refuse;
  return std::shared_ptr<const client::ServerConfig>(std::move(config));
}

Result<Response> Aggregator::Forward(const RemoteApi& api, const Request& request,
                                     const RequestInfo& info, const User& user,
                                     const Deadline& deadline) {
  if (!api.available) return ErrorText(503, "service unavailable");
  // It came to be after the request was taken for a short one.
  if (NoWaiting::Here()) return TooManyRequests("the API has just come to be served elsewhere", 1);
  const Slot slot(*this, info.workspace);
  if (!slot.taken()) {
    return TooManyRequests("too many requests are waiting for other servers of this workspace", 1);
  }
  auto config = ConfigFor(info.workspace, api);
  if (!config.ok()) return ErrorText(503, "service unavailable");
  Request out;
  out.method = request.method;
  // Made anew from what was understood and authorised, so that both sides read the same.
  for (const std::string& segment : info.segments) out.path += "/" + PercentEncode(segment);
  out.query = request.query;
  out.body = request.body;
  out.headers = HeadersFor(request);
  if (!Introduce(user, out.headers)) return Unreachable("net/http: invalid header field value");
  auto relay = std::make_shared<Relay>(limits::kAggregatedPendingBytes);
  auto exchange = streams_->Open(std::move(*config), std::move(out), *relay);
  const bool watch = info.verb == "watch";
  auto body = Relay::Body::kPart;
  {
    const WaitElsewhere waiting;
    auto head = relay->AwaitHead(deadline.Left(limits::kRequestTimeout));
    if (!head.ok()) return Unreachable(head.error().message());
    if (!watch) body = relay->AwaitBody(limits::kAggregatedPieces);
  }
  if (Redirects(*relay)) {
    return TextResponse(
        502, "the backend attempted to redirect this request, which is not permitted");
  }
  if (body == Relay::Body::kBroken) return Unreachable(relay->error());
  Response response;
  response.code = relay->code();
  for (const auto& [name, value] : relay->headers().fields()) {
    if (!IsOfTheHop(name)) response.headers.Add(name, value);
  }
  if (body == Relay::Body::kWhole) {
    relay->Take(response.body, std::size_t(-1));
  } else {
    response.stream = StreamRelay(streams_, std::move(relay), std::move(exchange), watch);
  }
  return response;
}

Result<Aggregator::Fetched> Aggregator::Fetch(const Workspace& workspace, const RemoteApi& api,
                                              const Wanted& wanted) {
  constexpr auto kTimeout = limits::kAggregatedProbeTimeout;
  auto config = TRY(ConfigFor(workspace, api));
  Request request;
  request.method = "GET";
  request.path = wanted.path;
  request.headers.Add("accept", "application/json");
  request.headers.Add("user-agent", "mailroom-aggregator");
  if (!wanted.etag.empty()) request.headers.Add("if-none-match", wanted.etag);
  Introduce({.name = "system:kube-aggregator", .groups = {std::string(kMasters)}}, request.headers);
  const Deadline deadline(Deadline::Clock::now() + kTimeout);
  Relay relay(wanted.most);
  const auto exchange = streams_->Open(std::move(config), std::move(request), relay);
  TRY(relay.AwaitHead(kTimeout));
  const Status failed = Unavailable("the answer is too long, or too late");
  if (relay.AwaitBody(deadline.Left(kTimeout)) != Relay::Body::kWhole) {
    const std::string why = relay.error();
    return why.empty() ? failed : Unavailable(why);
  }
  std::vector<SharedBytes> pieces;
  relay.Take(pieces, std::size_t(-1));
  Fetched fetched{relay.code(), {}, std::string(relay.headers().Get("etag"))};
  for (const SharedBytes& piece : pieces) fetched.body += *piece;
  if (fetched.body.size() > wanted.most) return failed;
  return fetched;
}

namespace {

std::size_t SizeOf(const Aggregator::Learned& learned) {
  const SharedBytes& part = learned.version2.part;
  return learned.resources->size() + learned.openapi_url.size() + (part ? part->size() : 0);
}

}  // namespace

bool Aggregator::Learn(const Workspace& workspace, const std::string& name, Learned learned) {
  std::lock_guard lock(mutex_);
  Heard& heard = heard_[workspace];
  std::size_t others = 0;
  for (const auto& [other, known] : heard.learned) {
    if (other != name) others += SizeOf(*known);
  }
  if (others + SizeOf(learned) > limits::kAggregatedBytes) learned.version2 = {};
  if (others + SizeOf(learned) > limits::kAggregatedBytes) {
    ForgetLocked(workspace, name);
    return false;
  }
  LearnedPtr& known = heard.learned[name];
  const bool news = known == nullptr || known->hash != learned.hash ||
                    known->openapi_url != learned.openapi_url ||
                    known->version2.hash != learned.version2.hash;
  known = std::make_shared<const Learned>(std::move(learned));
  if (!news) return true;
  heard.changed = ++changes_;
  heard.shown.clear();
  return true;
}

void Aggregator::ForgetLocked(const Workspace& workspace, const std::string& name) {
  const auto found = heard_.find(workspace);
  if (found == heard_.end()) return;
  Heard& heard = found->second;
  if (heard.learned.erase(name) > 0) {
    heard.changed = ++changes_;
    heard.shown.clear();
  }
  if (heard.learned.empty()) heard_.erase(found);
}

void Aggregator::Forget(const Workspace& workspace, const std::string& name) {
  std::lock_guard lock(mutex_);
  ForgetLocked(workspace, name);
}

void Aggregator::Forget(const Workspace& workspace) {
  apis_.Forget(workspace);
  std::lock_guard lock(mutex_);
  heard_.erase(workspace);
}

Aggregator::LearnedPtr Aggregator::LearnedOf(const Workspace& workspace,
                                             const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto heard = heard_.find(workspace);
  if (heard == heard_.end()) return nullptr;
  const auto found = heard->second.learned.find(name);
  return found == heard->second.learned.end() ? nullptr : found->second;
}

}  // namespace mailroom::apiserver
