#include "apiserver/http/test_swarm.h"

#include <curl/curl.h>

#include <utility>
#include <vector>

namespace mailroom::apiserver {

struct Swarm::Reader {
  Swarm* swarm = nullptr;
  CURL* easy = nullptr;
  bool begun = false;
};

namespace {

constexpr std::size_t kOpeningAtOnce = 100;
constexpr int kPollMs = 20;

}  // namespace

Swarm::Swarm(Options options) : options_(std::move(options)), thread_([this] { Run(); }) {}

Swarm::~Swarm() {
  stopping_ = true;
  thread_.join();
}

std::size_t Swarm::OnHeader(char*, std::size_t, std::size_t size, void* user) {
  auto& reader = *static_cast<Reader*>(user);
  if (!std::exchange(reader.begun, true)) ++reader.swarm->open_;
  return size;
}

std::size_t Swarm::OnData(char*, std::size_t, std::size_t size, void* user) {
  Swarm& swarm = *static_cast<Reader*>(user)->swarm;
  if (swarm.options_.stuck) return CURL_WRITEFUNC_PAUSE;
  swarm.bytes_ += size;
  return size;
}

void Swarm::Run() {
  CURLM* multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 250L);
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(options_.connections));
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.watches));
  std::vector<Reader> readers(options_.watches);
  std::size_t added = 0;
  const auto add = [&](Reader& reader) {
    reader.swarm = this;
    reader.easy = curl_easy_init();
    curl_easy_setopt(reader.easy, CURLOPT_URL, options_.url.c_str());
    curl_easy_setopt(reader.easy, CURLOPT_CAINFO, options_.ca_file.c_str());
    curl_easy_setopt(reader.easy, CURLOPT_HTTP_VERSION,
                     options_.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(reader.easy, CURLOPT_PIPEWAIT, options_.http2 ? 1L : 0L);
    curl_easy_setopt(reader.easy, CURLOPT_HEADERFUNCTION, OnHeader);
    curl_easy_setopt(reader.easy, CURLOPT_HEADERDATA, &reader);
    curl_easy_setopt(reader.easy, CURLOPT_WRITEFUNCTION, OnData);
    curl_easy_setopt(reader.easy, CURLOPT_WRITEDATA, &reader);
    curl_easy_setopt(reader.easy, CURLOPT_NOSIGNAL, 1L);
    if (!options_.http2) curl_easy_setopt(reader.easy, CURLOPT_BUFFERSIZE, 16384L);
    curl_multi_add_handle(multi, reader.easy);
  };
  while (!stopping_) {
    while (added < readers.size() && added < open_ + failed_ + kOpeningAtOnce) {
      add(readers[added++]);
    }
    int running = 0, left = 0;
    curl_multi_perform(multi, &running);
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      ++(message->data.result == CURLE_OK ? ended_ : failed_);
    }
    curl_multi_poll(multi, nullptr, 0, kPollMs, nullptr);
  }
  for (Reader& reader : readers) {
    if (reader.easy == nullptr) continue;
    curl_multi_remove_handle(multi, reader.easy);
    curl_easy_cleanup(reader.easy);
  }
  curl_multi_cleanup(multi);
}

}  // namespace mailroom::apiserver

#ifdef __SANITIZE_ADDRESS__
// libcurl forgets what it had buffered for a paused HTTP/2 stream; that is not our leak.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcurl.so"; }
#endif
