// One HTTP/1.1 or 1.0 answer on its way out: status line, fields, and the body in the framing
// that this peer understands. Lives on the connection's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/http/body_queue.h"
#include "apiserver/http/front_state.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

// What the request says about the form of its answer.
struct H1Terms {
  bool head = false;    // HEAD: no body
  bool http10 = false;  // knows no chunks
  bool close = false;   // nothing follows on this connection
};

class H1Answer {
 public:
  // `ready` is called on the loop when a body that had run dry may have more.
  H1Answer(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop, Response& response,
           const H1Terms& terms, std::function<void()> ready);

  enum class Progress { kMore, kIdle, kDone, kAborted };
  // Appends about `max` bytes of body in their framing, after the head if that is still to go; of
  // events at most limits::kStreamBlock unless the socket `has_room`.
  // kAborted: the body broke off, which only the end of the connection can tell the peer.
  Progress Fill(std::string& out, std::size_t max, const std::function<bool()>& has_room);

  // The connection ends with this answer.
  bool closes() const { return framing_ == Framing::kUntilClose || close_; }
  // A body of events, which ends only when somebody ends it.
  bool live() const { return live_.has_value(); }
  BodyQueue& body() { return body_; }

 private:
  enum class Framing { kNone, kLength, kChunked, kUntilClose };
  static Framing Choose(const Response& response, const H1Terms& terms);
  static std::string Head(const Response& response, const H1Terms& terms, Framing framing,
                          bool close);

  const Framing framing_;
  const bool close_;
  std::string head_;  // until sent
  std::optional<FrontState::Counted> live_;
  BodyQueue body_;
};

}  // namespace mailroom::apiserver
