#include "apiserver/http/exchange.h"

#include <trantor/net/EventLoop.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

constexpr int kDrainRetrySeconds = 5;  // as kube-apiserver

// Held by the `respond` function; answers 500 when the last copy goes without an answer.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<FrontState> state, trantor::EventLoop* loop, bool gzip, Deliver deliver)
      : state_(std::move(state)),
        counted_(std::make_shared<FrontState::Counted>(state_, state_->exchanges)),
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
      auto shared = std::make_shared<Response>(std::move(response));
      if (state_->compressors.Submit([self = shared_from_this(), shared] {
            Compress(*shared);
            self->Send(std::move(*shared));
          })) {
        return;
      }
      response = std::move(*shared);
    }
    Send(std::move(response));
  }

 private:
  // Called once. The task owns all it needs: this may be the destructor.
  void Send(Response response) {
    auto counted = std::move(counted_);
    if (loop_->isInLoopThread()) {
      deliver_(std::move(response));
      return;
    }
    state_->Post(loop_, [deliver = deliver_, counted,
                         shared = std::make_shared<Undelivered>(std::move(response))] {
      deliver(std::move(shared->response));
    });
  }

  // A response that dies on the way (the loop has ended) still ends its stream.
  struct Undelivered {
    explicit Undelivered(Response r) : response(std::move(r)) {}
    ~Undelivered() { Discard(response); }
    Response response;
  };

  const std::shared_ptr<FrontState> state_;
  std::shared_ptr<FrontState::Counted> counted_;  // until answered
  trantor::EventLoop* const loop_;
  const bool gzip_;
  const Deliver deliver_;
  std::atomic<bool> answered_ = false;
};

// The access log. Queries may carry secrets and are left out.
Deliver Logged(const Request& request, Deliver deliver) {
  const auto began = std::chrono::steady_clock::now();
  return [line = request.method + " " + request.path, peer = request.peer.address, began,
          deliver = std::move(deliver)](Response response) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    Log(Level::kDebug, "request",
        {{"request", line},
         {"peer", peer},
         {"code", std::to_string(response.code)},
         {"bytes", response.stream ? "stream" : std::to_string(response.BodySize())},
         {"ms", std::to_string(took.count())}});
    deliver(std::move(response));
  };
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
  if (LogEnabled(Level::kDebug)) deliver = Logged(request, std::move(deliver));
  const bool too_long = request.body.size() > state->options.body_bytes;
  auto exchange =
      std::make_shared<Exchange>(state, loop, AcceptsGzip(request.headers), std::move(deliver));
  if (draining) return exchange->Respond(DrainResponse());
  if (too_long) {
    return exchange->Respond(
        ErrorResponse(RequestTooLarge("limit is " + std::to_string(state->options.body_bytes))));
  }
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
  return !response.stream && response.headers.Get("content-encoding").empty() &&
         response.BodySize() > limits::kGzipBytes;
}

void Compress(Response& response) {
  if (!Compressible(response)) return;
  constexpr int kLevel = 1;  // as kube-apiserver: speed over size
  constexpr int kGzipFormat = 16 + MAX_WBITS;
  z_stream zip{};
  if (deflateInit2(&zip, kLevel, Z_DEFLATED, kGzipFormat, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return;
  }
  std::string out;
  const auto feed = [&](std::string_view input, int flush) {
    zip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    zip.avail_in = static_cast<uInt>(input.size());
    do {
      const std::size_t used = out.size();
      out.resize(used + limits::kWriteBlock);
      zip.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      zip.avail_out = static_cast<uInt>(limits::kWriteBlock);
      deflate(&zip, flush);
      out.resize(out.size() - zip.avail_out);
    } while (zip.avail_out == 0);
  };
  for (const SharedBytes& piece : response.body) feed(*piece, Z_NO_FLUSH);
  feed({}, Z_FINISH);
  deflateEnd(&zip);
  response.body.clear();
  response.Append(std::move(out));
  response.headers.Set("content-encoding", "gzip");
  response.headers.Add("vary", "Accept-Encoding");
}

std::string HeaderValue(std::string_view value) {
  std::string out(value);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  return out;
}

}  // namespace mailroom::apiserver
