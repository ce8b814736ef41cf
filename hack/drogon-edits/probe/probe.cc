// Checks that the Drogon just built behaves as hack/drogon-edits intends. Serves on loopback
// in this process, sends raw requests from a second thread, and exits non-zero on the first
// wrong answer; a server that dies takes the probe with it.
//
//   probe CERT KEY
#include <arpa/inet.h>
#include <drogon/drogon.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "probe: FAILED: %s\n", what.c_str());
  std::_Exit(1);
}

// The server announces its ports just before it listens on them, so a refusal is tried again.
int Connect(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval limit{10, 0};
  for (int attempt = 0; attempt < 500; ++attempt) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    close(fd);
    usleep(10'000);
  }
  Fail("cannot connect to port " + std::to_string(port));
}

// Sends `request` and returns all that comes back until the server closes, falls silent, or
// `until` has arrived. The server may close before it has read everything.
std::string Exchange(uint16_t port, const std::string& request, const std::string& until) {
  const int fd = Connect(port);
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t n = send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += static_cast<size_t>(n);
  }
  std::string answer;
  char buffer[4096];
  while (answer.find(until) == std::string::npos) {
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

void Expect(uint16_t port, const std::string& name, const std::string& request,
            const std::string& wanted) {
  const std::string answer = Exchange(port, request, wanted);
  if (answer.find(wanted) == std::string::npos) {
    Fail(name + ": wanted '" + wanted + "', got '" + answer.substr(0, 300) + "'");
  }
}

std::string Head(const std::string& fields) {
  return "POST / HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

std::string NegotiatedProtocol(uint16_t port, const std::string& offered) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = SSL_new(context);
  SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(offered.data()),
                      static_cast<unsigned>(offered.size()));
  const int fd = Connect(port);
  SSL_set_fd(ssl, fd);
  if (SSL_connect(ssl) != 1) Fail("TLS handshake");
  const unsigned char* name = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(ssl, &name, &length);
  std::string selected(reinterpret_cast<const char*>(name), length);
  SSL_free(ssl);
  SSL_CTX_free(context);
  close(fd);
  return selected;
}

void CheckRequests(uint16_t port) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  Expect(port, "negative chunk size", Head(chunked) + "-1\r\nab\r\n0\r\n\r\n", " 400 ");
  Expect(port, "negative after a good chunk",
         Head(chunked) + "5\r\nhello\r\n-2\r\nab\r\n0\r\n\r\n", " 400 ");
  Expect(port, "overlong chunk size", Head(chunked) + "fffffffffffffffff\r\n", " 400 ");
  Expect(port, "good chunks", Head(chunked) + "2;x=y\r\nab\r\n0\r\n\r\n", "body=ab;");
  Expect(port, "repeated header", Head("X-Probe: a\r\nx-probe: b\r\nContent-Length: 0\r\n"),
         "probe=a\\nb;");
  Expect(port, "length and encoding", Head("Content-Length: 2\r\n" + chunked) + "0\r\n\r\n",
         " 400 ");
  Expect(port, "encoding and length", Head(chunked + "Content-Length: 2\r\n") + "0\r\n\r\n",
         " 400 ");
  Expect(port, "two lengths", Head("Content-Length: 2\r\nContent-Length: 3\r\n") + "abc",
         " 400 ");
  Expect(port, "length with a tail", Head("Content-Length: 2x\r\n") + "ab", " 400 ");
  Expect(port, "header without a colon", Head("nonsense\r\n"), " 400 ");
  Expect(port, "line break in a value", Head("X-Probe: a\nb\r\n"), " 400 ");
  Expect(port, "blank before the colon", Head("Content-Length : 2\r\n") + "ab", " 400 ");
  Expect(port, "folded line", Head("X-Probe: a\r\n b: c\r\n"), " 400 ");
  Expect(port, "empty length", Head("Content-Length:\r\n"), " 400 ");
  Expect(port, "chunks of HTTP/1.0", "POST / HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n", " 400 ");
  Expect(port, "trailers", Head(chunked) + "2\r\nab\r\n0\r\nX-Probe: t\r\n\r\n", "probe=;body=ab;");
  Expect(port, "an error in its turn", Head("Content-Length: 2\r\n") + "ok" + Head("bad\r\n"),
         " 400 ");
  Expect(port, "an answer left to the application",
         Head("X-Probe: silent\r\nContent-Length: 0\r\n") + Head("Content-Length: 2\r\n") + "ok",
         "probe=;body=ok;");
  Expect(port, "continue before chunks", Head(chunked + "Expect: 100-continue\r\n"), " 100 ");

  std::string fields;
  const std::string line = "X-Filler: " + std::string(32 * 1024, 'f') + "\r\n";
  while (fields.size() < 900 * 1024) fields += line;
  Expect(port, "900 KB of headers", Head(fields + "Content-Length: 0\r\n"), " 200 ");
  while (fields.size() <= 1024 * 1024) fields += line;
  Expect(port, "over 1 MB of headers", Head(fields), " 431 ");
  Expect(port, "still alive", Head("Content-Length: 2\r\n") + "ok", "body=ok;");
}

void CheckProtocols(uint16_t port) {
  using std::string_literals::operator""s;
  if (NegotiatedProtocol(port, "\x02h2\x08http/1.1"s) != "h2") Fail("ALPN h2");
  if (NegotiatedProtocol(port, "\x06spdy/1\x08http/1.1"s) != "http/1.1") Fail("ALPN http/1.1");
  if (!NegotiatedProtocol(port, "\x06spdy/1"s).empty()) Fail("ALPN without a match");
}

// Shows the separator of repeated fields, which cannot travel in a header.
std::string Printable(std::string value) {
  for (size_t at = 0; (at = value.find('\n', at)) != std::string::npos; at += 2) {
    value.replace(at, 1, "\\n");
  }
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) Fail("usage: probe CERT KEY");
  auto& app = drogon::app();
  app.setLogLevel(trantor::Logger::kFatal)
      .setThreadNum(1)
      .setUploadPath("uploads")
      .addListener("127.0.0.1", 0)
      .addListener("127.0.0.1", 0, true, argv[1], argv[2], false,
                   {{"ALPN", "h2"}, {"ALPN", "http/1.1"}});
  app.registerPreRoutingAdvice([](const drogon::HttpRequestPtr& request,
                                  drogon::AdviceCallback&& answer,
                                  drogon::AdviceChainCallback&&) {
    auto response = drogon::HttpResponse::newHttpResponse();
    if (request->attributes()->find("parseError")) {
      const int code = request->attributes()->get<int>("parseError");
      response->setStatusCode(static_cast<drogon::HttpStatusCode>(code));
    } else if (request->getHeader("x-probe") == "silent") {
      response->setStatusCode(drogon::kUnknown);
    }
    response->setBody("probe=" + Printable(request->getHeader("x-probe")) +
                      ";body=" + std::string(request->body()) + ";");
    answer(response);
  });
  std::jthread client;
  app.registerBeginningAdvice([&client] {
    client = std::jthread([listeners = drogon::app().getListeners()] {
      if (listeners.size() != 2) Fail("expected two listeners");
      CheckRequests(listeners[0].toPort());
      CheckProtocols(listeners[1].toPort());
      drogon::app().quit();
    });
  });
  app.run();
  client.join();
  std::puts("probe: all as intended");
}
