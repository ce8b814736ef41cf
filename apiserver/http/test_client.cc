#include "apiserver/http/test_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <thread>

#include "apiserver/http/exchange.h"

namespace mailroom::apiserver {
namespace {

std::atomic<std::size_t> flood_bytes = 0;

class Flood : public Stream {
 public:
  void OnReady(std::function<void()>) override {}
  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    static const auto piece = std::make_shared<const std::string>(1024, 'x');
    for (std::size_t n = 0; n < max_bytes; n += piece->size()) {
      out.push_back(piece);
      flood_bytes += piece->size();
    }
    return State::kMore;
  }
  void Cancel() override {}
};

void UseIdentity(SSL_CTX* context, const KeyPair& pair) {
  BIO* cert_bio = BIO_new_mem_buf(pair.cert_pem.data(), -1);
  BIO* key_bio = BIO_new_mem_buf(pair.key_pem.data(), -1);
  X509* cert = PEM_read_bio_X509(cert_bio, nullptr, nullptr, nullptr);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(key_bio, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context, cert);
  SSL_CTX_use_PrivateKey(context, key);
  X509_free(cert);
  EVP_PKEY_free(key);
  BIO_free(cert_bio);
  BIO_free(key_bio);
}

std::string Describe(const Request& request) {
  std::string text = request.method + " " + request.path + "\nquery=" + request.query + "\n";
  for (const auto& [name, value] : request.headers.fields()) text += name + "=" + value + "\n";
  text += "body=" + std::to_string(request.body.size()) + "\ncn=" + request.peer.common_name + "\n";
  for (const std::string& o : request.peer.organizations) text += "o=" + o + "\n";
  text += request.peer.certificate_rejected ? "rejected\n" : "";
  text += request.peer.front_proxy ? "front-proxy\n" : "";
  return text + "address=" + request.peer.address + "\n";
}

}  // namespace

RawClient::RawClient(std::uint16_t port, const Options& options) {
  fd_ = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{kTestPatience.count(), 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (options.receive_buffer > 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer, sizeof(int));
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  context_ = SSL_CTX_new(TLS_client_method());
  if (options.identity) UseIdentity(context_, *options.identity);
  ssl_ = SSL_new(context_);
  std::string offer;
  offer += static_cast<char>(options.alpn.size());
  offer += options.alpn;
  SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(offer.data()),
                      static_cast<unsigned>(offer.size()));
  SSL_set_fd(ssl_, fd_);
  if (SSL_connect(ssl_) != 1) {
    SSL_free(ssl_);
    ssl_ = nullptr;
  }
}

RawClient::~RawClient() {
  Close();
  SSL_CTX_free(context_);
}

