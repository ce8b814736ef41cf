// The only virtual seam between a client and a server: send one request, open one stream, run
// something later. Implementations: CurlTransport (HTTPS, libcurl multi, one thread) and
// apiserver's Loopback (a function call). Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::client {

// Receives a streamed response. All calls come from the transport's loop thread and must not
// block.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  // Response head, once, before any data.
  virtual void OnHead(int code, const Headers& headers) = 0;
  virtual void OnData(std::string_view piece) = 0;
  // Asked before every piece: false leaves it with the peer until the stream is resumed.
  virtual bool HasRoom() { return true; }
  // Whether the events of a watch may come as objects, where the server is in this process.
  virtual bool TakesObjects() const { return false; }
  virtual void OnObject(const WatchedObject&) {}
  // The last call. `error` is null on a clean end of the body.
  virtual void OnEnd(const Status* error) = 0;
};

// Closes the stream when destroyed; no sink call runs after the destructor returns. May be
// destroyed from inside a sink call.
class OpenStream {
 public:
  virtual ~OpenStream() = default;
  // There is room again. Harmless when nothing was left waiting.
  virtual void Resume() {}
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Blocks until the whole response is here. Transport failures are ServiceUnavailable; an HTTP
  // error is a Response with its code. Must not be called from the loop thread.
  virtual Result<Response> Send(Request request) = 0;
  virtual std::unique_ptr<OpenStream> Open(Request request, StreamSink& sink) = 0;
  // Runs `task` on the loop thread after `delay`; tasks still pending at destruction are dropped.
  virtual void After(std::chrono::milliseconds delay, std::function<void()> task) = 0;
};

}  // namespace mailroom::client
