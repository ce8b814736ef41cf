// An HTTP/1.1 or 1.0 connection: Drogon parses requests; this class answers them one after the
// other in the order they came, and draws each body as fast as the peer reads. Lives on the
// connection's loop.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "apiserver/http/connection.h"
#include "apiserver/http/h1_answer.h"
#include "apiserver/http/outlet.h"

namespace drogon {
class HttpRequest;
}  // namespace drogon

namespace mailroom::apiserver {

class H1Connection : public Connection, public std::enable_shared_from_this<H1Connection> {
 public:
  // `fd`: the socket, of which nothing but its state is asked; -1 when not known.
  H1Connection(std::shared_ptr<FrontState> state, const TcpConnectionPtr& socket, int fd);
  ~H1Connection() override;

  // Call once, when the connection is in a shared_ptr.
  void Start();
  void OnRequest(const drogon::HttpRequest& request);
  // The head of a request has arrived whose body waits for a 100 Continue.
  void OnExpectation();

  void OnAnswer(std::int32_t id, Response& response) override;
  void OnClosed() override;
  void EndStreams() override;
  void Retire() override;
  void Sweep(std::chrono::steady_clock::time_point now) override;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Asked {
    Request request;
    H1Terms terms;
    int refusal = 0;  // the status of what could not be parsed
    std::size_t Bytes() const;
  };
  Asked Translate(const drogon::HttpRequest& from);
  void Begin(Asked asked);
  // What the outlet draws: the answer under way, then those of the requests in line.
  Outlet::Supply Fill(std::string& out, std::size_t max);
  // The kernel has sent all it was given, so it has room for a whole block.
  bool HasRoom() const;
  void Finished();
  void KickSoon();
  void OnEnded();
  void Cut(const TcpConnectionPtr& socket, const char* why);
  // Cuts a reader of events that is too far behind them, unless it soon catches up.
  void CheckBehind();
  // What has begun to arrive; false when it has been given up.
  bool SweepArriving(const TcpConnectionPtr& socket, Time now);
  // What has been taken of an answer.
  void SweepAnswer(const TcpConnectionPtr& socket, Time now);

  const int fd_;
  std::shared_ptr<Outlet> outlet_;
  bool busy_ = false;  // a request is being served or its answer written
  H1Terms terms_;      // of that request
  std::unique_ptr<H1Answer> answer_;
  std::deque<Asked> waiting_;
  std::size_t waiting_bytes_ = 0;  // of them
  bool retired_ = false;           // close after the answer under way
  bool over_ = false;              // nothing more is answered
  bool kick_posted_ = false;
  int expecting_ = 0;          // requests that OnExpectation told of, not yet complete
  bool continue_due_ = false;  // to the last of them, when the earlier ones are answered

  // A request that has begun to arrive shows in the bytes since the last one was complete.
  std::size_t received_ = 0;
  FrontState::Holding holding_;  // those bytes, as of the last sweep, and waiting_bytes_
  std::optional<Time> arriving_since_;
  Time idle_since_;
  bool behind_timer_ = false;  // will call CheckBehind
  std::optional<Time> closing_since_;
  std::size_t closing_sent_ = 0;
};

}  // namespace mailroom::apiserver
