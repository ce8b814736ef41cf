#include "apiserver/client/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace mailroom::client {
namespace {

class SocketConnection : public ScriptedConnection {
 public:
  SocketConnection(int socket, SSL* tls) : socket_(socket), tls_(tls) {}
  void Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const long sent = tls_ != nullptr
                            ? SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))
                            : send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  std::string Read() override {
    char buffer[16384];
    const long got = tls_ != nullptr ? SSL_read(tls_, buffer, sizeof buffer)
                                     : recv(socket_, buffer, sizeof buffer, 0);
    return got <= 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(got));
  }
  void Break() override { broken_ = true; }
  bool broken() const { return broken_; }

 private:
  int socket_;
  SSL* tls_;
  bool broken_ = false;
};

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The next request on the connection, or nothing at its end.
std::optional<Request> ReadRequest(ScriptedConnection& connection, std::string& buffer) {
  std::size_t head_end;
  while ((head_end = buffer.find("\r\n\r\n")) == std::string::npos) {
    const std::string more = connection.Read();
    if (more.empty()) return std::nullopt;
    buffer += more;
  }
  Request request;
  std::string head = buffer.substr(0, head_end);
  buffer.erase(0, head_end + 4);
  const std::string line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' '), second = line.rfind(' ');
  request.method = line.substr(0, first);
  const std::string target = line.substr(first + 1, second - first - 1);
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  for (std::size_t at = line.size() + 2; at < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string field = head.substr(at, end - at);
    const std::size_t colon = field.find(": ");
    if (colon != std::string::npos) {
      request.headers.Add(Lower(field.substr(0, colon)), field.substr(colon + 2));
    }
    at = end + 2;
  }
  const std::string length(request.headers.Get("content-length"));
  const std::size_t wanted = length.empty() ? 0 : std::stoul(length);
  while (buffer.size() < wanted) {
    const std::string more = connection.Read();
    if (more.empty()) return std::nullopt;
    buffer += more;
  }
  request.body = buffer.substr(0, wanted);
  buffer.erase(0, wanted);
  return request;
}

std::string PemOf(const std::function<void(BIO*)>& write) {
  BIO* memory = BIO_new(BIO_s_mem());
  write(memory);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return pem;
}

struct Identity {
  EVP_PKEY* key;
  X509* certificate;
  std::string pem, key_pem;
};

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Identity Certify(const std::string& name, const Identity* issuer, const std::string& alt_name) {
  static long serial = 1;
  Identity made{EVP_EC_gen("P-256"), X509_new(), "", ""};
  X509_set_version(made.certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.certificate), 3600);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509* const signer = issuer == nullptr ? made.certificate : issuer->certificate;
  X509_set_issuer_name(made.certificate, X509_get_subject_name(signer));
  X509_set_pubkey(made.certificate, made.key);
  AddExtension(made.certificate, signer, NID_basic_constraints,
               issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (!alt_name.empty()) AddExtension(made.certificate, signer, NID_subject_alt_name, alt_name);
  X509_sign(made.certificate, issuer == nullptr ? made.key : issuer->key, EVP_sha256());
  made.pem = PemOf([&](BIO* out) { PEM_write_bio_X509(out, made.certificate); });
  made.key_pem = PemOf([&](BIO* out) {
    PEM_write_bio_PrivateKey(out, made.key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  return made;
}

void Release(const Identity& identity) {
  EVP_PKEY_free(identity.key);
  X509_free(identity.certificate);
}

SSL_CTX* MakeTls(const TestCertificates& certificates, bool require_client) {
  SSL_CTX* tls = SSL_CTX_new(TLS_server_method());
  const auto source = [](const std::string& pem) {
    return BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  };
  BIO* bio = source(certificates.server_pem);
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  bio = source(certificates.server_key_pem);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  SSL_CTX_use_certificate(tls, certificate);
  SSL_CTX_use_PrivateKey(tls, key);
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (require_client) {
    bio = source(certificates.ca_pem);
    X509* ca = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), ca);
    X509_free(ca);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return tls;
}

}  // namespace

TestCertificates MakeTestCertificates(const std::string& host) {
  const bool address = host.find_first_not_of("0123456789.") == std::string::npos;
  const Identity ca = Certify("test-ca", nullptr, "");
  const Identity server = Certify("server", &ca, (address ? "IP:" : "DNS:") + host);
  const Identity client = Certify("client", &ca, "");
  for (const Identity& identity : {ca, server, client}) Release(identity);
  return {ca.pem, server.pem, server.key_pem, client.pem, client.key_pem};
}

namespace {

constexpr const char* kLastChunk = "0\r\n\r\n";

std::string HeadText(int code, std::string_view more_headers) {
  std::string head = "HTTP/1.1 " + std::to_string(code) + " Scripted\r\n";
  head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  head += more_headers;
  return head + "\r\n";
}

std::string ChunkText(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}

}  // namespace

void ScriptedConnection::Head(int code, std::string_view more_headers) {
  Write(HeadText(code, more_headers));
}

void ScriptedConnection::Chunk(std::string_view bytes) { Write(ChunkText(bytes)); }

void ScriptedConnection::End() { Write(kLastChunk); }

// At once: whoever waits for the whole answer does not wait for this thread's next turn.
void ScriptedConnection::Reply(int code, std::string_view body) {
  Write(HeadText(code, "") + (body.empty() ? std::string() : ChunkText(body)) + kLastChunk);
}

void ScriptedConnection::WaitForClose() {
  while (!Read().empty()) {
  }
}

ScriptedServer::ScriptedServer(Script script, const TestCertificates* certificates,
                               bool require_client)
    : script_(std::move(script)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (certificates != nullptr) tls_ = MakeTls(*certificates, require_client);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 64) != 0) {
    std::abort();
  }
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  accepting_ = std::jthread([this] { Accept(); });
}

ScriptedServer::~ScriptedServer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int open : open_) shutdown(open, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  serving_.clear();
  close(listener_);
  SSL_CTX_free(tls_);
}

std::string ScriptedServer::url() const {
  return (tls_ != nullptr ? "https" : "http") + ("://127.0.0.1:" + std::to_string(port_));
}

int ScriptedServer::connections() const {
  std::lock_guard lock(mutex_);
  return connections_;
}

void ScriptedServer::Accept() {
  for (;;) {
    const int accepted = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::lock_guard lock(mutex_);
    if (accepted < 0 || stopping_) {
      if (accepted >= 0) close(accepted);
      return;
    }
    ++connections_;
    open_.push_back(accepted);
    serving_.emplace_back([this, accepted] { Serve(accepted); });
  }
}

void ScriptedServer::Serve(int socket) {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  const int at_once = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  SSL* tls = nullptr;
  bool ready = true;
  if (tls_ != nullptr) {
    tls = SSL_new(tls_);
    SSL_set_fd(tls, socket);
    ready = SSL_accept(tls) == 1;
  }
  SocketConnection connection(socket, tls);
  std::string buffer;
  while (ready && !connection.broken()) {
    const std::optional<Request> request = ReadRequest(connection, buffer);
    if (!request.has_value()) break;
    script_(*request, connection);
  }
  SSL_free(tls);
  std::lock_guard lock(mutex_);
  open_.remove(socket);
  close(socket);
}

}  // namespace mailroom::client
