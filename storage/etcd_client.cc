#include "storage/etcd_client.h"

#include <fstream>
#include <optional>
#include <sstream>

#include "storage/object/limits.h"

namespace mailroom::storage {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return BadRequest("storage: cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const EtcdOptions& options,
                                                                  bool tls) {
  if (!tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  if (!options.ca_file.empty()) ssl.pem_root_certs = TRY(ReadFile(options.ca_file));
  if (!options.cert_file.empty()) {
    ssl.pem_cert_chain = TRY(ReadFile(options.cert_file));
    ssl.pem_private_key = TRY(ReadFile(options.key_file));
  }
  return grpc::SslCredentials(ssl);
}

grpc::ChannelArguments MakeArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(limits::kEtcdMessageBytes));
  arguments.SetMaxSendMessageSize(static_cast<int>(limits::kEtcdMessageBytes));
  // Otherwise the channels for calls and for watches would share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, limits::kEtcdKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, limits::kEtcdKeepaliveTimeoutMs);
  // etcd closes connections that are pinged while they carry no call.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, limits::kEtcdReconnectFirstMs);
  // This is also how long a connection may take to be made.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, limits::kEtcdConnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, limits::kEtcdReconnectLastMs);
  return arguments;
}

bool Contains(const grpc::Status& status, std::string_view text) {
  return status.error_message().find(text) != std::string::npos;
}

bool AnotherMemberMightAnswer(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
}

bool TokenRefused(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
         Contains(status, "auth: revision in header is old") ||
         Contains(status, "auth: user name is empty");
}

std::chrono::system_clock::time_point Deadline() {
  return std::chrono::system_clock::now() + limits::kEtcdTimeout;
}

}  // namespace

Status FromGrpc(const grpc::Status& status, Intent intent) {
  std::string text = "etcd: " + status.error_message();
  const std::string unknown = intent == Intent::kWrite ? "; the outcome is unknown" : "";
  constexpr int kInsufficientStorage = 507;
  switch (status.error_code()) {
    case grpc::StatusCode::OUT_OF_RANGE:
      return Expired(text);
    case grpc::StatusCode::INVALID_ARGUMENT:
      if (Contains(status, "too large") || Contains(status, "too many operations")) {
        return RequestTooLarge(text);
      }
      return BadRequest(text);
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      if (Contains(status, "space exceeded")) {
        return Status(Reason::kInternalError, kInsufficientStorage, text);
      }
      if (Contains(status, "too many requests")) return TooManyRequests(text, 1);
      return RequestTooLarge(text);
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Timeout(text + unknown);
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::CANCELLED:
      return Unavailable(text + unknown);
    default:
      return Internal(text + unknown);
  }
}

Result<std::shared_ptr<EtcdClient>> EtcdClient::Open(const EtcdOptions& options) {
  if (options.endpoints.empty()) return BadRequest("storage: no etcd endpoint given");
  if (options.cert_file.empty() != options.key_file.empty()) {
    return BadRequest("storage: etcd client certificate and key belong together");
  }
  EtcdOptions settled = options;
  if (!options.password_file.empty()) {
    const std::string text = TRY(ReadFile(options.password_file));
    settled.password = text.substr(0, text.find_first_of("\r\n"));
  }
  std::vector<Endpoint> endpoints;
  for (const std::string& url : options.endpoints) {
    constexpr std::string_view kTls = "https://", kPlain = "http://";
    const bool tls = url.starts_with(kTls);
    if (!tls && !url.starts_with(kPlain)) {
      return BadRequest("storage: etcd endpoint " + url + " is neither http:// nor https://");
    }
    Endpoint endpoint;
    endpoint.address = url.substr(tls ? kTls.size() : kPlain.size());
    while (endpoint.address.ends_with('/')) endpoint.address.pop_back();
    auto credentials = TRY(MakeCredentials(options, tls));
    endpoint.channel = grpc::CreateCustomChannel(endpoint.address, credentials, MakeArguments());
    endpoint.kv = wire::KV::NewStub(endpoint.channel);
    endpoint.maintenance = wire::Maintenance::NewStub(endpoint.channel);
    endpoint.auth = wire::Auth::NewStub(endpoint.channel);
    endpoint.watch = wire::Watch::NewStub(
        grpc::CreateCustomChannel(endpoint.address, credentials, MakeArguments()));
    endpoints.push_back(std::move(endpoint));
  }
  return std::shared_ptr<EtcdClient>(new EtcdClient(std::move(settled), std::move(endpoints)));
}

EtcdClient::Endpoint& EtcdClient::Pick() {
  const std::size_t first = turn_.load();
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    Endpoint& endpoint = endpoints_[(first + i) % endpoints_.size()];
    if (endpoint.channel->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY) return endpoint;
  }
  return endpoints_[first % endpoints_.size()];
}

void EtcdClient::Rotate(const Endpoint& failed) {
  std::size_t turn = turn_.load();
  if (&endpoints_[turn % endpoints_.size()] == &failed) {
    turn_.compare_exchange_strong(turn, turn + 1);
  }
}

void EtcdClient::ForgetToken() {
  std::lock_guard lock(token_mutex_);
  token_.clear();
}

