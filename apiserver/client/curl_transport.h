// Transport over HTTPS with libcurl's multi interface: one loop thread, HTTP/2 when the server
// offers it, host names always checked (unless the kubeconfig says insecure-skip-tls-verify).
// Destroying it answers waiting senders with an error and ends open streams; their OpenStream
// handles must be gone before.
#pragma once

#include <memory>

#include "apiserver/client/kubeconfig.h"
#include "apiserver/client/transport.h"

namespace mailroom::client {

std::unique_ptr<Transport> MakeCurlTransport(const ServerConfig& config);

// The same for streams to many servers: one thread for all of them, each exchange with the config
// it is given. Thread-safe.
class CurlStreams {
 public:
  virtual ~CurlStreams() = default;
  // Never to an address that `config->refuse` refuses, nor by way of a proxy.
  virtual std::unique_ptr<OpenStream> Open(std::shared_ptr<const ServerConfig> config,
                                           Request request, StreamSink& sink) = 0;
};
std::unique_ptr<CurlStreams> MakeCurlStreams();

}  // namespace mailroom::client
