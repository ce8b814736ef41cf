// Clients for the tests of the front: a TLS connection that sends and receives raw bytes, and
// the handler and streams that the tests drive.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/http/front.h"
#include "apiserver/http/test_fan.h"
#include "apiserver/pki.h"

namespace mailroom::apiserver {

inline constexpr auto kTestPatience = std::chrono::seconds(20);

// A blocking TLS client. Failures to read or connect show as short answers.
class RawClient {
 public:
  struct Options {
    std::optional<KeyPair> identity = std::nullopt;
    std::string alpn = "http/1.1";
    int receive_buffer = 0;  // bytes; 0: the system's
  };
  RawClient(std::uint16_t port, const Options& options);
  explicit RawClient(std::uint16_t port) : RawClient(port, Options{}) {}
  ~RawClient();

  // Whether the peer closes within `kTestPatience`, though a byte goes out every now and then.
  bool ClosedWhileTrickling(std::string_view byte);
  bool connected() const { return ssl_ != nullptr; }
  std::string protocol() const;  // by ALPN
  void Send(std::string_view bytes);
  // What arrives until `until` has, the peer closes, or nothing comes for `kTestPatience`.
  std::string ReadUntil(std::string_view until);
  // Fewer bytes when the peer closes.
  std::string ReadExactly(std::size_t count);
  std::string ReadToEnd() { return ReadUntil("\x01never\x01"); }
  void Close();
  // Says that nothing more will be sent, by a TLS alert or by TCP alone; still reads.
  void AlertClose() { SSL_shutdown(ssl_); }
  void HalfClose();

 private:
  int fd_ = -1;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  std::string unread_;
};

// A stream that a test fills and ends.
class FedStream {
 public:
  std::unique_ptr<Stream> Open();  // the side given to the front; once
  void BeDocument();  // rather than events; before it is opened
  void Feed(std::string piece);
  void End();
  void Overflow();  // ends after what was fed, with something missing
  void Abort();     // breaks off after what was fed
  bool AwaitCancelled();
  bool AwaitOpen();
  std::size_t pulled() const;  // bytes

 private:
  class Side;
  struct Shared {
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::deque<SharedBytes> pieces;
    std::function<void()> ready;
    std::size_t pulled = 0;
    bool document = false;
    bool opened = false, ended = false, broken = false, aborted = false, cancelled = false;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

// The front every test of one program talks to, and the routes it serves:
//   /echo          the request as text, one fact per line
//   /big/<n>       n bytes in pieces of 10,000
//   /stream/<name> the FedStream of that name
//   /fan           the events of fan()
//   /flood         bytes without end
//   /long/<n>      n bytes as a finite stream
//   /noise/<n>     the same, and compression does not make them fewer
//   /later         answered by another thread
//   /hold          answered by Release
//   /drop          never answered
class TestFront {
 public:
  static TestFront& Get();
  // Changes the options of the front; to be called before the first Get.
  static void Configure(std::function<void(FrontOptions&)> change);
  // Serves this instead of the routes above; to be called before the first Get.
  static void Answer(std::function<Response(const Request&)> answer);
  ~TestFront();

  Front& front() { return *front_; }
  std::uint16_t port() const { return front_->port(); }
  const KeyPair& authority() const { return authority_; }
  const KeyPair& proxy_authority() const { return proxy_authority_; }
  const std::string& dir() const { return dir_; }
  FrontOptions& options() { return options_; }
  FedStream& stream(const std::string& name);
  Fan& fan() { return fan_; }
  std::size_t flooded() const;  // bytes drawn by readers of /flood
  bool AwaitHeld(std::size_t requests);  // of /hold
  void Release();                        // answers them
  // Waits until `streams` bodies of events are under way.
  bool AwaitStreams(std::size_t streams) const;
  // Runs the openssl- or curl-style command with the CA file in $CA and the port in $PORT.
  std::string Shell(const std::string& command) const;

 private:
  TestFront();
  void Serve(Request request, std::function<void(Response)> respond);

  std::string dir_;
  FrontOptions options_;
  KeyPair authority_, proxy_authority_;
  std::mutex mutex_;
  std::map<std::string, FedStream> streams_;
  std::vector<std::function<void(Response)>> held_;
  Fan fan_;
  std::unique_ptr<Front> front_;
};

}  // namespace mailroom::apiserver
