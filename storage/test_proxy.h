// A TCP relay on loopback that tests put between a client and a server, to cut the connections or
// to let them fall silent.
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace mailroom::storage::testing {

class TestProxy {
 public:
  // Relays to the port of 127.0.0.1.
  explicit TestProxy(int target_port);
  ~TestProxy();

  int port() const { return port_; }
  // Resets every connection; new ones are relayed again.
  void Cut();
  // Connections stay and are accepted, but nothing passes any more.
  void FallSilent();

 private:
  struct Link {
    int client;
    int server;
    std::jthread thread;
  };
  void Accept(std::stop_token stop);
  void Relay(Link& link, std::stop_token stop);

  const int target_port_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::list<Link> links_;  // guarded by mutex_
  bool silent_ = false;    // guarded by mutex_
  std::jthread acceptor_;
};

}  // namespace mailroom::storage::testing
