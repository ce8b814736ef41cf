// The answer of another server on its way to a client of ours: filled by the transport's thread,
// drawn by whoever answers. Holds a bounded part; the rest stays with the other server until the
// client has taken some.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "apiserver/client/curl_transport.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

class Relay final : public client::StreamSink {
 public:
  explicit Relay(std::size_t room) : room_(room) {}

  // Waits until the head is here; the error when it never came.
  Result<void> AwaitHead(std::chrono::milliseconds timeout);
  enum class Body { kWhole, kPart, kBroken };
  // Waits until the body is complete, broken, larger than the room, or the time is over.
  Body AwaitBody(std::chrono::milliseconds timeout);
  // Once the head is here.
  int code() const { return code_; }
  const Headers& headers() const { return headers_; }
  std::string error() const;

  // Moves about `max_bytes` of what is here.
  Stream::State Take(std::vector<SharedBytes>& out, std::size_t max_bytes);
  // Invoked when there is more to take or nothing will follow; an empty one ends that.
  void OnReady(std::function<void()> ready);

  void OnHead(int code, const Headers& headers) override;
  bool HasRoom() override;
  void OnData(std::string_view piece) override;
  void OnEnd(const Status* error) override;

 private:
  void Wake();

  const std::size_t room_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool head_ = false;  // this and the next guarded by mutex_; code and headers are set before
  bool ended_ = false;
  std::optional<Status> error_;
  std::deque<SharedBytes> pieces_;
  std::size_t bytes_ = 0;
  int code_ = 0;
  Headers headers_;
  std::mutex ready_mutex_;
  std::function<void()> ready_;  // guarded by ready_mutex_
};

// The rest of a body as it comes, of events or of a document. It breaks off where the other
// server's does. The exchange lives as long as the stream.
std::unique_ptr<Stream> StreamRelay(std::shared_ptr<client::CurlStreams> streams,
                                    std::shared_ptr<Relay> relay,
                                    std::unique_ptr<client::OpenStream> exchange, bool events);

}  // namespace mailroom::apiserver
