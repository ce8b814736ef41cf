#include "apiserver/client/curl_exchange.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "storage/object/limits.h"

namespace mailroom::client {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

long Millis(std::chrono::milliseconds time) { return static_cast<long>(time.count()); }

// Host of `scheme://host[:port]`, brackets of an IPv6 address kept.
std::string_view HostAndPort(std::string_view url) { return url.substr(url.find("://") + 3); }

std::string_view HostOf(std::string_view url) {
  const std::string_view both = HostAndPort(url);
  if (both.starts_with('[')) return both.substr(0, both.find(']') + 1);
  return both.substr(0, both.find(':'));
}

std::string_view PortOf(std::string_view url) {
  const std::string_view rest = HostAndPort(url).substr(HostOf(url).size());
  if (rest.starts_with(':')) return rest.substr(1);
  return url.starts_with("https:") ? "443" : "80";
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

// A peer that vanished without a word is noticed even on a silent watch.
int OnSocket(void*, curl_socket_t socket, curlsocktype) {
  const unsigned timeout =
      static_cast<unsigned>(duration_cast<milliseconds>(limits::kClientSilence).count());
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
  return CURL_SOCKOPT_OK;
}

std::string_view Trim(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Of a status line such as `HTTP/2 200`; 0 when there is none.
int CodeOf(std::string_view line) {
  const std::string_view rest = line.substr(std::min(line.find(' '), line.size()));
  int code = 0;
  if (rest.size() >= 4) std::from_chars(rest.data() + 1, rest.data() + 4, code);
  return code;
}

void SetBlob(CURL* easy, CURLoption option, const std::string& pem) {
  curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, option, &blob);
}

}  // namespace

CurlExchange::CurlExchange(std::shared_ptr<const ServerConfig> config, const std::string& token,
                           Request request, StreamSink& sink, bool long_lived)
    : config_(std::move(config)), request_(std::move(request)), easy_(curl_easy_init()),
      sink_(&sink) {
  Configure(long_lived);
  ConfigureTls();
  ConfigureRequest(token);
}

CurlExchange::~CurlExchange() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(header_list_);
  curl_slist_free_all(connect_to_);
}

void CurlExchange::Configure(bool long_lived) {
  const ServerConfig& config = *config_;
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Wait for a connection that may turn out to speak HTTP/2. Without TLS none does, and libcurl may
  // leave the others waiting behind a watch.
  curl_easy_setopt(easy_, CURLOPT_PIPEWAIT, config.url.starts_with("https:") ? 1L : 0L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPIDLE, 30L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPINTVL, 10L);
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, OnSocket);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, Millis(limits::kClientConnect));
  if (!long_lived) curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, Millis(limits::kClientTimeout));
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, OnHeaderLine);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  if (config.refuse || IsLoopback(HostOf(config.url))) curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  if (config.refuse) {
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, OnOpen);
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, this);
  }
}

void CurlExchange::ConfigureTls() {
  const ServerConfig& config = *config_;
  curl_easy_setopt(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, config.insecure ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, config.insecure ? 0L : 2L);
  if (!config.ca_pem.empty()) SetBlob(easy_, CURLOPT_CAINFO_BLOB, config.ca_pem);
  if (!config.certificate_pem.empty()) {
    SetBlob(easy_, CURLOPT_SSLCERT_BLOB, config.certificate_pem);
    SetBlob(easy_, CURLOPT_SSLKEY_BLOB, config.key_pem);
    curl_easy_setopt(easy_, CURLOPT_SSLCERTTYPE, "PEM");
    curl_easy_setopt(easy_, CURLOPT_SSLKEYTYPE, "PEM");
  }
}

void CurlExchange::AddHeaderLine(std::string_view line) {
  header_list_ = curl_slist_append(header_list_, std::string(line).c_str());
}

