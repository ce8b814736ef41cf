// The keys that seal TLS resumption tickets, one set for all I/O loops. A ticket holds the
// session with the peer's certificate, which is judged again on every connection, so that a
// resumed one has no more rights than a new one. Keys change with age; the one before still
// opens its tickets. Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <mutex>

using SSL_CTX = struct ssl_ctx_st;

namespace mailroom::apiserver {

class TicketKeys {
 public:
  // Makes the context seal and open its tickets here. Must outlive it.
  void Serve(SSL_CTX* context);

  struct Key {
    std::array<unsigned char, 16> name;
    std::array<unsigned char, 32> cipher, mac;
    std::chrono::steady_clock::time_point made;
  };
  // The key for new tickets.
  Key Current();
  // Copies the key of that name; false when there is none (any more).
  bool Find(const unsigned char* name, Key& out);

 private:
  std::mutex mutex_;
  std::deque<Key> keys_;  // newest first, at most two
};

}  // namespace mailroom::apiserver