void RawClient::Close() {
  SSL_free(ssl_);
  ssl_ = nullptr;
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void RawClient::HalfClose() { shutdown(fd_, SHUT_WR); }

std::string RawClient::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  if (ssl_ != nullptr) SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

void RawClient::Send(std::string_view bytes) {
  while (ssl_ != nullptr && !bytes.empty()) {
    const int n = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string RawClient::ReadUntil(std::string_view until) {
  char buffer[16384];
  std::size_t end;
  while ((end = unread_.find(until)) == std::string::npos) {
    const int n = ssl_ == nullptr ? 0 : SSL_read(ssl_, buffer, sizeof buffer);
    if (n <= 0) return std::exchange(unread_, {});
    unread_.append(buffer, static_cast<std::size_t>(n));
  }
  end += until.size();
  std::string out = unread_.substr(0, end);
  unread_.erase(0, end);
  return out;
}

bool RawClient::ClosedWhileTrickling(std::string_view byte) {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    Send(byte);
    char first;
    const ssize_t n = recv(fd_, &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n >= 0 || errno != EAGAIN) return SSL_read(ssl_, &first, 1) <= 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

std::string RawClient::ReadExactly(std::size_t count) {
  char buffer[16384];
  while (unread_.size() < count) {
    const int n = ssl_ == nullptr ? 0 : SSL_read(ssl_, buffer, sizeof buffer);
    if (n <= 0) break;
    unread_.append(buffer, static_cast<std::size_t>(n));
  }
  std::string out = unread_.substr(0, count);
  unread_.erase(0, count);
  return out;
}

class FedStream::Side : public Stream {
 public:
  explicit Side(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void OnReady(std::function<void()> ready) override {
    std::lock_guard lock(shared_->mutex);
    shared_->ready = std::move(ready);
    shared_->opened = true;
    shared_->changed.notify_all();
  }
  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    std::lock_guard lock(shared_->mutex);
    for (std::size_t n = 0; n < max_bytes && !shared_->pieces.empty();) {
      n += shared_->pieces.front()->size();
      out.push_back(std::move(shared_->pieces.front()));
      shared_->pulled += out.back()->size();
      shared_->pieces.pop_front();
    }
    if (!shared_->pieces.empty()) return State::kMore;
    if (shared_->aborted) return State::kAborted;
    return shared_->ended ? State::kEnd : State::kIdle;
  }
  void Cancel() override {
    std::lock_guard lock(shared_->mutex);
    shared_->ready = nullptr;
    shared_->cancelled = true;
    shared_->changed.notify_all();
  }
  bool broken() const override {
    std::lock_guard lock(shared_->mutex);
    return shared_->broken;
  }
  bool document() const override { return shared_->document; }

 private:
  const std::shared_ptr<Shared> shared_;
};

std::unique_ptr<Stream> FedStream::Open() { return std::make_unique<Side>(shared_); }

void FedStream::BeDocument() { shared_->document = true; }

void FedStream::Feed(std::string piece) {
  std::lock_guard lock(shared_->mutex);
  shared_->pieces.push_back(std::make_shared<const std::string>(std::move(piece)));
  if (shared_->ready) shared_->ready();
}

void FedStream::End() {
  std::lock_guard lock(shared_->mutex);
  shared_->ended = true;
  if (shared_->ready) shared_->ready();
}

void FedStream::Abort() {
  std::lock_guard lock(shared_->mutex);
  shared_->aborted = true;
  if (shared_->ready) shared_->ready();
}

void FedStream::Overflow() {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->broken = true;
  }
  End();
}

bool FedStream::AwaitCancelled() {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, kTestPatience, [&] { return shared_->cancelled; });
}

bool FedStream::AwaitOpen() {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, kTestPatience, [&] { return shared_->opened; });
}

std::size_t FedStream::pulled() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->pulled;
}

namespace {
// A local, because tests configure before main begins.
std::function<void(FrontOptions&)>& OptionsChange() {
  static std::function<void(FrontOptions&)> change = [](FrontOptions&) {};
  return change;
}
}  // namespace

namespace {
std::function<Response(const Request&)>& Answerer() {
  static std::function<Response(const Request&)> answer;
  return answer;
}
}  // namespace

void TestFront::Answer(std::function<Response(const Request&)> answer) {
  Answerer() = std::move(answer);
}

void TestFront::Configure(std::function<void(FrontOptions&)> change) {
  OptionsChange() = std::move(change);
}

TestFront& TestFront::Get() {
  static TestFront front;
  return front;
}

TestFront::TestFront() {
  signal(SIGPIPE, SIG_IGN);
  std::string pattern = std::filesystem::temp_directory_path() / "front.XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  dir_ = pattern;
  const PkiFiles files = EnsurePki(dir_, {"localhost", "127.0.0.1"}).value();
  authority_ = {ReadTextFile(files.ca_cert).value(), ReadTextFile(files.ca_key).value()};
  proxy_authority_ = NewAuthority("proxies").value();
  if (!WriteSecret(dir_ + "/proxy-ca.crt", proxy_authority_.cert_pem).ok()) {
    throw std::runtime_error("proxy CA");
  }
  options_.cert_file = files.server_cert;
  options_.key_file = files.server_key;
  options_.client_ca_file = files.ca_cert;
  options_.request_header_ca_file = dir_ + "/proxy-ca.crt";
  options_.request_header_names = {"aggregator"};
  options_.io_threads = 2;
  options_.new_audit_id = [] { return "audited"; };
  options_.timeouts.request_arrival = std::chrono::seconds(5);  // also on a loaded machine
  OptionsChange()(options_);
  auto started = Front::Start(options_, [this](Request request, auto respond) {
    Serve(std::move(request), std::move(respond));
  });
  if (!started.ok()) throw std::runtime_error(started.error().message());
  front_ = std::move(started).value();
}