void CurlExchange::ConfigureRequest(const std::string& token) {
  const ServerConfig& config = *config_;
  std::string url = config.url;
  if (!config.tls_server_name.empty()) {
    // The certificate is checked against the URL's host, so the URL names the expected one and
    // the connection is led to the real address.
    const std::string port(PortOf(config.url));
    url = "https://" + config.tls_server_name + ":" + port;
    const std::string real = "::" + std::string(HostOf(config.url)) + ":" + port;
    connect_to_ = curl_slist_append(nullptr, real.c_str());
    curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, connect_to_);
    AddHeaderLine("Host: " + std::string(HostAndPort(config.url)));
  }
  url += request_.path;
  if (!request_.query.empty()) url += "?" + request_.query;
  curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);

  if (request_.method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  } else if (request_.method != "GET" || !request_.body.empty()) {
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    AddHeaderLine("Expect:");
    if (request_.headers.Get("content-type").empty()) AddHeaderLine("Content-Type:");
  }
  for (const auto& [name, value] : request_.headers.fields()) AddHeaderLine(name + ": " + value);
  if (!token.empty()) AddHeaderLine("Authorization: Bearer " + token);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, header_list_);
}

std::size_t CurlExchange::OnHeaderLine(char* data, std::size_t size, std::size_t count,
                                       void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const std::size_t bytes = size * count;
  if (exchange.head_complete_) return bytes;  // trailers
  const std::string_view line = Trim({data, bytes});
  if (line.starts_with("HTTP/")) {
    exchange.headers_ = Headers();
    exchange.code_ = CodeOf(line);
    return bytes;
  }
  if (!line.empty()) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return bytes;
    exchange.headers_.Add(Lower(line.substr(0, colon)), std::string(Trim(line.substr(colon + 1))));
    return bytes;
  }
  if (exchange.code_ < 200) return bytes;  // 1xx; the real head follows
  exchange.head_complete_ = true;
  std::lock_guard lock(exchange.sink_mutex_);
  if (exchange.sink_ == nullptr) return 0;
  exchange.sink_->OnHead(exchange.code_, exchange.headers_);
  return exchange.sink_ == nullptr ? 0 : bytes;
}

curl_socket_t CurlExchange::OnOpen(void* self, curlsocktype, curl_sockaddr* address) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  if (exchange.config_->refuse->Refuses(address->addr)) {
    exchange.refused_ = true;
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t CurlExchange::OnBody(char* data, std::size_t size, std::size_t count, void* self) {
  const std::size_t bytes = size * count;
  auto& exchange = *static_cast<CurlExchange*>(self);
  switch (exchange.Deliver({data, bytes})) {
    case Taken::kAll: return bytes;
    case Taken::kLater: exchange.paused_ = true; return CURL_WRITEFUNC_PAUSE;
    case Taken::kNever: break;
  }
  return 0;
}

CurlExchange::Taken CurlExchange::Deliver(std::string_view piece) {
  std::lock_guard lock(sink_mutex_);
  if (sink_ == nullptr) return Taken::kNever;
  if (piece.empty()) return Taken::kAll;
  if (!sink_->HasRoom()) return Taken::kLater;
  sink_->OnData(piece);
  return sink_ != nullptr ? Taken::kAll : Taken::kNever;
}

void CurlExchange::Resume() {
  if (std::exchange(paused_, false)) curl_easy_pause(easy_, CURLPAUSE_CONT);
}

void CurlExchange::Detach(std::thread::id loop_thread) {
  if (std::this_thread::get_id() == loop_thread) {
    sink_ = nullptr;
    return;
  }
  std::lock_guard lock(sink_mutex_);
  sink_ = nullptr;
}

void CurlExchange::Finish(CURLcode result) {
  std::lock_guard lock(sink_mutex_);
  if (sink_ == nullptr) return;
  StreamSink* sink = std::exchange(sink_, nullptr);
  if (result == CURLE_OK && head_complete_) return sink->OnEnd(nullptr);
  const char* reason = refused_           ? "connecting to this address is not allowed"
                       : error_[0] != '\0' ? error_
                                            : curl_easy_strerror(result);
  const Status status = Unavailable(request_.method + " " + request_.path + ": " + reason);
  sink->OnEnd(&status);
}

}  // namespace mailroom::client
