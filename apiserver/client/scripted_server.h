// For tests: an HTTP/1.1 server on loopback whose answers a test writes byte by byte, so that it
// can send split chunks, errors and broken connections. One thread per connection; the script
// runs on it and may block.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "storage/object/message.h"

typedef struct ssl_ctx_st SSL_CTX;

namespace mailroom::client {

// One accepted connection, plain or TLS.
class ScriptedConnection {
 public:
  virtual ~ScriptedConnection() = default;
  virtual void Write(std::string_view bytes) = 0;
  // Up to the peer's next bytes; "" at its end.
  virtual std::string Read() = 0;
  // Ends the connection after the script returns, without completing the body.
  virtual void Break() = 0;

  void Head(int code, std::string_view more_headers = "");  // starts a chunked body
  void Chunk(std::string_view bytes);
  void End();                                   // completes the chunked body
  void Reply(int code, std::string_view body);  // a whole answer
  void WaitForClose();                          // until the peer is gone
};

// A certificate for `host` (a DNS name or 127.0.0.1), its key, and the CA that signed both it and
// a client certificate.
struct TestCertificates {
  std::string ca_pem;
  std::string server_pem, server_key_pem;
  std::string client_pem, client_key_pem;
};
TestCertificates MakeTestCertificates(const std::string& host);

class ScriptedServer {
 public:
  using Script = std::function<void(const Request& request, ScriptedConnection& connection)>;
  // With certificates, TLS; `require_client` also demands a client certificate.
  explicit ScriptedServer(Script script, const TestCertificates* certificates = nullptr,
                          bool require_client = false);
  ~ScriptedServer();

  int port() const { return port_; }
  std::string url() const;
  int connections() const;

 private:
  void Accept();
  void Serve(int socket);

  Script script_;
  SSL_CTX* tls_ = nullptr;
  int listener_;
  int port_;
  mutable std::mutex mutex_;
  bool stopping_ = false;            // guarded by mutex_
  int connections_ = 0;              // guarded by mutex_
  std::list<int> open_;              // guarded by mutex_: sockets to shut down at the end
  std::list<std::jthread> serving_;  // accept thread only, until joined
  std::jthread accepting_;
};

}  // namespace mailroom::client
