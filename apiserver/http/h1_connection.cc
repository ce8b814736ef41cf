#include "apiserver/http/h1_connection.h"

#include <drogon/HttpRequest.h>
#include <linux/sockios.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include <algorithm>
#include <utility>

#include "apiserver/http/exchange.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

// Set by our edit of Drogon on a request that it could not parse.
constexpr char kParseError[] = "parseError";

bool NamesToken(const Headers& headers, std::string_view field, std::string_view token) {
  for (std::string_view list : headers.All(field)) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      const std::string_view item = Trim(list.substr(0, end));
      if (item.size() == token.size() &&
          strncasecmp(item.data(), token.data(), token.size()) == 0) {
        return true;
      }
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }
  return false;
}

}  // namespace

H1Connection::H1Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket,
                           int fd)
    : Connection(std::move(state), socket),
      fd_(fd),
      received_(socket->bytesReceived()),
      holding_(state_),
      idle_since_(std::chrono::steady_clock::now()) {}

H1Connection::~H1Connection() {
  if (outlet_) outlet_->Close();
}

void H1Connection::Start() {
  // What a long answer leaves in the buffers of TLS goes with the next short one (our edit of Trantor).
  outlet_ = std::make_shared<Outlet>(
      socket_.lock(), limits::kWriteBlock,
      [this](std::string& out, std::size_t max) { return Fill(out, max); },
      [this] { OnEnded(); });
}

H1Connection::Asked H1Connection::Translate(const drogon::HttpRequest& from) {
  Asked asked;
  Request& to = asked.request;
  to.method = from.isHead() ? "HEAD" : from.methodString();
  to.path = from.getOriginalPath();
  to.query = from.query();
  for (const auto& [name, values] : from.headers()) {
    // Our edit of Drogon's parser joins repeated fields with line feeds.
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t end = values.find('\n', at);
      to.headers.Add(name, values.substr(at, end == std::string::npos ? end : end - at));
      at = end == std::string::npos ? end : end + 1;
    }
  }
  to.body = std::string(from.body());
  asked.terms.head = from.isHead();
  asked.terms.http10 = from.getVersion() == drogon::Version::kHttp10;
  asked.terms.close = NamesToken(to.headers, "connection", "close") ||
                      (asked.terms.http10 && !NamesToken(to.headers, "connection", "keep-alive"));
  if (from.attributes()->find(kParseError)) {
    asked.refusal = from.attributes()->get<int>(kParseError);
  } else if (to.path.size() + to.query.size() > limits::kTargetBytes) {
    asked.refusal = 414;  // Drogon lets longer ones pass when they arrive in one read
  } else if (to.headers.All("host").size() != 1 && !asked.terms.http10) {
    asked.refusal = 400;
  }
  if (asked.refusal != 0) asked.terms.close = true;
  return asked;
}

std::size_t H1Connection::Asked::Bytes() const {
  constexpr std::size_t kFieldOverhead = 64;  // of two strings
  std::size_t bytes = sizeof(Asked) + request.path.size() + request.query.size() +
                      request.body.size();
  for (const auto& [name, value] : request.headers.fields()) {
    bytes += kFieldOverhead + name.size() + value.size();
  }
  return bytes;
}

// Requests that arrived in the same read are handed over after this.
void H1Connection::OnExpectation() {
  ++expecting_;
  continue_due_ = true;
  KickSoon();
}

void H1Connection::OnRequest(const drogon::HttpRequest& request) {
  const auto socket = socket_.lock();
  if (over_ || !socket) return;
  if (expecting_ > 0 && !request.getHeader("expect").empty() && --expecting_ == 0) {
    continue_due_ = false;  // its body came unasked
  }
  received_ = socket->bytesReceived();
  arriving_since_.reset();
  holding_.Set(waiting_bytes_);
  Asked asked = Translate(request);
  if (!busy_) return Begin(std::move(asked));
  waiting_bytes_ += asked.Bytes();
  holding_.Set(waiting_bytes_);
  waiting_.push_back(std::move(asked));
  if (waiting_.size() > limits::kPipelined || waiting_bytes_ > limits::kPipelinedBytes) {
    Cut(socket, "too many requests in line");
  } else if (waiting_bytes_ > limits::kStreamBlock && holding_.TooMuch()) {
    Cut(socket, "its requests in line are long, and there are too many");
  }
}

void H1Connection::Begin(Asked asked) {
  busy_ = true;
  ++state_->http1_requests;
  terms_ = asked.terms;
  asked.request.peer = CurrentPeer();
  if (asked.refusal != 0) {
    return Refuse(state_, loop_, {weak_from_this()}, asked.request, asked.refusal);
  }
  Serve(state_, loop_, {weak_from_this()}, std::move(asked.request));
}

void H1Connection::OnAnswer(std::int32_t, Response& response) {
  if (over_) return Discard(response);
  terms_.close |= retired_ || state_->draining || response.headers.Get("connection") == "close";
  answer_ = std::make_unique<H1Answer>(state_, loop_, response, terms_,
                                       [this] {
                                         CheckBehind();
                                         outlet_->Kick();
                                       });
  if (state_->draining && answer_->live()) answer_->body().End();
  if (answer_->live()) CheckBehind();
  KickSoon();
}