Result<void> EtcdClient::Authorize(grpc::ClientContext& context) {
  if (options_.user.empty()) return Ok();
  std::lock_guard lock(token_mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (token_.empty() || now - token_since_ > limits::kEtcdTokenAge) {
    wire::AuthenticateRequest request;
    request.set_name(options_.user);
    request.set_password(options_.password);
    wire::AuthenticateResponse response;
    grpc::ClientContext question;
    question.set_deadline(Deadline());
    Endpoint& endpoint = Pick();
    const grpc::Status status = endpoint.auth->Authenticate(&question, request, &response);
    if (!status.ok()) {
      Rotate(endpoint);
      return FromGrpc(status, Intent::kRead);
    }
    token_ = response.token();
    token_since_ = now;
  }
  context.AddMetadata("token", token_);
  return Ok();
}

Result<void> EtcdClient::CheckHeader(const wire::ResponseHeader& header, std::int64_t floor) {
  std::uint64_t known = 0;
  if (!cluster_.compare_exchange_strong(known, header.cluster_id()) &&
      known != header.cluster_id()) {
    return Unavailable("etcd: an endpoint belongs to another cluster");
  }
  if (header.revision() < floor) {
    return Unavailable("etcd: a member answered with revision " +
                       std::to_string(header.revision()) + " after " + std::to_string(floor) +
                       " was seen");
  }
  std::int64_t highest = highest_.load();
  while (highest < header.revision() &&
         !highest_.compare_exchange_weak(highest, header.revision())) {
  }
  return Ok();
}

template <typename Response, typename Call>
Result<Response> EtcdClient::CallWithRetry(Call call) {
  const auto deadline = Deadline();
  const std::int64_t floor = highest();
  Status last = Unavailable("etcd: no endpoint");
  for (std::size_t attempt = 0; attempt < 2 * endpoints_.size() + 1; ++attempt) {
    Endpoint& endpoint = Pick();
    grpc::ClientContext context;
    // A member that hangs must leave time to ask another one.
    const auto patience = std::chrono::system_clock::now() + limits::kEtcdAttempt;
    context.set_deadline(endpoints_.size() > 1 ? std::min(deadline, patience) : deadline);
    TRY(Authorize(context));
    Response response;
    const grpc::Status status = call(endpoint, context, response);
    if (status.ok()) {
      Result<void> plausible = CheckHeader(response.header(), floor);
      if (plausible.ok()) return response;
      last = plausible.error();
      Rotate(endpoint);
    } else {
      last = FromGrpc(status, Intent::kRead);
      if (TokenRefused(status)) {
        ForgetToken();
      } else if (AnotherMemberMightAnswer(status)) {
        Rotate(endpoint);
      } else {
        return last;
      }
    }
    if (std::chrono::system_clock::now() >= deadline) break;
  }
  return last;
}

Result<wire::RangeResponse> EtcdClient::Range(const wire::RangeRequest& request) {
  return CallWithRetry<wire::RangeResponse>(
      [&](Endpoint& endpoint, grpc::ClientContext& context, wire::RangeResponse& response) {
        return endpoint.kv->Range(&context, request, &response);
      });
}

Result<wire::CompactionResponse> EtcdClient::Compact(const wire::CompactionRequest& request) {
  return CallWithRetry<wire::CompactionResponse>(
      [&](Endpoint& endpoint, grpc::ClientContext& context, wire::CompactionResponse& response) {
        return endpoint.kv->Compact(&context, request, &response);
      });
}

Result<wire::StatusResponse> EtcdClient::GetStatus() {
  return CallWithRetry<wire::StatusResponse>(
      [&](Endpoint& endpoint, grpc::ClientContext& context, wire::StatusResponse& response) {
        return endpoint.maintenance->Status(&context, {}, &response);
      });
}

void EtcdClient::Txn(wire::TxnRequest request,
                     std::function<void(Result<wire::TxnResponse>)> done) {
  struct Call {
    wire::TxnRequest request;
    wire::TxnResponse response;
    std::optional<grpc::ClientContext> context{std::in_place};
    std::function<void(Result<wire::TxnResponse>)> done;
  };
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  call->context->set_deadline(Deadline());
  // Nothing is sent before the connection stands, so waiting for it cannot write twice.
  call->context->set_wait_for_ready(true);
  if (Result<void> authorized = Authorize(*call->context); !authorized.ok()) {
    call->done(authorized.error());
    return;
  }
  Endpoint& endpoint = Pick();
  const std::int64_t floor = highest();
  const auto answered = [this, call, floor, &endpoint](const grpc::Status& status) {
    // The context keeps the channel alive, and the last to let go of a channel joins gRPC's
    // callback threads. That must not be one of them, so the context goes before the client may.
    call->context.reset();
    if (!status.ok()) {
      if (AnotherMemberMightAnswer(status)) Rotate(endpoint);
      if (TokenRefused(status)) ForgetToken();
      call->done(FromGrpc(status, Intent::kWrite));
      return;
    }
    Result<void> plausible = CheckHeader(call->response.header(), floor);
    if (!plausible.ok()) {
      call->done(plausible.error());
      return;
    }
    call->done(std::move(call->response));
  };
  endpoint.kv->async()->Txn(&*call->context, &call->request, &call->response, answered);
}

wire::Watch::Stub& EtcdClient::WatchStub() {
  return *endpoints_[watch_turn_.load() % endpoints_.size()].watch;
}

}  // namespace mailroom::storage
