// The front door: one TLS port that speaks HTTP/1.1 (Drogon) and HTTP/2 (nghttp2), turns bytes
// into Requests and Responses into bytes, and never lets a slow or hostile peer hold more than
// the bounds of limits.h. Drogon's application object is a singleton, so a process starts at
// most one Front, and once. All methods may be called from any thread but an I/O loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/object/limits.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

// How long a peer may take.
struct FrontTimeouts {
  using Duration = std::chrono::milliseconds;
  Duration handshake = limits::kHandshake;  // for TLS, from accept
  Duration idle = limits::kIdleConnection;  // between requests
  Duration request_arrival = limits::kRequestArrival;
  Duration stall = limits::kStreamStall;         // takes nothing of a body
  Duration end_stall = limits::kStreamEndStall;  // to catch up with events, or take the last ones
  Duration linger = limits::kLinger;             // to close after we did
  Duration ping_after = limits::kHttp2PingAfter;
  Duration ping_wait = limits::kHttp2PingWait;
  Duration sweep = std::chrono::seconds(1);  // between looks at the clock
};

struct FrontOptions {
  std::string host = "127.0.0.1";  // address or name; "" and "0.0.0.0" mean every interface
  std::uint16_t port = 0;          // 0: any free one, see Front::port
  std::string cert_file;           // PEM, leaf first
  std::string key_file;
  std::string client_ca_file;                     // "": client certificates are not asked for
  std::string request_header_ca_file;             // "": nobody is a front proxy
  std::vector<std::string> request_header_names;  // allowed CNs of front proxies; empty: any
  std::size_t io_threads = 1;
  bool plain_http = false;  // loopback addresses only
  bool http2 = true;
  bool access_log = false;  // a line for each answer
  // Names an answer that the front makes itself, unless the request has a name; null: it has none.
  std::function<std::string()> new_audit_id;
  std::size_t body_bytes = limits::kBodyBytes;
  std::size_t request_bytes = limits::kRequestBytes;  // of those not yet answered, all together
  std::size_t stream_pending = limits::kStreamPendingBytes;  // of events, behind one reader
  std::size_t connections = limits::kConnections;  // open at a time, handshakes included
  FrontTimeouts timeouts;
};

// Called on an I/O loop and must not block. `respond` may be called from any thread, once; a
// handler that drops it unanswered causes a 500.
using Handler = std::function<void(Request&&, std::function<void(Response)>&& respond)>;

// What is open now, and what there has been since the start.
struct FrontCounts {
  std::size_t connections = 0;
  std::size_t handshakes = 0;  // accepted, not yet connections
  std::size_t exchanges = 0;  // requests not yet answered
  std::size_t streams = 0;    // bodies of events under way
  std::size_t accepted = 0;   // connections, ever
  std::size_t refused = 0;    // of them, past the limit
  std::size_t cut = 0;        // of them, for being slow, stuck or hostile
  std::size_t http1_requests = 0;
  std::size_t http2_requests = 0;
};

class Front {
 public:
  // Returns when the port accepts connections.
  static Result<std::unique_ptr<Front>> Start(FrontOptions options, Handler handler);
  virtual ~Front() = default;  // stops

  virtual std::uint16_t port() const = 0;
  virtual FrontCounts counts() const = 0;

  // Stops accepting, answers new requests on open connections with 429, waits for the requests
  // under way, ends streams cleanly and closes connections; gives up after `grace`.
  virtual void Drain(std::chrono::milliseconds grace) = 0;
  // Closes everything and joins the threads. Idempotent.
  virtual void Stop() = 0;

  // Reads certificate, key and CA files again; on error the old ones stay. New connections use
  // the new certificate, and identities of open ones are judged again.
  virtual Result<void> ReloadCertificates() = 0;
};

}  // namespace mailroom::apiserver
