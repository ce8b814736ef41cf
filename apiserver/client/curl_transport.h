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

}  // namespace mailroom::client
