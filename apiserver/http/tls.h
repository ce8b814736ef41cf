// What the listener needs of TLS: the serving certificate, the CAs that vouch for clients, and
// the hook that puts them into the contexts Trantor creates. Trantor refuses what it cannot
// verify; here any client certificate completes the handshake and is judged afterwards, so that
// a bad one is an HTTP 401. Thread-safe.
#pragma once

#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apiserver/http/front.h"
#include "apiserver/http/ticket_keys.h"
#include "storage/object/message.h"
#include "storage/object/result.h"

using SSL = struct ssl_st;
using SSL_CTX = struct ssl_ctx_st;

namespace mailroom::apiserver {

// The certificate a peer presented, and the intermediates it sent along. Immutable.
struct PeerChain;
using PeerChainPtr = std::shared_ptr<const PeerChain>;

// One consistent set of certificate files, read and checked. Immutable.
class TlsMaterial {
 public:
  static Result<std::shared_ptr<const TlsMaterial>> Load(const FrontOptions& options);
  ~TlsMaterial();

  // Fills the identity of `peer` from the certificate it presented. Returns the second from
  // which the verdict no longer holds.
  std::time_t Judge(const PeerChain& chain, Peer& peer) const;
  // Whether both were read from files of the same content.
  bool Same(const TlsMaterial& other) const;
  // Gives a connection under handshake the serving certificate and the acceptable CA names.
  bool Equip(SSL* ssl) const;

 private:
  struct Parts;
  explicit TlsMaterial(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The material in use, and the contexts that use it.
class TlsGate {
 public:
  // Reads the files; what is in use stays when they are bad or have not changed.
  Result<void> Reload(const FrontOptions& options);
  std::shared_ptr<const TlsMaterial> current() const;

  // From here until Adopt, SSL contexts created by the calling thread are remembered.
  static void RecordContexts();
  // Makes the remembered contexts ask this gate. Must outlive them.
  void Adopt(bool http2);
  // What the peer of the handshake that just ended on this thread presented; null for nothing.
  static PeerChainPtr TakePeerChain();

 private:
  TicketKeys tickets_;
  mutable std::mutex mutex_;  // guards current_
  std::shared_ptr<const TlsMaterial> current_;
};

}  // namespace mailroom::apiserver
