// Transport over HTTPS with libcurl's multi interface: one loop thread, HTTP/2 when the server
// offers it, host names always checked.
#pragma once

#include <memory>

#include "apiserver/client/kubeconfig.h"
#include "apiserver/client/transport.h"

namespace mailroom::client {

std::unique_ptr<Transport> MakeCurlTransport(const ServerConfig& config);

}  // namespace mailroom::client
