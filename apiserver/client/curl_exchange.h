// One HTTP exchange on libcurl: the easy handle, its callbacks and where the answer goes. Made on
// any thread, then owned and driven by CurlTransport's loop thread; Detach may come from anywhere.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "apiserver/client/kubeconfig.h"
#include "apiserver/client/transport.h"

namespace mailroom::client {

class CurlExchange {
 public:
  // `sink` outlives the exchange, or at least Detach. A long exchange, such as a watch, has no
  // deadline of its own. `token` is the one of the moment.
  CurlExchange(std::shared_ptr<const ServerConfig> config, const std::string& token, Request request,
               StreamSink& sink, bool long_lived);
  ~CurlExchange();
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;

  CURL* easy() const { return easy_; }
  // No call reaches the sink afterwards. Waits for a running call unless it is the caller's own.
  void Detach(std::thread::id loop_thread);
  // Goes on after the sink had no room. Loop thread only.
  void Resume();
  // The transfer is over; tells the sink. Loop thread only.
  void Finish(CURLcode result);

 private:
  static std::size_t OnHeaderLine(char* data, std::size_t size, std::size_t count, void* self);
  static curl_socket_t OnOpen(void* self, curlsocktype, curl_sockaddr* address);
  static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self);
  void Configure(bool long_lived);
  void ConfigureTls();
  void ConfigureRequest(const std::string& token);
  void AddHeaderLine(std::string_view line);
  enum class Taken { kAll, kLater, kNever };
  Taken Deliver(std::string_view piece);

  const std::shared_ptr<const ServerConfig> config_;
  Request request_;
  CURL* easy_;
  curl_slist* header_list_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};

  // Loop thread only.
  int code_ = 0;
  Headers headers_;
  bool head_complete_ = false;
  bool paused_ = false;
  bool refused_ = false;

  std::mutex sink_mutex_;  // held during every sink call
  StreamSink* sink_;       // written under sink_mutex_, or by the loop thread inside a sink call
};

}  // namespace mailroom::client
