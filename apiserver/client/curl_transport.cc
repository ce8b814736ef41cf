#include "apiserver/client/curl_transport.h"

#include <curl/curl.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/client/curl_exchange.h"
#include "storage/object/limits.h"

namespace mailroom::client {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Gathers one whole answer for a thread that waits for it.
class Collector : public StreamSink {
 public:
  void OnHead(int code, const Headers& headers) override {
    response_.code = code;
    response_.headers = headers;
  }
  void OnData(std::string_view piece) override {
    if (too_large_) return;
    too_large_ = body_.size() + piece.size() > limits::kClientResponseBytes;
    if (too_large_) {
      body_ = std::string();
    } else {
      body_ += piece;
    }
  }
  void OnEnd(const Status* error) override {
    std::lock_guard lock(mutex_);
    if (error != nullptr) error_ = *error;
    done_ = true;
    finished_.notify_one();
  }

  Result<Response> Wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
    if (error_.has_value()) return *std::move(error_);
    if (too_large_) return Unavailable("the server's answer is larger than this client accepts");
    response_.Append(std::move(body_));
    return std::move(response_);
  }

 private:
  Response response_;
  std::string body_;
  bool too_large_ = false;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;            // guarded by mutex_
  std::optional<Status> error_;  // guarded by mutex_
};

class CurlTransport : public Transport, public CurlStreams {
 public:
  explicit CurlTransport(ServerConfig config);
  ~CurlTransport() override;

  Result<Response> Send(Request request) override;
  std::unique_ptr<OpenStream> Open(Request request, StreamSink& sink) override {
    return Begin(config_, Token(), std::move(request), sink);
  }
  std::unique_ptr<OpenStream> Open(std::shared_ptr<const ServerConfig> config, Request request,
                                   StreamSink& sink) override {
    const std::string token = config->token;
    return Begin(std::move(config), token, std::move(request), sink);
  }
  void After(std::chrono::milliseconds delay, std::function<void()> task) override;

 private:
  using ExchangePtr = std::shared_ptr<CurlExchange>;
  using Timer = std::pair<SteadyClock::time_point, std::function<void()>>;

  class Handle : public OpenStream {
   public:
    Handle(CurlTransport& transport, ExchangePtr exchange)
        : transport_(transport), exchange_(std::move(exchange)) {}
    ~Handle() override { transport_.Close(std::move(exchange_)); }
    void Resume() override { transport_.Resume(exchange_); }

   private:
    CurlTransport& transport_;
    ExchangePtr exchange_;
  };

  std::string Token();
  void Begin(ExchangePtr exchange);
  std::unique_ptr<OpenStream> Begin(std::shared_ptr<const ServerConfig> config,
                                    const std::string& token, Request request, StreamSink& sink);
  void Resume(ExchangePtr exchange);
  void Close(ExchangePtr exchange);
  void Run();
  void TakePosted();
  void RunDueTimers();
  void ReapFinished();
  int PollMillis() const;

  const std::shared_ptr<const ServerConfig> config_;
  CURLM* const multi_;

  std::mutex mutex_;
  // Guarded by mutex_.
  bool stopping_ = false;
  std::vector<ExchangePtr> starting_;
  std::vector<ExchangePtr> resuming_;
  std::vector<ExchangePtr> closing_;
  std::vector<Timer> new_timers_;
  std::string token_;
  SteadyClock::time_point token_read_;

  // Loop thread only.
  std::unordered_map<CURL*, ExchangePtr> running_;
  std::multimap<SteadyClock::time_point, std::function<void()>> timers_;

  std::jthread loop_;
};

CurlTransport::CurlTransport(ServerConfig config)
    : config_(std::make_shared<const ServerConfig>(std::move(config))),
      multi_(curl_multi_init()),
      token_(config_->token),
      token_read_(SteadyClock::now()) {
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS,
                    static_cast<long>(limits::kClientConnections));
  curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                    static_cast<long>(limits::kAggregatedConnections));
  curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS,
                    static_cast<long>(limits::kHttp2Streams));
  loop_ = std::jthread([this] { Run(); });
}

CurlTransport::~CurlTransport() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    curl_multi_wakeup(multi_);
  }
  loop_.join();
  curl_multi_cleanup(multi_);
}

Result<Response> CurlTransport::Send(Request request) {
  Collector collector;
  Begin(std::make_shared<CurlExchange>(config_, Token(), std::move(request), collector, false));
  return collector.Wait();
}

