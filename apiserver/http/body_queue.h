// The bytes of one response body in sending order: its pieces, then what its stream yields. Both
// protocols draw from it as fast as the peer reads. Lives on the connection's loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/front_state.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

class BodyQueue {
 public:
  // `ready` is called on the loop when a body that had run dry may have more.
  BodyQueue(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop, Response& response,
            std::function<void()> ready);
  ~BodyQueue();  // Cancel()
  BodyQueue(const BodyQueue&) = delete;
  BodyQueue& operator=(const BodyQueue&) = delete;

  // Pulls until `max` bytes are there, the stream is idle, or it has ended. Returns the bytes
  // that can be taken now, at most `max`.
  std::size_t Prepare(std::size_t max);
  // Appends exactly `count` prepared bytes.
  void Take(std::string& out, std::size_t count);
  void Take(char* out, std::size_t count);
  // Nothing will come after what is prepared, and nothing is.
  bool finished() const { return ended_ && bytes_ == 0; }
  // It began as a stream of events, not as a document.
  bool live() const { return live_; }
  // The source has ended, though prepared bytes may be left.
  bool ended() const { return ended_; }
  // Since when the reader is too far behind, if it is: the source has overflowed, or more than
  // FrontOptions::stream_pending waits in it and did so after every block that was drawn since.
  using Time = std::chrono::steady_clock::time_point;
  std::optional<Time> BehindSince();
  // It broke off: what was taken is not the whole body. Known once it has finished.
  bool aborted() const { return aborted_; }
  // Ends the body after what is prepared, which breaks off a document.
  void End();
  // Ends it now.
  void Cancel();

 private:
  struct Wake;
  class Gathered;
  bool Refill(std::size_t max);
  bool Behind() const;
  void Close();
  template <typename Sink>
  void TakeTo(std::size_t count, Sink sink);

  std::unique_ptr<Stream> stream_;
  const bool live_;
  const std::size_t pending_bound_;
  std::vector<SharedBytes> pieces_;
  std::size_t front_ = 0;     // the first piece not yet taken
  std::size_t front_at_ = 0;  // bytes of it already taken
  std::size_t bytes_ = 0;     // left in pieces_
  bool idle_ = false;         // the last Pull said so, and ready was not called since
  bool ended_ = false;
  bool aborted_ = false;
  bool overflowed_ = false;   // the source, before it ended
  std::optional<Time> behind_since_;
  std::shared_ptr<Wake> wake_;
};

}  // namespace mailroom::apiserver
