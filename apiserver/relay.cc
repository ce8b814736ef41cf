#include "apiserver/relay.h"

namespace mailroom::apiserver {

Result<void> Relay::AwaitHead(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const bool told = changed_.wait_for(lock, timeout, [this] { return head_ || ended_; });
  if (head_) return Ok();
  if (!told) return Unavailable("context deadline exceeded");
  return error_ ? *error_ : Unavailable("EOF");
}

Relay::Body Relay::AwaitBody(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return ended_ || bytes_ >= room_; });
  if (!ended_) return Body::kPart;
  return error_ ? Body::kBroken : Body::kWhole;
}

std::string Relay::error() const {
  std::lock_guard lock(mutex_);
  return error_ ? error_->message() : "";
}

Stream::State Relay::Take(std::vector<SharedBytes>& out, std::size_t max_bytes) {
  std::lock_guard lock(mutex_);
  std::size_t taken = 0;
  while (!pieces_.empty() && taken < max_bytes) {
    taken += pieces_.front()->size();
    out.push_back(std::move(pieces_.front()));
    pieces_.pop_front();
  }
  bytes_ -= taken;
  if (!pieces_.empty()) return Stream::State::kMore;
  if (!ended_) return Stream::State::kIdle;
  return error_ ? Stream::State::kAborted : Stream::State::kEnd;
}

void Relay::OnReady(std::function<void()> ready) {
  std::lock_guard lock(ready_mutex_);
  ready_ = std::move(ready);
}

void Relay::Wake() {
  changed_.notify_all();
  std::lock_guard lock(ready_mutex_);
  if (ready_) ready_();
}

void Relay::OnHead(int code, const Headers& headers) {
  {
    std::lock_guard lock(mutex_);
    code_ = code;
    headers_ = headers;
    head_ = true;
  }
  Wake();
}

bool Relay::HasRoom() {
  std::lock_guard lock(mutex_);
  return bytes_ < room_;
}

void Relay::OnData(std::string_view piece) {
  {
    std::lock_guard lock(mutex_);
    pieces_.push_back(std::make_shared<const std::string>(piece));
    bytes_ += piece.size();
  }
  Wake();
}

void Relay::OnEnd(const Status* error) {
  {
    std::lock_guard lock(mutex_);
    if (error != nullptr) error_ = *error;
    ended_ = true;
  }
  Wake();
}

namespace {

class RelayStream final : public Stream {
 public:
  RelayStream(std::shared_ptr<client::CurlStreams> streams, std::shared_ptr<Relay> relay,
              std::unique_ptr<client::OpenStream> exchange, bool events)
      : streams_(std::move(streams)),
        relay_(std::move(relay)),
        exchange_(std::move(exchange)),
        events_(events) {}
  ~RelayStream() override { Cancel(); }

  void OnReady(std::function<void()> ready) override { relay_->OnReady(std::move(ready)); }

  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    if (exchange_ == nullptr) return State::kEnd;
    const State state = relay_->Take(out, max_bytes);
    if (state == State::kMore || state == State::kIdle) exchange_->Resume();
    return state;
  }

  void Cancel() override {
    relay_->OnReady(nullptr);
    exchange_.reset();
  }
  bool document() const override { return !events_; }

 private:
  const std::shared_ptr<client::CurlStreams> streams_;
  const std::shared_ptr<Relay> relay_;
  std::unique_ptr<client::OpenStream> exchange_;
  const bool events_;
};

}  // namespace

std::unique_ptr<Stream> StreamRelay(std::shared_ptr<client::CurlStreams> streams,
                                    std::shared_ptr<Relay> relay,
                                    std::unique_ptr<client::OpenStream> exchange, bool events) {
  return std::make_unique<RelayStream>(std::move(streams), std::move(relay), std::move(exchange),
                                       events);
}

}  // namespace mailroom::apiserver