std::unique_ptr<OpenStream> CurlTransport::Begin(std::shared_ptr<const ServerConfig> config,
                                                 const std::string& token, Request request,
                                                 StreamSink& sink) {
  auto exchange =
      std::make_shared<CurlExchange>(std::move(config), token, std::move(request), sink, true);
  auto handle = std::make_unique<Handle>(*this, exchange);
  Begin(std::move(exchange));
  return handle;
}

void CurlTransport::After(std::chrono::milliseconds delay, std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    new_timers_.emplace_back(SteadyClock::now() + delay, std::move(task));
    curl_multi_wakeup(multi_);
  }
}

std::string CurlTransport::Token() {
  std::lock_guard lock(mutex_);
  const auto now = SteadyClock::now();
  if (!config_->token_file.empty() && now - token_read_ >= limits::kTokenReread) {
    token_read_ = now;
    // An unreadable file leaves the old token, which the server judges.
    if (Result<std::string> fresh = ReadToken(config_->token_file); fresh.ok()) token_ = *fresh;
  }
  return token_;
}

void CurlTransport::Begin(ExchangePtr exchange) {
  {
    std::lock_guard lock(mutex_);
    starting_.push_back(std::move(exchange));
    curl_multi_wakeup(multi_);
  }
}

void CurlTransport::Resume(ExchangePtr exchange) {
  {
    std::lock_guard lock(mutex_);
    resuming_.push_back(std::move(exchange));
    curl_multi_wakeup(multi_);
  }
}

// libcurl forbids removing a handle inside its own callback, so the loop does it afterwards.
void CurlTransport::Close(ExchangePtr exchange) {
  exchange->Detach(loop_.get_id());
  {
    std::lock_guard lock(mutex_);
    closing_.push_back(std::move(exchange));
    curl_multi_wakeup(multi_);
  }
}

void CurlTransport::Run() {
  // Under TLS a write to a closed socket raises SIGPIPE, which goes to the writing thread.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    TakePosted();
    RunDueTimers();
    int running = 0;
    curl_multi_perform(multi_, &running);
    ReapFinished();
    curl_multi_poll(multi_, nullptr, 0, PollMillis(), nullptr);
  }
  // Waiting senders must be answered, and a stream's last call is always OnEnd.
  TakePosted();
  for (auto& [easy, exchange] : running_) {
    curl_multi_remove_handle(multi_, easy);
    exchange->Finish(CURLE_ABORTED_BY_CALLBACK);
  }
  running_.clear();
}

void CurlTransport::TakePosted() {
  std::vector<ExchangePtr> starting, resuming, closing;
  std::vector<Timer> new_timers;
  {
    std::lock_guard lock(mutex_);
    starting.swap(starting_);
    resuming.swap(resuming_);
    closing.swap(closing_);
    new_timers.swap(new_timers_);
  }
  for (Timer& timer : new_timers) timers_.insert(std::move(timer));
  for (ExchangePtr& exchange : starting) {
    curl_multi_add_handle(multi_, exchange->easy());
    running_.emplace(exchange->easy(), std::move(exchange));
  }
  for (const ExchangePtr& exchange : resuming) {
    if (running_.contains(exchange->easy())) exchange->Resume();
  }
  for (const ExchangePtr& exchange : closing) {
    if (running_.erase(exchange->easy()) > 0) curl_multi_remove_handle(multi_, exchange->easy());
  }
}

void CurlTransport::RunDueTimers() {
  const auto now = SteadyClock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    auto timer = timers_.extract(timers_.begin());
    timer.mapped()();
  }
}

void CurlTransport::ReapFinished() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode result = message->data.result;
    auto found = running_.extract(easy);
    curl_multi_remove_handle(multi_, easy);
    if (!found.empty()) found.mapped()->Finish(result);
  }
}

int CurlTransport::PollMillis() const {
  constexpr std::int64_t kLongest = 60'000;
  if (timers_.empty()) return kLongest;
  const auto wait =
      std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - SteadyClock::now());
  return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, kLongest));
}

}  // namespace

std::unique_ptr<Transport> MakeCurlTransport(const ServerConfig& config) {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)initialized;
  return std::make_unique<CurlTransport>(config);
}

std::unique_ptr<CurlStreams> MakeCurlStreams() {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)initialized;
  return std::make_unique<CurlTransport>(ServerConfig());
}

}  // namespace mailroom::client
