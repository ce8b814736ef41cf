#include "apiserver/http/exchange.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "apiserver/http/gzip_stream.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

constexpr int kDrainRetrySeconds = 5;  // as kube-apiserver

// Held by the `respond` function; answers 500 when the last copy goes without an answer.
class Exchange {
 public:
  Exchange(std::shared_ptr<FrontState> state, trantor::EventLoop* loop, bool gzip, Deliver deliver)
      : state_(std::move(state)),
        counted_(state_, state_->exchanges),
        loop_(loop),
        gzip_(gzip),
        deliver_(std::move(deliver)) {}

  ~Exchange() {
    if (answered_.exchange(true)) return;
    Log(Level::kError, "a handler dropped a request unanswered");
    Send(ErrorResponse(Internal("the request was dropped")));
  }

  void Respond(Response response) {
    if (answered_.exchange(true)) {
      Log(Level::kError, "a handler answered a request twice");
      Discard(response);
      return;
    }
    if (gzip_ && Compressible(response)) {
      Compress({state_, &state_->compressors}, response);
    }
    Send(std::move(response));
  }

 private:
  // Called once. The task owns all it needs: this may be the destructor.
  void Send(Response response) {
    FrontState::Counted counted = std::move(counted_);
    if (loop_->isInLoopThread()) return deliver_(std::move(response));
    auto undelivered = std::make_shared<Undelivered>(std::move(response), std::move(counted));
    state_->Post(loop_, [deliver = deliver_, undelivered] {
      deliver(std::move(undelivered->response));
    });
  }

  // A response that dies on the way (the loop has ended) still ends its stream.
  struct Undelivered {
    Undelivered(Response r, FrontState::Counted c)
        : response(std::move(r)), counted(std::move(c)) {}
    ~Undelivered() { Discard(response); }
    Response response;
    const FrontState::Counted counted;
  };

  const std::shared_ptr<FrontState> state_;
  FrontState::Counted counted_;  // until answered
  trantor::EventLoop* const loop_;
  const bool gzip_;
  const Deliver deliver_;
  std::atomic<bool> answered_ = false;
};

// The access log. Queries and most headers may carry secrets and are left out.
Deliver Logged(const Request& request, Deliver deliver) {
  const auto began = std::chrono::steady_clock::now();
  return [line = request.method + " " + request.path, peer = request.peer.address, began,
          agent = std::string(request.headers.Get("user-agent")),
          deliver = std::move(deliver)](Response response) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    Log(Level::kInfo, "request",
        {{"request", line},
         {"peer", peer},
         {"agent", agent},
         {"code", std::to_string(response.code)},
         {"bytes", response.stream ? "stream" : std::to_string(response.BodySize())},
         {"ms", std::to_string(took.count())}});
    deliver(std::move(response));
  };
}

bool GoodPath(std::string_view path) {
  return path.starts_with('/') && std::none_of(path.begin(), path.end(), [](unsigned char c) {
    return c <= ' ' || c == 127;
  });
}

Response DrainResponse() {
  Response response =
      ErrorResponse(TooManyRequests("the server is shutting down", kDrainRetrySeconds));
  response.headers.Set("connection", "close");
  return response;
}

}  // namespace

void Serve(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop, Request request,
           Deliver deliver) {
  const bool draining = state->draining;
  if (state->options.access_log) deliver = Logged(request, std::move(deliver));
  const bool too_long = request.body.size() > state->options.body_bytes;
  const bool good_path = GoodPath(request.path);
  const bool gzip = request.method != "HEAD" && AcceptsGzip(request.headers);
  auto exchange = std::make_shared<Exchange>(state, loop, gzip, std::move(deliver));
  if (draining) return exchange->Respond(DrainResponse());
  if (too_long) return exchange->Respond(Refusal(413, state->options.body_bytes));
  if (!good_path) return exchange->Respond(Refusal(400, 0));
  try {
    state->handler(std::move(request),
                   [exchange](Response response) { exchange->Respond(std::move(response)); });
  } catch (const std::exception& error) {
    Log(Level::kError, "a handler threw", {{"error", error.what()}});
  }
}

Response ErrorResponse(const Status& status) {
  Response response;
  response.code = status.code();
  response.headers.Set("content-type", "application/json");
  response.headers.Set("cache-control", "no-cache, private");
  if (status.details().retry_after_seconds > 0) {
    response.headers.Set("retry-after", std::to_string(status.details().retry_after_seconds));
  }
  response.Append(status.ToJson() + "\n");
  return response;
}

void Discard(Response& response) {
  if (response.stream) response.stream->Cancel();
  response.stream.reset();
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Response Refusal(int code, std::size_t body_limit) {
  switch (code) {
    case 413:
      return ErrorResponse(RequestTooLarge("limit is " + std::to_string(body_limit)));
    case 405:
      return ErrorResponse(Status(Reason::kMethodNotAllowed, "the method is not known"));
    case 414:
    case 431:
      return ErrorResponse(Status(Reason::kBadRequest, code, "the request's head is too long"));
    case 417:
    case 501:
      return ErrorResponse(
          Status(Reason::kBadRequest, code, "the request wants what this server does not do"));
    default:
      return ErrorResponse(BadRequest("the request is malformed"));
  }
}

bool AcceptsGzip(const Headers& headers) {
  for (std::string_view list : headers.All("accept-encoding")) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      if (Trim(list.substr(0, end)) == "gzip") return true;
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }
  return false;
}

bool Compressible(const Response& response) {
  if (!response.headers.Get("content-encoding").empty()) return false;
  return response.stream ? response.stream->finite() : response.BodySize() > limits::kGzipBytes;
}

namespace {
constexpr auto kBreaks = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
}  // namespace

bool CleanValue(std::string_view value) {
  return std::none_of(value.begin(), value.end(), kBreaks);
}

std::string HeaderValue(std::string_view value) {
  std::string out(value);
  std::replace_if(out.begin(), out.end(), kBreaks, ' ');
  return out;
}

}  // namespace mailroom::apiserver
