#include "apiserver/http/h1_stream.h"

#include <drogon/HttpTypes.h>
#include <drogon/utils/Utilities.h>
#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include <charconv>
#include <chrono>

#include "apiserver/http/exchange.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

std::string Head(const Response& response, Framing framing) {
  const auto reason = drogon::statusCodeToString(response.code);
  std::string head = framing == Framing::kChunked ? "HTTP/1.1 " : "HTTP/1.0 ";
  head.append(std::to_string(response.code)).append(" ").append(reason).append("\r\n");
  for (const auto& [name, value] : response.headers.fields()) {
    if (name == "connection" || name == "content-length") continue;
    head.append(name).append(": ").append(HeaderValue(value)).append("\r\n");
  }
  head.append("date: ").append(drogon::utils::getHttpFullDateStr(trantor::Date::now()));
  head.append("\r\nconnection: close\r\n");
  if (framing == Framing::kChunked) head.append("transfer-encoding: chunked\r\n");
  return head.append("\r\n");
}

// Not at once: closing ends the stream that asks for it.
void Cut(const TcpConnectionPtr& socket) {
  socket->getLoop()->queueInLoop([socket] { socket->forceClose(); });
}

}  // namespace

H1Stream::H1Stream(const std::shared_ptr<FrontState>& state, const TcpConnectionPtr& socket,
                   Response response, Framing framing)
    : counted_(state, state->streams),
      socket_(socket),
      framing_(framing),
      head_(Head(response, framing)),
      body_(state, socket->getLoop(), response, [this] { OnReady(); }),
      outlet_(std::make_shared<Outlet>(
          socket, limits::kStreamBlock,
          [this](std::string& out, std::size_t max) { return Fill(out, max); },
          [this] { OnEnded(); })) {}

H1Stream::~H1Stream() { outlet_->Close(); }

void H1Stream::Start() {
  // The idle timer would close a quiet watch; Sweep and TCP keep-alive watch over it instead.
  if (const auto socket = socket_.lock()) socket->keepAlive();
  outlet_->Kick();
}

Outlet::Supply H1Stream::Fill(std::string& out, std::size_t max) {
  out.append(head_);
  head_.clear();
  const std::size_t count = body_.Prepare(max);
  if (framing_ == Framing::kUntilClose) {
    body_.Take(out, count);
  } else if (count > 0) {
    char digits[sizeof(std::size_t) * 2];
    const auto end = std::to_chars(digits, digits + sizeof digits, count, 16).ptr;
    out.append(digits, end).append("\r\n");
    body_.Take(out, count);
    out.append("\r\n");
  }
  if (!body_.finished()) return count == max ? Outlet::Supply::kMore : Outlet::Supply::kIdle;
  if (framing_ == Framing::kChunked) out.append("0\r\n\r\n");
  return Outlet::Supply::kEnd;
}

void H1Stream::OnReady() { outlet_->Kick(); }

void H1Stream::End() {
  body_.End();
  outlet_->Kick();
}

void H1Stream::OnEnded() {
  const auto socket = socket_.lock();
  if (!socket) return;
  ended_ = true;
  seen_sent_ = socket->bytesSent();
  progress_at_ = std::chrono::steady_clock::now();
  socket->shutdown();
}

void H1Stream::Sweep(std::chrono::steady_clock::time_point now) {
  const auto socket = socket_.lock();
  if (!socket) return;
  if (ended_) {
    if (socket->bytesSent() != seen_sent_) {
      seen_sent_ = socket->bytesSent();
      progress_at_ = now;
    }
    if (now - progress_at_ >= limits::kLinger) Cut(socket);
    return;
  }
  const auto stalled = outlet_->Stalled(now);
  if (stalled < limits::kStreamEndStall) return;
  body_.Probe();
  if (!body_.ended() && stalled < limits::kStreamStall) return;
  Log(Level::kInfo, "cutting a reader that does not read",
      {{"peer", socket->peerAddr().toIpPort()}});
  Cut(socket);
}

}  // namespace mailroom::apiserver
