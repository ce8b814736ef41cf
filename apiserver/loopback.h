// The client kit's transport for controllers inside the server process: a request is a function
// call on the caller's thread, a stream is pumped by one thread of its own. Requests run as the
// server's own identity.
#pragma once

#include <memory>

#include "apiserver/client/transport.h"
#include "apiserver/dispatcher.h"

namespace mailroom::apiserver {

std::unique_ptr<client::Transport> MakeLoopback(Dispatcher& dispatcher);

}  // namespace mailroom::apiserver
