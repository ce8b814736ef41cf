#include "apiserver/http/front.h"

#include <drogon/HttpAppFramework.h>
#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <trantor/net/TcpConnection.h>
#include <trantor/utils/Logger.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <latch>
#include <limits>
#include <mutex>
#include <thread>

#include "apiserver/http/connection.h"
#include "apiserver/http/doorway.h"
#include "apiserver/http/front_state.h"
#include "apiserver/http/h1_connection.h"
#include "apiserver/http/h2_connection.h"
#include "apiserver/http/held_port.h"
#include "storage/object/log.h"
#include "storage/object/rest.h"

namespace drogon {
extern void (*expectationArrived)(const trantor::TcpConnectionPtr&);  // by our edit of its parser
}  // namespace drogon

namespace mailroom::apiserver {
namespace {

// A peer that vanished is noticed after about a minute.
void TuneAccepted(int fd) {
  const int on = 1, idle = 30, interval = 10, count = 3, unsent = limits::kUnsentBytes;
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

// What Trantor calls errors are mostly peers that went away in mid-sentence.
void RouteFrameworkLog() {
  trantor::Logger::setLogLevel(trantor::Logger::kError);
  trantor::Logger::setOutputFunction(
      [](const char* text, std::uint64_t size) {
        std::string line(text, size);
        while (!line.empty() && line.back() == '\n') line.pop_back();
        Log(Level::kDebug, "http framework", {{"text", std::move(line)}});
      },
      [] {});
}

// Visits the connections of the calling loop; a visit may close its connection.
void VisitLocal(const std::function<void(Connection&)>& visit) {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [socket, connection] : LocalConnections()) all.push_back(connection);
  for (const auto& connection : all) visit(*connection);
}

class DrogonFront : public Front {
 public:
  DrogonFront(std::shared_ptr<FrontState> state, HeldPort port)
      : state_(std::move(state)), held_(std::move(port)) {}
  ~DrogonFront() override { Stop(); }

  Result<void> Run();
  std::uint16_t port() const override { return held_.port(); }
  FrontCounts counts() const override {
    return {.connections = state_->connections,
            .handshakes = state_->handshakes,
            .exchanges = state_->exchanges,
            .streams = state_->streams,
            .accepted = state_->accepted,
            .refused = state_->refused,
            .cut = state_->cut,
            .http1_requests = state_->http1_requests,
            .http2_requests = state_->http2_requests};
  }
  void Drain(std::chrono::milliseconds grace) override;
  void Stop() override;
  Result<void> ReloadCertificates() override {
    return state_->options.plain_http ? Ok() : state_->tls.Reload(state_->options);
  }

 private:
  void Configure();
  void OnConnection(const TcpConnectionPtr& socket);
  void OnLoopsReady();
  void StopAccepting();
  // Runs `visit` on every connection, on its loop; returns when all have been visited.
  void ForEach(const std::function<void(Connection&)>& visit);

