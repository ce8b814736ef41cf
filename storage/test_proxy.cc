#include "storage/test_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mailroom::storage::testing {
namespace {

constexpr int kTickMs = 50;  // how often a thread looks whether it should end

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

bool Readable(int descriptor) {
  pollfd poll_fd{descriptor, POLLIN, 0};
  return poll(&poll_fd, 1, kTickMs) > 0;
}

// Passes what there is; false when the connection is over.
bool Pass(int from, int to) {
  char buffer[16 * 1024];
  const ssize_t size = recv(from, buffer, sizeof buffer, 0);
  if (size <= 0) return false;
  for (ssize_t done = 0; done < size;) {
    const ssize_t sent =
        send(to, buffer + done, static_cast<std::size_t>(size - done), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += sent;
  }
  return true;
}

}  // namespace

TestProxy::TestProxy(int target_port) : target_port_(target_port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, size) == 0 && listen(listener_, 64) == 0 &&
      getsockname(listener_, generic, &size) == 0) {
    port_ = ntohs(address.sin_port);
  }
  acceptor_ = std::jthread([this](std::stop_token stop) { Accept(stop); });
}

TestProxy::~TestProxy() {
  acceptor_.request_stop();
  acceptor_.join();
  Cut();
  close(listener_);
}

void TestProxy::Accept(std::stop_token stop) {
  while (!stop.stop_requested()) {
    if (!Readable(listener_)) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(target_port_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      close(server);
      close(client);
      continue;
    }
    std::lock_guard lock(mutex_);
    Link& link = links_.emplace_back(Link{client, server, {}});
    link.thread = std::jthread([this, &link](std::stop_token end) { Relay(link, end); });
  }
}

void TestProxy::Relay(Link& link, std::stop_token stop) {
  while (!stop.stop_requested()) {
    pollfd ends[2] = {{link.client, POLLIN, 0}, {link.server, POLLIN, 0}};
    const int ready = poll(ends, 2, kTickMs);
    bool pass = true;
    {
      std::lock_guard lock(mutex_);
      pass = !silent_;
    }
    if (!pass) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kTickMs));
      continue;
    }
    if (ready <= 0) continue;
    if (ends[0].revents != 0 && !Pass(link.client, link.server)) break;
    if (ends[1].revents != 0 && !Pass(link.server, link.client)) break;
  }
  shutdown(link.client, SHUT_RDWR);
  shutdown(link.server, SHUT_RDWR);
}

void TestProxy::Cut() {
  std::list<Link> gone;
  {
    std::lock_guard lock(mutex_);
    gone.swap(links_);
  }
  for (Link& link : gone) {
    link.thread.request_stop();
    // Wakes a relay that waits in send.
    shutdown(link.client, SHUT_RDWR);
    shutdown(link.server, SHUT_RDWR);
    link.thread.join();
    close(link.client);
    close(link.server);
  }
}

void TestProxy::FallSilent() {
  std::lock_guard lock(mutex_);
  silent_ = true;
}

}  // namespace mailroom::storage::testing
