// The transport-free seam: an HTTP request, its response, and a streamed body. Handlers and
// clients speak only these; which socket, framework or function call carries them is decided in
// apiserver/http/, apiserver/loopback.cc and apiserver/client/curl_transport.cc.
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/object/object.h"

namespace mailroom {

// Header fields in order of arrival, names lower-case, repeated fields kept.
class Headers {
 public:
  void Add(std::string name, std::string value);
  void Set(std::string name, std::string value);
  // First value, or "" when absent. `name` lower-case.
  std::string_view Get(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  void Remove(std::string_view name);
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Who is at the other end, as far as the transport proved it.
struct Peer {
  std::string common_name;                  // of a verified client certificate, else ""
  std::vector<std::string> organizations;   // its O values
  bool certificate_rejected = false;        // one was presented but does not verify
  bool front_proxy = false;                 // verified by the request-header CA
  std::string address;                      // with its port, for logs; see HostOf
  std::time_t until = 0;                    // when the certificate stops to hold; 0 without one
};

struct Request {
  std::string method;  // upper case
  std::string path;    // raw, percent-encoded, without the query
  std::string query;   // raw, without '?'
  Headers headers;
  std::string body;
  Peer peer;
};

// One event of a watch as a reader in this process may have it: the object itself instead of text.
struct WatchedObject {
  enum class Type { kSet, kDeleted, kBookmark, kInitialEnd };
  Type type;
  Revision revision;
  Workspace workspace = Workspace();
  ObjectPtr object = nullptr;  // none with a bookmark
};

// A body that comes in pieces, such as a watch. The transport pulls; the source never pushes
// bytes, so a slow reader costs at most the source's own bounded queue. Pull and Cancel are
// called from one thread at a time; the ready callback may be invoked from any thread.
class Stream {
 public:
  enum class State { kIdle, kMore, kEnd, kAborted };
  virtual ~Stream() = default;
  // Called once, before the first Pull. `ready` must be invoked after data becomes available
  // following a Pull that returned kIdle; spurious calls are allowed.
  virtual void OnReady(std::function<void()> ready) = 0;
  // Appends pieces, about `max_bytes` in total. kMore: call again; kIdle: wait for ready;
  // kEnd: the body is complete after these pieces; kAborted: it will never be, and its reader must
  // not take it for whole.
  virtual State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) = 0;
  // Whether PullObjects may be called instead of Pull: the body is a watch of whole objects.
  virtual bool gives_objects() const { return false; }
  // As Pull; `max_bytes` bounds the size the objects would have as text.
  virtual State PullObjects(std::vector<WatchedObject>&, std::size_t) { return State::kEnd; }
  // The reader is gone; ready is not invoked after Cancel returns.
  virtual void Cancel() = 0;
  // The source has overflowed: the body ends after what is left in it, and events are missing
  // then. Called as Pull is; when it becomes true, ready is invoked.
  virtual bool broken() const { return false; }
  // Bytes of events that wait in the source for this reader. Called as Pull is; when they pass the
  // bound that the source was given, ready is invoked.
  virtual std::size_t pending() const { return 0; }
  // Whether the body is a document that comes to its end as fast as it is read, such as a long
  // list, rather than events: it may be compressed on the way, and a server that stops finishes
  // it. Such a stream is never idle.
  virtual bool finite() const { return false; }
  // Whether the body is a document, even one that comes as slowly as somebody else sends it: ended
  // early, it is not whole.
  virtual bool document() const { return finite(); }
};

// A finite stream. `next` appends pieces, about `max_bytes` in total, and says whether more
// follow; it is called on an I/O loop and must not block. What it holds should be small: this is
// how a list of any size is answered with a bounded buffer.
std::unique_ptr<Stream> StreamDocument(
    std::function<bool(std::vector<SharedBytes>& out, std::size_t max_bytes)> next);

struct Response {
  int code = 200;
  Headers headers;
  // The body in pieces that are sent one after the other; shared, never copied.
  std::vector<SharedBytes> body;
  // When set, `body` is sent first and the stream follows.
  std::unique_ptr<Stream> stream;

  void Append(std::string piece);
  std::size_t BodySize() const;
  std::string BodyText() const;  // the pieces joined
  // Draws a finite stream into `body`, for readers that want the whole document at once.
  void Gather();
};

// The address of a peer without its port: of `10.0.0.1:4711` or `[::1]:4711`; as it is where it has
// none.
std::string HostOf(std::string_view address);

// Decodes %XX once. False when the text is not well-formed or decodes to NUL.
bool PercentDecode(std::string_view text, std::string& out);
std::string PercentEncode(std::string_view text);
// `a=1&b=2` into decoded pairs, '+' as space; malformed pairs are dropped.
std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query);

}  // namespace mailroom