// Answers that become ready together share one write.
void H1Connection::KickSoon() {
  if (std::exchange(kick_posted_, true)) return;
  loop_->queueInLoop([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->kick_posted_ = false;
    self->outlet_->Kick();
  });
}

Outlet::Supply H1Connection::Fill(std::string& out, std::size_t max) {
  while (answer_ && out.size() < max) {
    switch (answer_->Fill(out, max - out.size(), [this] { return HasRoom(); })) {
      case H1Answer::Progress::kMore:
        return Outlet::Supply::kMore;
      case H1Answer::Progress::kIdle:
        return Outlet::Supply::kIdle;
      case H1Answer::Progress::kDone:
        if (answer_->closes() || retired_) return Outlet::Supply::kEnd;
        Finished();
        break;
      case H1Answer::Progress::kAborted:
        return Outlet::Supply::kEnd;
    }
  }
  if (!busy_ && !retired_ && std::exchange(continue_due_, false)) {
    out += "HTTP/1.1 100 Continue\r\n\r\n";
  }
  return answer_ ? Outlet::Supply::kMore : Outlet::Supply::kIdle;
}

bool H1Connection::HasRoom() const {
  int unsent = 0;
  return fd_ >= 0 && ioctl(fd_, SIOCOUTQNSD, &unsent) == 0 && unsent == 0;
}

void H1Connection::Finished() {
  answer_.reset();
  busy_ = false;
  idle_since_ = std::chrono::steady_clock::now();
  if (waiting_.empty()) return;
  Asked next = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= next.Bytes();
  holding_.Set(waiting_bytes_);
  Begin(std::move(next));
}

// The last answer is with the socket. What still arrives is read and dropped for a while, lest a
// reset overtakes the answer.
void H1Connection::OnEnded() {
  over_ = true;
  answer_.reset();
  waiting_.clear();
  if (const auto socket = socket_.lock()) socket->shutdown();
}

void H1Connection::OnClosed() {
  over_ = true;
  if (outlet_) outlet_->Close();
  answer_.reset();
  waiting_.clear();
}

void H1Connection::EndStreams() {
  if (!answer_ || !answer_->live()) return;
  answer_->body().End();
  KickSoon();
}

void H1Connection::Retire() {
  retired_ = true;
  if (busy_ || over_) return;
  over_ = true;
  if (const auto socket = socket_.lock()) socket->shutdown();
}

// An answer that goes out in time is gone, or no longer behind, when the timer comes.
void H1Connection::CheckBehind() {
  if (over_ || !answer_) return;
  const auto since = answer_->body().BehindSince();
  if (!since) return;
  const std::chrono::duration<double> left =
      *since + state_->options.timeouts.end_stall - std::chrono::steady_clock::now();
  if (left.count() <= 0) {
    const auto socket = socket_.lock();
    if (socket) Cut(socket, "it reads too slowly for its events");
    answer_.reset();
  } else if (!std::exchange(behind_timer_, true)) {
    loop_->runAfter(left.count(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->behind_timer_ = false;
      self->CheckBehind();
    });
  }
}

void H1Connection::Cut(const TcpConnectionPtr& socket, const char* why) {
  over_ = true;
  ++state_->cut;
  Log(Level::kDebug, "cutting an HTTP/1.1 connection",
      {{"peer", socket->peerAddr().toIpPort()}, {"why", why}});
  // Not at once: closing ends the connection that asks for it.
  loop_->queueInLoop([socket] { socket->forceClose(); });
}

void H1Connection::Sweep(Time now) {
  const auto socket = socket_.lock();
  if (!socket) return;
  const FrontTimeouts& timeouts = state_->options.timeouts;
  // Either side has said its last word: by us in OnEnded or Retire, or by a peer's close alert.
  if (over_ || !socket->connected()) {
    if (!closing_since_ || socket->bytesSent() != closing_sent_) {
      closing_since_ = now;
      closing_sent_ = socket->bytesSent();
    }
    if (!socket->connected()) answer_.reset();
    if (now - *closing_since_ >= timeouts.linger) Cut(socket, "it does not close");
    return;
  }
  if (!SweepArriving(socket, now)) return;
  if (answer_) return SweepAnswer(socket, now);
  if (busy_ || arriving_since_) return;
  if (now - idle_since_ >= timeouts.idle) Retire();
}

void H1Connection::SweepAnswer(const TcpConnectionPtr& socket, Time now) {
  if (outlet_->Stalled(now) >= state_->options.timeouts.stall) return Cut(socket, "it does not read");
  CheckBehind();
}

// Also while an answer goes out, which may be a watch and so take forever.
bool H1Connection::SweepArriving(const TcpConnectionPtr& socket, Time now) {
  const std::size_t arriving = socket->bytesReceived() - received_;
  if (arriving == 0) return true;
  holding_.Set(waiting_bytes_ + arriving);
  if (!arriving_since_) arriving_since_ = now;
  if (ArrivesTooSlowly(now - *arriving_since_, arriving)) {
    Cut(socket, "its request does not arrive");
  } else if (arriving > limits::kStreamBlock && holding_.TooMuch()) {
    Cut(socket, "its request is long, and there are too many");
  }
  return !over_;
}

}  // namespace mailroom::apiserver
