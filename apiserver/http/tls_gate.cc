#include <openssl/err.h>

#include <algorithm>
#include <utility>

#include "apiserver/http/openssl_types.h"
#include "apiserver/http/tls.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

// Of TLS 1.3, in our order, which is kube-apiserver's: the strongest costs a third more for each byte.
constexpr char kSuites[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr unsigned char kSessionContext[] = "mailroom";

thread_local bool recording = false;
thread_local std::vector<SSL_CTX*> recorded;

void OnNewContext(void* parent, void*, CRYPTO_EX_DATA*, int, long, void*) {
  if (recording) recorded.push_back(static_cast<SSL_CTX*>(parent));
}

int EquipConnection(SSL* ssl, void* gate) {
  const auto material = static_cast<const TlsGate*>(gate)->current();
  return material->Equip(ssl) ? 1 : 0;
}

// A ticket keeps only the peer's own certificate, so the intermediates go along as its extra.
int PackTicket(SSL* ssl, void*) {
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  if (chain == nullptr || sk_X509_num(chain) == 0) return 1;
  std::string packed;
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(sk_X509_value(chain, i), &der);
    if (size > 0) packed.append(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
  }
  if (packed.size() > limits::kTicketChainBytes) return 1;
  return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), packed.data(), packed.size());
}

SSL_TICKET_RETURN OpenTicket(SSL*, SSL_SESSION*, const unsigned char*, std::size_t,
                             SSL_TICKET_STATUS status, void*) {
  if (status == SSL_TICKET_SUCCESS) return SSL_TICKET_RETURN_USE;
  if (status == SSL_TICKET_SUCCESS_RENEW) return SSL_TICKET_RETURN_USE_RENEW;
  return SSL_TICKET_RETURN_IGNORE_RENEW;
}

// The intermediates of a full handshake, or those its ticket brought back.
openssl::Chain Intermediates(SSL* ssl) {
  openssl::Chain chain(sk_X509_new_null());
  const STACK_OF(X509)* sent = SSL_get_peer_cert_chain(ssl);
  const int count = sent == nullptr ? 0 : sk_X509_num(sent);
  for (int i = 0; i < std::min<int>(count, limits::kPeerChain); ++i) {
    X509* cert = sk_X509_value(sent, i);
    X509_up_ref(cert);
    sk_X509_push(chain.get(), cert);
  }
  void* data = nullptr;
  std::size_t size = 0;
  if (count > 0 || SSL_SESSION_get0_ticket_appdata(SSL_get_session(ssl), &data, &size) != 1) {
    return chain;
  }
  const auto* at = static_cast<const unsigned char*>(data);
  const unsigned char* const end = at + size;
  while (at < end && sk_X509_num(chain.get()) < static_cast<int>(limits::kPeerChain)) {
    X509* cert = d2i_X509(nullptr, &at, end - at);
    if (cert == nullptr) break;
    sk_X509_push(chain.get(), cert);
  }
  ERR_clear_error();
  return chain;
}

thread_local PeerChainPtr presented;

void OnHandshake(const SSL* ssl, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_DONE) == 0) return;
  auto* session = const_cast<SSL*>(ssl);
  openssl::Certificate leaf(SSL_get1_peer_certificate(session));
  presented.reset();
  if (!leaf) return;
  presented = std::make_shared<const PeerChain>(PeerChain{std::move(leaf), Intermediates(session)});
}

template <bool kHttp2>
int SelectProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr unsigned char kOurs[] = "\x02h2\x08http/1.1";
  constexpr unsigned int kSkip = kHttp2 ? 0 : 3;
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kOurs + kSkip, sizeof(kOurs) - 1 - kSkip, offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<void> TlsGate::Reload(const FrontOptions& options) {
  auto fresh = TRY(TlsMaterial::Load(options));
  std::lock_guard lock(mutex_);
  if (current_ && current_->Same(*fresh)) return Ok();
  if (current_) Log(Level::kInfo, "using new certificates", {{"file", options.cert_file}});
  current_ = std::move(fresh);
  return Ok();
}

std::shared_ptr<const TlsMaterial> TlsGate::current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

void TlsGate::RecordContexts() {
  static std::once_flag once;
  std::call_once(once,
                 [] { SSL_CTX_get_ex_new_index(0, nullptr, OnNewContext, nullptr, nullptr); });
  recording = true;
}

PeerChainPtr TlsGate::TakePeerChain() { return std::exchange(presented, nullptr); }

void TlsGate::Adopt(bool http2) {
  for (SSL_CTX* context : recorded) {
    SSL_CTX_set_cert_cb(context, EquipConnection, this);
    SSL_CTX_set_alpn_select_cb(context, http2 ? SelectProtocol<true> : SelectProtocol<false>,
                               nullptr);
    SSL_CTX_set_info_callback(context, OnHandshake);
    // Sessions are resumed by tickets, which cost no memory here.
    tickets_.Serve(context);
    SSL_CTX_set_session_ticket_cb(context, PackTicket, OpenTicket, nullptr);
    SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext - 1);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_ciphersuites(context, kSuites);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  }
  recorded.clear();
  recording = false;
}

}  // namespace mailroom::apiserver