TestFront::~TestFront() {
  front_.reset();
  std::filesystem::remove_all(dir_);
}

FedStream& TestFront::stream(const std::string& name) {
  std::lock_guard lock(mutex_);
  return streams_[name];
}

std::size_t TestFront::flooded() const { return flood_bytes; }

bool TestFront::AwaitHeld(std::size_t requests) {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    {
      std::lock_guard lock(mutex_);
      if (held_.size() == requests) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

void TestFront::Release() {
  std::vector<std::function<void(Response)>> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(held_);
  }
  for (const auto& respond : all) {
    Response response;
    response.Append("held");
    respond(std::move(response));
  }
}

bool TestFront::AwaitStreams(std::size_t streams) const {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (front_->counts().streams != streams) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::string TestFront::Shell(const std::string& command) const {
  const std::string full = "CA=" + options_.client_ca_file + "; PORT=" + std::to_string(port()) +
                           "; DIR=" + dir_ + "; { " + command + "; } 2>&1";
  FILE* pipe = popen(full.c_str(), "r");
  std::string out;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  pclose(pipe);
  return out;
}

void TestFront::Serve(Request request, std::function<void(Response)> respond) {
  if (Answerer()) return respond(Answerer()(request));
  Response response;
  response.headers.Set("content-type", "text/plain");
  const std::string_view path = request.path;
  if (path.starts_with("/big/")) {
    for (std::size_t left = std::stoul(request.path.substr(5)); left > 0;) {
      const std::size_t part = std::min<std::size_t>(left, 10'000);
      response.Append(std::string(part, 'b'));
      left -= part;
    }
  } else if (path.starts_with("/stream/")) {
    response.stream = stream(request.path.substr(8)).Open();
  } else if (path.starts_with("/long/")) {
    auto left = std::make_shared<std::size_t>(std::stoul(request.path.substr(6)));
    response.stream = StreamDocument([left](std::vector<SharedBytes>& out, std::size_t max) {
      const std::size_t part = std::min(*left, max);
      flood_bytes += part;
      out.push_back(std::make_shared<const std::string>(part, 'l'));
      return (*left -= part) > 0;
    });
  } else if (path.starts_with("/noise/")) {
    auto left = std::make_shared<std::size_t>(std::stoul(request.path.substr(7)));
    response.stream = StreamDocument([left](std::vector<SharedBytes>& out, std::size_t max) {
      static thread_local std::minstd_rand random;
      std::string part(std::min(*left, max), ' ');
      for (char& byte : part) byte = static_cast<char>(random() >> 8);
      flood_bytes += part.size();
      *left -= part.size();
      out.push_back(std::make_shared<const std::string>(std::move(part)));
      return *left > 0;
    });
  } else if (path == "/hold") {
    std::lock_guard lock(mutex_);
    return held_.push_back(std::move(respond));
  } else if (path == "/fan") {
    response.stream = fan_.Open();
  } else if (path == "/flood") {
    response.stream = std::make_unique<Flood>();
  } else if (path == "/later") {
    response.Append("later");
    std::jthread([respond, shared = std::make_shared<Response>(std::move(response))] {
      respond(std::move(*shared));
    }).join();
    return;
  } else if (path == "/drop") {
    return;
  } else if (path == "/warn") {
    response.headers.Add("warning", "299 - \"one\"");
    response.headers.Add("warning", "299 - \"two\"");
    response.headers.Add("x-split", "a\r\nx-injected: b");
    response.headers.Add("X-Capital", "c");
  } else {
    response.Append(Describe(request));
  }
  respond(std::move(response));
}

}  // namespace mailroom::apiserver
