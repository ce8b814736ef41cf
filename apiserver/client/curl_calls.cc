#include "apiserver/client/curl_calls.h"

#include <curl/curl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "storage/object/limits.h"

namespace mailroom::client {
namespace {

// One call on its way.
struct Running {
  const AddressPolicy* policy;
  const OutgoingCall* call;
  OutgoingAnswer answer;
  bool too_large = false;
  bool refused = false;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  curl_slist* connect_to = nullptr;
  char error[CURL_ERROR_SIZE] = {};
};

curl_socket_t OnOpen(void* self, curlsocktype, curl_sockaddr* address) {
  auto& running = *static_cast<Running*>(self);
  if (running.policy->Refuses(address->addr)) {
    running.refused = true;
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self) {
  auto& running = *static_cast<Running*>(self);
  const std::size_t bytes = size * count;
  if (running.answer.body.size() + bytes > running.call->max_bytes) {
    running.too_large = true;
    return 0;
  }
  running.answer.body.append(data, bytes);
  return bytes;
}

std::string HostOf(const std::string& url) {
  const std::size_t start = url.find("://") + 3;
  return url.substr(start, url.find_first_of("/?", start) - start);
}

std::string Explain(const Running& running, CURLcode result) {
  const std::string text = running.error[0] != '\0' ? running.error : curl_easy_strerror(result);
  const std::string to =
      running.call->connect_to.empty() ? HostOf(running.call->url) : running.call->connect_to;
  if (running.refused) return "dial tcp " + to + ": connecting to this address is not allowed";
  if (running.too_large) {
    return "the answer is larger than " + std::to_string(running.call->max_bytes) + " bytes";
  }
  switch (result) {
    case CURLE_OPERATION_TIMEDOUT: return "context deadline exceeded";
    case CURLE_COULDNT_RESOLVE_HOST: return "dial tcp: lookup " + to + ": no such host";
    case CURLE_COULDNT_CONNECT: return "dial tcp " + to + ": connect: connection refused";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "tls: failed to verify certificate: x509: " + text;
    case CURLE_GOT_NOTHING: return "EOF";
    default: return text;
  }
}

void Prepare(Running& running) {
  const OutgoingCall& call = *running.call;
  CURL* easy = running.easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!call.ca_pem.empty()) {
    curl_blob blob{const_cast<char*>(call.ca_pem.data()), call.ca_pem.size(), CURL_BLOB_COPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
  }
  if (!call.connect_to.empty()) {
    running.connect_to = curl_slist_append(nullptr, ("::" + call.connect_to).c_str());
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, running.connect_to);
  }
  for (const char* line : {"Content-Type: application/json", "Accept: application/json", "Expect:",
                           "User-Agent: mailroom-admission"}) {
    running.headers = curl_slist_append(running.headers, line);
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, running.headers);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &running);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, OnOpen);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &running);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, running.error);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &running);
}

void Finish(Running& running, CURLcode result) {
  long code = 0;
  curl_easy_getinfo(running.easy, CURLINFO_RESPONSE_CODE, &code);
  running.answer.code = static_cast<int>(code);
  if (result == CURLE_OK) return;
  running.answer.error = "Post \"" + running.call->url + "\": " + Explain(running, result);
  running.answer.body.clear();
}

// Under TLS a write to a closed socket raises SIGPIPE on the writing thread.
void BlockBrokenPipe() {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
}

}  // namespace

// A multi handle with the connections it keeps; used by one thread at a time.
struct OutgoingCalls::Session {
  CURLM* multi = curl_multi_init();
  Session() {
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(limits::kOutgoingKept));
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  }
  ~Session() { curl_multi_cleanup(multi); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

OutgoingCalls::OutgoingCalls(AddressPolicy policy) : policy_(policy) {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)initialized;
}

OutgoingCalls::~OutgoingCalls() = default;

std::unique_ptr<OutgoingCalls::Session> OutgoingCalls::Take() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto session = std::move(idle_.back());
      idle_.pop_back();
      return session;
    }
  }
  return std::make_unique<Session>();
}

void OutgoingCalls::Return(std::unique_ptr<Session> session) {
  std::lock_guard lock(mutex_);
  if (idle_.size() < limits::kOutgoingSessions) idle_.push_back(std::move(session));
}

std::vector<OutgoingAnswer> OutgoingCalls::Run(const std::vector<OutgoingCall>& calls) {
  BlockBrokenPipe();
  std::unique_ptr<Session> session = Take();
  std::vector<std::unique_ptr<Running>> all;
  for (const OutgoingCall& call : calls) {
    auto running = std::make_unique<Running>();
    running->policy = &policy_;
    running->call = &call;
    Prepare(*running);
    curl_multi_add_handle(session->multi, running->easy);
    all.push_back(std::move(running));
  }
  std::size_t left = all.size();
  while (left > 0) {
    int active = 0;
    curl_multi_perform(session->multi, &active);
    int messages = 0;
    while (CURLMsg* message = curl_multi_info_read(session->multi, &messages)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode result = message->data.result;
      CURL* easy = message->easy_handle;
      Running* running = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &running);
      curl_multi_remove_handle(session->multi, easy);
      Finish(*running, result);
      --left;
    }
    if (left > 0) curl_multi_poll(session->multi, nullptr, 0, 1000, nullptr);
  }
  std::vector<OutgoingAnswer> answers;
  for (auto& running : all) {
    answers.push_back(std::move(running->answer));
    curl_easy_cleanup(running->easy);
    curl_slist_free_all(running->headers);
    curl_slist_free_all(running->connect_to);
  }
  Return(std::move(session));
  return answers;
}

}  // namespace mailroom::client
