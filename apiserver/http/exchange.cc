#include "apiserver/http/exchange.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "apiserver/http/connection.h"
#include "apiserver/http/gzip_stream.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

constexpr int kDrainRetrySeconds = 5;  // as kube-apiserver

// A line of the access log. Queries and most headers may carry secrets and are left out.
class AccessLine {
 public:
  explicit AccessLine(const Request& request)
      : line_(request.method + " " + request.path),
        peer_(request.peer.address),
        agent_(request.headers.Get("user-agent")) {}

  void Write(const Response& response) const {
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - began_;
    Log(Level::kAccess, "request",
        {{"request", line_},
         {"peer", peer_},
         {"agent", agent_},
         {"code", std::to_string(response.code)},
         {"bytes", response.stream ? "stream" : std::to_string(response.BodySize())},
         {"ms", std::to_string(took.count())}});
  }

 private:
  const std::string line_, peer_, agent_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Answers that no handler made have one, too.
void SetAuditId(const FrontState& state, std::string_view given, Response& response) {
  if (!given.empty()) {
    response.headers.Set("audit-id", std::string(given));
  } else if (state.options.new_audit_id) {
    response.headers.Set("audit-id", state.options.new_audit_id());
  }
}

// A request not yet answered: counted as such, and whom to tell.
struct Pending {
  FrontState::Counted counted;
  Asker asker;
  std::unique_ptr<const AccessLine> line;  // null: not logged

  void Deliver(Response& response) const {
    if (line) line->Write(response);
    if (const auto connection = asker.connection.lock()) {
      connection->OnAnswer(asker.id, response);
    } else {
      Discard(response);
    }
  }
};

// Held by the `respond` function; answers 500 when the last copy goes without an answer.
class Exchange {
 public:
  Exchange(Pending pending, trantor::EventLoop* loop, bool gzip)
      : pending_(std::move(pending)), loop_(loop), gzip_(gzip) {}

  ~Exchange() {
    if (answered_.load(std::memory_order_relaxed)) return;
    // At the end of a drain that is how what is left goes.
    const bool draining = pending_.counted.state()->draining;
    Log(draining ? Level::kDebug : Level::kError, "a handler dropped a request unanswered");
    Response response = ErrorResponse(Internal("the request was dropped"));
    SetAuditId(*pending_.counted.state(), "", response);
    Send(response);
  }

  void Respond(Response& response) {
    if (answered_.exchange(true)) {
      Log(Level::kError, "a handler answered a request twice");
      return Discard(response);
    }
    if (gzip_ && Compressible(response)) {
      const auto& state = pending_.counted.state();
      Compress({state, &state->compressors}, response);
    }
    Send(response);
  }

 private:
  // Called once. A task owns all it needs: this may be the destructor.
  void Send(Response& response) {
    Pending pending = std::move(pending_);
    // After Stop there is no loop to be asked.
    if (trantor::EventLoop::getEventLoopOfCurrentThread() == loop_) {
      return pending.Deliver(response);
    }
    const std::shared_ptr<FrontState> state = pending.counted.state();
    auto undelivered = std::make_shared<Undelivered>(std::move(response), std::move(pending));
    state->Post(loop_, [undelivered] { undelivered->pending.Deliver(undelivered->response); });
  }

  // A response that dies on the way (the loop has ended) still ends its stream.
  struct Undelivered {
    Undelivered(Response&& r, Pending&& p) : response(std::move(r)), pending(std::move(p)) {}
    ~Undelivered() { Discard(response); }
    Response response;
    const Pending pending;
  };

  Pending pending_;
  trantor::EventLoop* const loop_;
  const bool gzip_;
  std::atomic<bool> answered_ = false;
};

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

Response Refusal(int code, std::size_t body_limit) {
  switch (code) {
    case 413:
      return ErrorResponse(RequestTooLarge("limit is " + std::to_string(body_limit)));
    case 405:
      return ErrorResponse(
          Status(Reason::kMethodNotAllowed,
                 "the server does not allow this method on the requested resource"));
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

std::size_t BytesOf(const Request& request) {
  std::size_t bytes = request.path.size() + request.query.size() + request.body.size();
  for (const auto& [name, value] : request.headers.fields()) bytes += name.size() + value.size();
  return bytes;
}

std::shared_ptr<Exchange> Open(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop,
                               Asker asker, const Request& request) {
  Pending pending{{state, state->exchanges}, std::move(asker), nullptr};
  pending.counted.Hold(BytesOf(request));
  if (state->options.access_log) pending.line = std::make_unique<AccessLine>(request);
  const bool gzip = request.method != "HEAD" && AcceptsGzip(request.headers);
  return std::make_shared<Exchange>(std::move(pending), loop, gzip);
}

void RefuseWith(const FrontState& state, Exchange& exchange, const Request& request,
                Response response) {
  SetAuditId(state, request.headers.Get("audit-id"), response);
  exchange.Respond(response);
}

}  // namespace

void Refuse(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop, Asker asker,
            const Request& request, int code) {
  RefuseWith(*state, *Open(state, loop, std::move(asker), request), request,
             Refusal(code, state->options.body_bytes));
}

void Serve(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop, Asker asker,
           Request&& request) {
  auto exchange = Open(state, loop, std::move(asker), request);
  const auto refuse = [&](Response response) {
    RefuseWith(*state, *exchange, request, std::move(response));
  };
  if (state->draining) return refuse(DrainResponse());
  if (request.body.size() > state->options.body_bytes) {
    return refuse(Refusal(413, state->options.body_bytes));
  }
  if (request.path.size() + request.query.size() > limits::kTargetBytes) {
    return refuse(Refusal(414, 0));
  }
  if (!GoodPath(request.path)) return refuse(Refusal(400, 0));
  // Short ones without a body always have their turn.
  const bool is_long = !request.body.empty() || BytesOf(request) > limits::kStreamBlock;
  if (state->request_bytes > state->options.request_bytes && is_long) {
    return refuse(ErrorResponse(TooManyRequests("too many long requests at a time", 1)));
  }
  try {
    state->handler(std::move(request), [held = std::move(exchange)](Response&& response) {
      held->Respond(response);
    });
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
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  const auto first = std::find_if(value.begin(), value.end(), control);  // mostly none
  return std::none_of(first, value.end(), kBreaks);
}

std::string HeaderValue(std::string_view value) {
  std::string out(value);
  std::replace_if(out.begin(), out.end(), kBreaks, ' ');
  return out;
}

}  // namespace mailroom::apiserver
