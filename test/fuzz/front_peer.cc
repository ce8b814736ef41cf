#include "test/fuzz/front_peer.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "apiserver/pki.h"
#include "storage/object/log.h"
#include "test/fuzz/fuzz.h"

namespace mailroom {
namespace {

constexpr unsigned kCheckEvery = 100;

void Answer(Request request, const std::function<void(Response)>& respond) {
  Response response;
  response.headers.Set("content-type", "text/plain");
  if (request.path == "/watch") {
    response.stream = StreamDocument([left = 3](std::vector<SharedBytes>& out, std::size_t) mutable {
      out.push_back(std::make_shared<const std::string>("event\n"));
      return --left > 0;
    });
  } else {
    response.Append(request.path == "/big" ? std::string(200'000, 'b') : request.body + "\n");
  }
  respond(std::move(response));
}

int Connect(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const timeval patience{20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  FUZZ_CHECK(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

// Whether the talk is over, by what has come back.
using Over = bool (*)(const std::string& answer);

std::string TalkPlain(std::uint16_t port, std::string_view bytes, Over over) {
  const int fd = Connect(port);
  (void)send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (over == nullptr) shutdown(fd, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
    if (over != nullptr && over(answer)) break;
  }
  close(fd);
  return answer;
}

std::string TalkTls(std::uint16_t port, std::string_view bytes, Over over) {
  static SSL_CTX* const context = [] {
    SSL_CTX* made = SSL_CTX_new(TLS_client_method());
    static constexpr unsigned char kOffer[] = "\x02h2";
    SSL_CTX_set_alpn_protos(made, kOffer, sizeof kOffer - 1);
    return made;
  }();
  const int fd = Connect(port);
  SSL* ssl = SSL_new(context);
  SSL_set_fd(ssl, fd);
  FUZZ_CHECK(SSL_connect(ssl) == 1);
  SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size()));
  if (over == nullptr) {
    SSL_shutdown(ssl);
    shutdown(fd, SHUT_WR);
  }
  std::string answer;
  char buffer[4096];
  for (int n; (n = SSL_read(ssl, buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
    if (over != nullptr && over(answer)) break;
  }
  SSL_free(ssl);
  close(fd);
  return answer;
}

// Whether there is a whole HEADERS frame for stream 1 that says 200 by the static table.
bool HasHeaders(const std::string& frames) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(frames[i]); };
  for (std::size_t at = 0; at + 9 <= frames.size();) {
    const std::size_t size = static_cast<std::size_t>(byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2));
    if (at + 9 + size > frames.size()) return false;
    if (byte(at + 3) == 1 && byte(at + 8) == 1) return size > 0 && byte(at + 9) == 0x88;
    at += 9 + size;
  }
  return false;
}

// GET /echo, as literals without index.
std::string ProperRequest() {
  std::string block;
  for (const auto& [name, value] : {std::pair<std::string, std::string>{":method", "GET"},
                                    {":scheme", "https"},
                                    {":path", "/echo"},
                                    {":authority", "t"}}) {
    block += std::string(1, '\0') + static_cast<char>(name.size()) + name +
             static_cast<char>(value.size()) + value;
  }
  return std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + std::string("\0\0\0\4\0\0\0\0\0", 9) +
         std::string{'\0', '\0', static_cast<char>(block.size()), '\1', '\5', '\0', '\0', '\0', '\1'} +
         block;
}

}  // namespace

FrontPeer::FrontPeer(Options options) : http2_(options.http2) {
  signal(SIGPIPE, SIG_IGN);
  SetLogLevel(Level::kError);
  apiserver::FrontOptions front;
  front.plain_http = !http2_;
  std::string dir = std::filesystem::temp_directory_path() / "fuzz.XXXXXX";
  if (http2_) {
    FUZZ_CHECK(mkdtemp(dir.data()) != nullptr);
    const auto pki = apiserver::EnsurePki(dir, {"localhost"});
    FUZZ_CHECK(pki.ok());
    front.cert_file = pki.value().server_cert;
    front.key_file = pki.value().server_key;
  }
  auto started = apiserver::Front::Start(front, Answer);
  FUZZ_CHECK(started.ok());
  front_ = std::move(started).value();
  if (http2_) std::filesystem::remove_all(dir);
}

std::string FrontPeer::Talk(std::string_view bytes) {
  return http2_ ? TalkTls(front_->port(), bytes, nullptr)
                : TalkPlain(front_->port(), bytes, nullptr);
}

void FrontPeer::CheckAlive() {
  if (++asked_ % kCheckEvery != 0) return;
  if (http2_) {
    FUZZ_CHECK(HasHeaders(TalkTls(front_->port(), ProperRequest(), HasHeaders)));
  } else {
    const std::string answer =
        TalkPlain(front_->port(), "GET /echo HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n",
                  [](const std::string& text) { return text.ends_with("\r\n\r\n\n"); });
    FUZZ_CHECK(answer.starts_with("HTTP/1.1 200 "));
  }
  FUZZ_CHECK(front_->counts().exchanges <= 1);
}

}  // namespace mailroom
