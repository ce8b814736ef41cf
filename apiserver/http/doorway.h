// Sockets between accept and the end of their TLS handshake: counted against the limit of
// connections, and given up when the handshake takes too long. Trantor shows a connection only
// once its handshake is over. One table per I/O loop; every function is called on its loop.
#pragma once

#include <chrono>

#include "apiserver/http/front_state.h"

namespace trantor {
class TcpConnection;
}  // namespace trantor

namespace mailroom::apiserver {

// A socket was accepted. Past the limit it is cut off.
void EnterDoorway(const std::shared_ptr<FrontState>& state, int fd);
// The handshake is over, well or badly. Returns the socket; -1 when it did not come in here.
int LeaveDoorway(const trantor::TcpConnection& connection);
// Cuts handshakes that take too long.
void SweepDoorway(FrontState& state, std::chrono::steady_clock::time_point now);

}  // namespace mailroom::apiserver
