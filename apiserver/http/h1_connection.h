// An HTTP/1.1 or 1.0 connection: Drogon parses requests and sends ordinary answers; streamed
// answers take the connection over once everything before them in the pipeline is answered.
// Lives on the connection's loop.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "apiserver/http/connection.h"
#include "apiserver/http/h1_stream.h"

namespace drogon {
class HttpRequest;
class HttpResponse;
}  // namespace drogon

namespace mailroom::apiserver {

class H1Connection : public Connection, public std::enable_shared_from_this<H1Connection> {
 public:
  H1Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket);
  using Answer = std::function<void(const std::shared_ptr<drogon::HttpResponse>&)>;

  void OnRequest(const std::shared_ptr<drogon::HttpRequest>& request, Answer answer);

  void OnClosed() override;
  void EndStreams() override;
  void Retire() override;
  void Sweep(std::chrono::steady_clock::time_point now) override;

 private:
  struct Pending {
    bool head = false;  // HEAD: no body
    bool http10 = false;
    Answer answer;
  };
  void OnAnswer(std::uint64_t number, Pending pending, Response response);
  void TakeOver(std::uint64_t number, Framing framing, Response response);
  void StartStreamInTurn();

  // A request that has begun to arrive shows in the bytes since the last one was complete.
  std::size_t received_ = 0;
  std::optional<std::chrono::steady_clock::time_point> arriving_since_;

  std::uint64_t next_ = 0;
  std::deque<std::uint64_t> open_;  // numbers of unanswered requests, in order
  std::uint64_t stream_number_ = 0;
  std::unique_ptr<H1Stream> stream_;
  bool started_ = false;  // stream_ has been
};

}  // namespace mailroom::apiserver
