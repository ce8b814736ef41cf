#include "apiserver/loopback.h"

#include <mutex>

#include "apiserver/auth/user.h"
#include "apiserver/timer_queue.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

const User& Self() {
  static const User user{"system:mailroom", {std::string(kMasters), "system:authenticated"}};
  return user;
}

// One open stream. Shared by its handle and the tasks posted for it; `mutex_` is held while the
// sink is called, so closing waits for a call in progress (unless made from inside one).
class Pump : public std::enable_shared_from_this<Pump> {
 public:
  Pump(TimerQueue& loop, Dispatcher& dispatcher, Request request, client::StreamSink& sink)
      : loop_(loop), dispatcher_(dispatcher), request_(std::move(request)), sink_(&sink) {}

  void Start() {
    std::lock_guard lock(mutex_);
    if (sink_ == nullptr) return;
    response_ = dispatcher_.HandleAs(request_, Self());
    sink_->OnHead(response_.code, response_.headers);
    for (const SharedBytes& piece : response_.body) {
      if (sink_ != nullptr) sink_->OnData(*piece);
    }
    if (sink_ == nullptr) return;
    if (response_.stream == nullptr) return End();
    response_.stream->OnReady([weak = weak_from_this(), this] {
      if (auto self = weak.lock()) loop_.Post([self] { self->Advance(); });
    });
    objects_ = sink_->TakesObjects() && response_.stream->gives_objects();
    AdvanceLocked();
  }

  void Close() {
    std::unique_ptr<Stream> stream;
    {
      std::lock_guard lock(mutex_);
      sink_ = nullptr;
      stream = std::move(response_.stream);
    }
    if (stream != nullptr) stream->Cancel();
  }

 private:
  void Advance() {
    std::lock_guard lock(mutex_);
    AdvanceLocked();
  }

  void AdvanceLocked() {
    while (sink_ != nullptr && response_.stream != nullptr) {
      const Stream::State state = objects_ ? PassObjects() : PassBytes();
      if (state == Stream::State::kEnd) return End();
      if (state == Stream::State::kAborted) return Abort();
      if (state == Stream::State::kIdle) return;
    }
  }

  Stream::State PassBytes() {
    std::vector<SharedBytes> pieces;
    const Stream::State state = response_.stream->Pull(pieces, limits::kStreamPendingBytes);
    for (const SharedBytes& piece : pieces) {
      if (sink_ != nullptr) sink_->OnData(*piece);
    }
    return state;
  }

  Stream::State PassObjects() {
    std::vector<WatchedObject> events;
    const Stream::State state = response_.stream->PullObjects(events, limits::kStreamPendingBytes);
    for (const WatchedObject& event : events) {
      if (sink_ != nullptr) sink_->OnObject(event);
    }
    return state;
  }

  void End() {
    client::StreamSink* sink = std::exchange(sink_, nullptr);
    if (sink != nullptr) sink->OnEnd(nullptr);
  }

  void Abort() {
    const Status why = Unavailable("the body broke off");
    client::StreamSink* sink = std::exchange(sink_, nullptr);
    if (sink != nullptr) sink->OnEnd(&why);
  }

  TimerQueue& loop_;
  Dispatcher& dispatcher_;
  Request request_;
  std::recursive_mutex mutex_;
  client::StreamSink* sink_;  // guarded by mutex_; null once closed or ended
  Response response_;         // guarded by mutex_
  bool objects_ = false;      // guarded by mutex_; events come as objects
};

class LoopbackStream final : public client::OpenStream {
 public:
  explicit LoopbackStream(std::shared_ptr<Pump> pump) : pump_(std::move(pump)) {}
  ~LoopbackStream() override { pump_->Close(); }

 private:
  std::shared_ptr<Pump> pump_;
};

class Loopback final : public client::Transport {
 public:
  explicit Loopback(Dispatcher& dispatcher) : dispatcher_(dispatcher) {}

  Result<Response> Send(Request request) override {
    Response response = dispatcher_.HandleAs(request, Self());
    response.Gather();
    return response;
  }

  std::unique_ptr<client::OpenStream> Open(Request request, client::StreamSink& sink) override {
    auto pump = std::make_shared<Pump>(loop_, dispatcher_, std::move(request), sink);
    loop_.Post([pump] { pump->Start(); });
    return std::make_unique<LoopbackStream>(pump);
  }

  void After(std::chrono::milliseconds delay, std::function<void()> task) override {
    loop_.At(std::chrono::steady_clock::now() + delay, std::move(task));
  }

 private:
  Dispatcher& dispatcher_;
  TimerQueue loop_;
};

}  // namespace

std::unique_ptr<client::Transport> MakeLoopback(Dispatcher& dispatcher) {
  return std::make_unique<Loopback>(dispatcher);
}

}  // namespace mailroom::apiserver
