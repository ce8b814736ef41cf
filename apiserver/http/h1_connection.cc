#include "apiserver/http/h1_connection.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>
#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include <algorithm>
#include <map>

#include "apiserver/http/exchange.h"

namespace mailroom::apiserver {
namespace {

Request Translate(const drogon::HttpRequest& from, const Peer& peer) {
  Request to;
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
  to.peer = peer;
  return to;
}

bool HasBody(int code) { return code >= 200 && code != 204 && code != 304; }

// A body past one write block is drawn from its pieces as the socket takes them.
drogon::HttpResponsePtr Render(Response from) {
  const std::size_t size = from.BodySize();
  drogon::HttpResponsePtr to;
  if (!HasBody(from.code) || size <= limits::kWriteBlock) {
    to = drogon::HttpResponse::newHttpResponse();
    if (HasBody(from.code)) to->setBody(from.BodyText());
  } else {
    struct Cursor {
      std::vector<SharedBytes> pieces;
      std::size_t piece = 0;
      std::size_t at = 0;
    };
    auto cursor = std::make_shared<Cursor>();
    cursor->pieces = std::move(from.body);
    to = drogon::HttpResponse::newStreamResponse([cursor](char* out, std::size_t room) {
      std::size_t count = 0;
      while (out != nullptr && count < room && cursor->piece < cursor->pieces.size()) {
        SharedBytes& piece = cursor->pieces[cursor->piece];
        const std::size_t part = std::min(room - count, piece->size() - cursor->at);
        std::copy_n(piece->data() + cursor->at, part, out + count);
        count += part;
        cursor->at += part;
        if (cursor->at < piece->size()) continue;
        piece.reset();
        ++cursor->piece;
        cursor->at = 0;
      }
      return count;
    });
    to->addHeader("content-length", std::to_string(size));
  }
  to->setStatusCode(static_cast<drogon::HttpStatusCode>(from.code));
  to->setContentTypeCode(drogon::CT_NONE);
  std::map<std::string, std::string> joined;  // Drogon keeps one value per name
  for (const auto& [name, value] : from.headers.fields()) {
    if (name == "content-length") continue;
    std::string& all = joined[name];
    all.append(all.empty() ? "" : ", ").append(HeaderValue(value));
  }
  for (const auto& [name, value] : joined) {
    if (name == "content-type") {
      to->setContentTypeString(value);
    } else {
      to->addHeader(name, value);
    }
  }
  return to;
}

}  // namespace

H1Connection::H1Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket)
    : Connection(std::move(state), socket), received_(socket->bytesReceived()) {}

void H1Connection::OnRequest(const std::shared_ptr<drogon::HttpRequest>& request, Answer answer) {
  const std::uint64_t number = next_++;
  if (const auto socket = socket_.lock()) received_ = socket->bytesReceived();
  arriving_since_.reset();
  open_.push_back(number);
  Pending pending{.head = request->isHead(),
                  .http10 = request->getVersion() == drogon::Version::kHttp10,
                  .answer = std::move(answer)};
  Serve(state_, loop_, Translate(*request, CurrentPeer()),
        [weak = weak_from_this(), number, pending = std::move(pending)](Response response) {
          if (const auto self = weak.lock()) {
            self->OnAnswer(number, pending, std::move(response));
          } else {
            Discard(response);
          }
        });
}

void H1Connection::OnAnswer(std::uint64_t number, Pending pending, Response response) {
  if (response.stream && !pending.head && HasBody(response.code)) {
    TakeOver(number, pending.http10 ? Framing::kUntilClose : Framing::kChunked,
             std::move(response));
    return;
  }
  Discard(response);
  pending.answer(Render(std::move(response)));
  std::erase(open_, number);
  StartStreamInTurn();
}

void H1Connection::TakeOver(std::uint64_t number, Framing framing, Response response) {
  const auto socket = socket_.lock();
  // One stream ends the connection, so a second one in the pipeline is never sent.
  if (!socket || !socket->connected() || (stream_ && stream_number_ < number)) {
    Discard(response);
    return;
  }
  stream_number_ = number;
  stream_ = std::make_unique<H1Stream>(state_, socket, std::move(response), framing);
  StartStreamInTurn();
}

// Drogon may still hold earlier answers until it returns to the loop, hence the task.
void H1Connection::StartStreamInTurn() {
  if (!stream_ || started_ || open_.front() != stream_number_) return;
  started_ = true;
  loop_->queueInLoop([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->stream_) self->stream_->Start();
  });
}

void H1Connection::OnClosed() { stream_.reset(); }

void H1Connection::EndStreams() {
  if (stream_ && started_) stream_->End();
}

void H1Connection::Retire() {
  const auto socket = socket_.lock();
  if (socket && open_.empty()) socket->shutdown();
}

void H1Connection::Sweep(std::chrono::steady_clock::time_point now) {
  if (stream_ && started_) return stream_->Sweep(now);
  const auto socket = socket_.lock();
  if (!socket || !open_.empty() || socket->bytesReceived() == received_) return;
  if (!arriving_since_) arriving_since_ = now;
  if (ArrivesTooSlowly(now - *arriving_since_, socket->bytesReceived() - received_)) {
    loop_->queueInLoop([socket] { socket->forceClose(); });
  }
}

}  // namespace mailroom::apiserver
