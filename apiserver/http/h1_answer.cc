#include "apiserver/http/h1_answer.h"

#include <drogon/HttpTypes.h>
#include <drogon/utils/Utilities.h>

#include <array>
#include <algorithm>
#include <charconv>

#include "apiserver/http/exchange.h"

namespace mailroom::apiserver {
namespace {

constexpr std::array<std::string_view, 5> kOurFields = {"connection", "content-length", "date",
                                                        "keep-alive", "transfer-encoding"};

constexpr std::size_t kHeadBytes = 256;  // of most heads

bool HasBody(int code) { return code >= 200 && code != 204 && code != 304; }

}  // namespace

H1Answer::Framing H1Answer::Choose(const Response& response, const H1Terms& terms) {
  if (terms.head || !HasBody(response.code)) return Framing::kNone;
  if (!response.stream) return Framing::kLength;
  return terms.http10 ? Framing::kUntilClose : Framing::kChunked;
}

std::string H1Answer::Head(const Response& response, const H1Terms& terms, Framing framing,
                           bool close) {
  std::string head;
  head.reserve(kHeadBytes);
  head.append(terms.http10 ? "HTTP/1.0 " : "HTTP/1.1 ");
  head.append(std::to_string(response.code)).append(" ");
  head.append(drogon::statusCodeToString(response.code)).append("\r\n");
  for (const auto& [name, value] : response.headers.fields()) {
    if (std::find(kOurFields.begin(), kOurFields.end(), name) != kOurFields.end()) continue;
    head.append(name).append(": ");
    head.append(CleanValue(value) ? value : HeaderValue(value)).append("\r\n");
  }
  head.append("date: ").append(drogon::utils::getHttpFullDateStr(trantor::Date::now()));
  head.append("\r\n");
  if (close) {
    head.append("connection: close\r\n");
  } else if (terms.http10) {
    head.append("connection: keep-alive\r\n");
  }
  if (framing == Framing::kChunked) {
    head.append("transfer-encoding: chunked\r\n");
  } else if (framing == Framing::kLength || (terms.head && !response.stream)) {
    head.append("content-length: ").append(std::to_string(response.BodySize())).append("\r\n");
  }
  return head.append("\r\n");
}

H1Answer::H1Answer(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop,
                   Response& response, const H1Terms& terms, std::function<void()> ready)
    : framing_(Choose(response, terms)),
      close_(terms.close || framing_ == Framing::kUntilClose),
      head_(Head(response, terms, framing_, close_)),
      body_(state, loop, response, std::move(ready)) {
  if (framing_ == Framing::kNone) body_.Cancel();
  if (body_.live()) live_.emplace(state, state->streams);
}

H1Answer::Progress H1Answer::Fill(std::string& out, std::size_t max,
                                  const std::function<bool()>& has_room) {
  out.append(head_);
  head_.clear();
  head_.shrink_to_fit();
  // What the socket does not take waits in memory, for each stuck reader: so little is tried, a TLS
  // record, unless there is more and it is known to have room.
  const std::size_t whole = max;
  if (live()) max = std::min(max, limits::kStreamBlock);
  std::size_t count = body_.Prepare(max);
  if (count == max && max < whole && has_room()) count = body_.Prepare(max = whole);
  if (framing_ != Framing::kChunked) {
    body_.Take(out, count);
  } else if (count > 0) {
    char digits[sizeof(std::size_t) * 2];
    const auto end = std::to_chars(digits, digits + sizeof digits, count, 16).ptr;
    out.append(digits, end).append("\r\n");
    body_.Take(out, count);
    out.append("\r\n");
  }
  if (!body_.finished()) return count == max ? Progress::kMore : Progress::kIdle;
  if (body_.aborted()) return Progress::kAborted;
  if (framing_ == Framing::kChunked) out.append("0\r\n\r\n");
  return Progress::kDone;
}

}  // namespace mailroom::apiserver
