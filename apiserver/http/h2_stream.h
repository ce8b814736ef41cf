// One HTTP/2 stream: a request being received, then the body of its answer. Owned by its
// H2Connection and used on its loop.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/body_queue.h"
#include "apiserver/http/front_state.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

struct H2Stream {
  using Time = std::chrono::steady_clock::time_point;

  explicit H2Stream(std::int32_t stream_id) : id(stream_id) {}

  // False when the header list is over its bound, or would take more than `room`; the field is
  // then not kept.
  bool AddHeader(std::string_view name, std::string_view value, std::size_t room);

  const std::int32_t id;
  Request request;
  std::optional<Time> arriving_since;  // as of the first sweep that saw it
  std::size_t header_bytes = 0;       // as they are kept
  std::size_t header_wire_bytes = 0;  // as they came, compressed
  bool headers_done = false;
  bool dispatched = false;    // or given up: nothing more is kept
  bool head = false;          // HEAD: no body
  std::size_t dropped = 0;    // body bytes past the limit
  bool request_done = false;  // END_STREAM seen

  // Of the answer.
  std::optional<BodyQueue> body;
  std::optional<FrontState::Counted> streaming;  // it is one of events
  bool deferred = false;           // nghttp2 waits for ready
  std::size_t sent = 0;            // bytes of the body
  std::size_t seen_sent = 0;       // of them, by the last sweep
  std::optional<Time> stalled_at;  // since when there was no window, and nothing was sent
  bool behind_timer = false;  // will call CheckBehind
};

// The status line and fields of an answer as nghttp2 wants them. Fields that belong to an
// HTTP/1.1 connection are left out. Refers to the response's own headers.
class H2Head {
 public:
  explicit H2Head(const Response& response);
  const nghttp2_nv* data() const { return fields_.data(); }
  std::size_t size() const { return fields_.size(); }

 private:
  void Add(std::string_view name, std::string_view value, std::uint8_t flags);

  std::array<char, 24> status_, length_;  // as digits
  std::forward_list<std::string> mended_;  // what could not be sent as it is
  std::vector<nghttp2_nv>& fields_;        // the thread's, for one head at a time
};

}  // namespace mailroom::apiserver