  const std::shared_ptr<FrontState> state_;
  HeldPort held_;
  std::string upload_dir_;
  std::vector<trantor::EventLoop*> loops_;  // until Stop; set before ready_
  std::promise<Result<void>> ready_;
  std::jthread thread_;
  std::mutex mutex_;  // guards what follows
  std::vector<int> listeners_;
  bool running_ = false;
};

void DrogonFront::Configure() {
  const FrontOptions& options = state_->options;
  // Drogon makes 256 directories for uploads it will never get; they go again in OnLoopsReady.
  std::string pattern = std::filesystem::temp_directory_path() / "mailroom.XXXXXX";
  if (mkdtemp(pattern.data()) != nullptr) upload_dir_ = pattern;

  drogon::app()
      .setThreadNum(std::max<std::size_t>(options.io_threads, 1))
      .setIdleConnectionTimeout(0)  // Sweep does that
      .setClientMaxBodySize(options.body_bytes)
      .setClientMaxMemoryBodySize(options.body_bytes)
      .setMaxConnectionNum(std::numeric_limits<std::size_t>::max())  // doorway.h counts
      .setMaxConnectionNumPerIP(0)
      .setKeepaliveRequestsNumber(0)
      .setPipeliningRequestsNumber(0)
      .setUploadPath(upload_dir_)
      .enableGzip(false)
      .enableBrotli(false)
      .enableServerHeader(false)
      .disableSigtermHandling();
  drogon::app().enableReusePort(true);
  drogon::app().addListener(held_.address(), held_.port(), !options.plain_http, options.cert_file,
                            options.key_file);
  drogon::app().setBeforeListenSockOptCallback([this](int fd) {
    std::lock_guard lock(mutex_);
    listeners_.push_back(fd);
  });
  drogon::app().setAfterAcceptSockOptCallback([this](int fd) {
    TuneAccepted(fd);
    EnterDoorway(state_, fd);
  });
  drogon::app().setConnectionCallback(
      [this](const TcpConnectionPtr& socket) { OnConnection(socket); });
  drogon::app().registerPreRoutingAdvice([](const drogon::HttpRequestPtr& request,
                                            drogon::AdviceCallback&& answer,
                                            drogon::AdviceChainCallback&&) {
    const auto socket = request->getConnectionPtr().lock();
    const auto found = LocalConnections().find(socket.get());
    // Drogon is done with the request: by our edit of it, this answer is not sent.
    static thread_local const auto none = drogon::HttpResponse::newHttpResponse();
    none->setStatusCode(drogon::kUnknown);
    answer(none);
    if (found == LocalConnections().end()) return;
    static_cast<H1Connection&>(*found->second).OnRequest(*request);
  });
  drogon::expectationArrived = [](const TcpConnectionPtr& socket) {
    const auto found = LocalConnections().find(socket.get());
    if (found == LocalConnections().end()) return;
    static_cast<H1Connection&>(*found->second).OnExpectation();
  };
  drogon::app().registerBeginningAdvice([this] {
    if (!state_->options.plain_http) state_->tls.Adopt(state_->options.http2);
    drogon::app().getLoop()->queueInLoop([this] { OnLoopsReady(); });
  });
}

Result<void> DrogonFront::Run() {
  RouteFrameworkLog();
  Configure();
  auto ready = ready_.get_future();
  thread_ = std::jthread([this] {
    try {
      if (!state_->options.plain_http) TlsGate::RecordContexts();
      drogon::app().run();
    } catch (const std::exception& error) {
      Log(Level::kError, "the HTTP framework failed", {{"error", error.what()}});
      try {
        ready_.set_value(Internal(error.what()));
      } catch (const std::future_error&) {  // it had been running
      }
    }
  });
  Result<void> result = ready.get();
  std::lock_guard lock(mutex_);
  running_ = result.ok();
  return result;
}

// Runs on Drogon's main loop after it told every I/O loop to listen.
void DrogonFront::OnLoopsReady() {
  const std::size_t count = drogon::app().getThreadNum();
  auto listening = std::make_shared<std::atomic<std::size_t>>(count);
  for (std::size_t i = 0; i < count; ++i) {
    trantor::EventLoop* loop = drogon::app().getIOLoop(i);
    loops_.push_back(loop);
    const std::chrono::duration<double> sweep = state_->options.timeouts.sweep;
    loop->runEvery(sweep.count(), [state = state_] {
      const auto now = std::chrono::steady_clock::now();
      SweepDoorway(*state, now);
      VisitLocal([now](Connection& c) { c.Sweep(now); });
    });
    loop->runEvery(std::chrono::duration<double>(kUntilRest).count(), [] { ReturnOwnFreed(); });
    loop->queueInLoop([this, listening] {
      if (--*listening > 0) return;
      held_.Release();
      std::error_code ignored;
      if (!upload_dir_.empty()) std::filesystem::remove_all(upload_dir_, ignored);
      ready_.set_value(Ok());
    });
  }
}

void DrogonFront::OnConnection(const TcpConnectionPtr& socket) {
  auto& connections = LocalConnections();
  if (socket->connected()) {
    const int fd = LeaveDoorway(*socket);
    if (socket->applicationProtocol() == "h2") {
      auto connection = std::make_shared<H2Connection>(state_, socket);
      connections[socket.get()] = connection;
      connection->Start();
    } else {
      auto connection = std::make_shared<H1Connection>(state_, socket, fd);
      connections[socket.get()] = connection;
      connection->Start();
    }
    return;
  }
  const auto found = connections.find(socket.get());
  if (found == connections.end()) {  // the handshake failed
    LeaveDoorway(*socket);
    return;
  }
  const auto connection = std::move(found->second);
  connections.erase(found);
  connection->OnClosed();
}

void DrogonFront::ForEach(const std::function<void(Connection&)>& visit) {
  std::latch done(static_cast<std::ptrdiff_t>(loops_.size()));
  for (trantor::EventLoop* loop : loops_) {
    // Counted when the task is gone, for a front that is stopped meanwhile drops it.
    const std::shared_ptr<void> visited(nullptr, [&done](void*) { done.count_down(); });
    state_->Post(loop, [&visit, visited] { VisitLocal(visit); });
  }
  done.wait();
}

// An eventfd that is never readable takes the place of each listening socket, so that new
// connections are refused while the loops keep their descriptors.
void DrogonFront::StopAccepting() {
  std::lock_guard lock(mutex_);
  const int nothing = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const int fd : listeners_) dup2(nothing, fd);
  listeners_.clear();
  close(nothing);
}

void DrogonFront::Drain(std::chrono::milliseconds grace) {
  {
    std::lock_guard lock(mutex_);
    if (!running_) return;
  }
  const auto deadline = std::chrono::steady_clock::now() + grace;
  StopAccepting();
  state_->draining = true;
  ForEach([](Connection& connection) { connection.EndStreams(); });
  state_->AwaitNone(state_->exchanges, deadline);
  ForEach([](Connection& connection) { connection.Retire(); });
  state_->AwaitNone(state_->connections, deadline);
}

void DrogonFront::Stop() {
  {
    std::lock_guard lock(mutex_);
    if (!std::exchange(running_, false)) return;
  }
  state_->Stopped();
  drogon::app().getLoop()->queueInLoop([] { drogon::app().quit(); });
  thread_.join();
  state_->LoopsEnded();
  state_->compressors.Stop();
}

}  // namespace

Result<std::unique_ptr<Front>> Front::Start(FrontOptions options, Handler handler) {
  static std::atomic<bool> started = false;
  auto state = std::make_shared<FrontState>(std::move(options), std::move(handler));
  HeldPort port = TRY(HeldPort::Bind(state->options.host, state->options.port));
  if (state->options.plain_http && !port.loopback()) {
    return Internal("plain HTTP is served on loopback addresses only");
  }
  if (!state->options.plain_http) TRY(state->tls.Reload(state->options));
  if (started.exchange(true)) return Internal("this process has already started a front");
  auto front = std::make_unique<DrogonFront>(std::move(state), std::move(port));
  TRY(front->Run());
  return std::unique_ptr<Front>(std::move(front));
}

}  // namespace mailroom::apiserver
