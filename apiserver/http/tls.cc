#include "apiserver/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "apiserver/pki.h"

namespace mailroom::apiserver {
namespace {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
void FreeChain(STACK_OF(X509) * chain) { sk_X509_pop_free(chain, X509_free); }
void FreeNames(STACK_OF(X509_NAME) * names) { sk_X509_NAME_pop_free(names, X509_NAME_free); }
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Chain = std::unique_ptr<STACK_OF(X509), Freer<FreeChain>>;
using CaNames = std::unique_ptr<STACK_OF(X509_NAME), Freer<FreeNames>>;
using Store = std::unique_ptr<X509_STORE, Freer<X509_STORE_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;

Status BadFile(std::string_view what, const std::string& path) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return Internal(std::string(what) + " " + path + ": " + text.data());
}

Result<std::vector<Certificate>> ReadCertificates(const std::string& path) {
  const std::string pem = TRY(ReadTextFile(path));
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> out;
  while (X509* cert = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    out.emplace_back(cert);
  }
  if (out.empty()) return BadFile("no certificate in", path);
  ERR_clear_error();
  return out;
}

// Whether a chain leads from `cert` to `store` now, for TLS client use.
bool Verifies(X509_STORE* store, X509* cert) {
  if (store == nullptr) return false;
  const std::unique_ptr<X509_STORE_CTX, Freer<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  if (!context || X509_STORE_CTX_init(context.get(), store, cert, nullptr) != 1) return false;
  X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
  const bool good = X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  return good;
}

std::time_t EndOf(X509* cert) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &parts) != 1) return 0;
  return timegm(&parts);
}

}  // namespace

struct TlsMaterial::Parts {
  Certificate leaf;
  Chain chain;
  PrivateKey key;
  Store clients;
  Store proxies;
  CaNames ca_names;  // of both
  std::vector<std::string> proxy_names;

  Result<void> ReadServing(const FrontOptions& options) {
    std::vector<Certificate> certs = TRY(ReadCertificates(options.cert_file));
    leaf = std::move(certs.front());
    chain.reset(sk_X509_new_null());
    for (std::size_t i = 1; i < certs.size(); ++i) {
      sk_X509_push(chain.get(), certs[i].release());
    }
    const std::string pem = TRY(ReadTextFile(options.key_file));
    const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
    if (!key) return BadFile("no private key in", options.key_file);
    if (X509_check_private_key(leaf.get(), key.get()) != 1) {
      return BadFile("the certificate does not belong to", options.key_file);
    }
    return Ok();
  }

  Result<Store> ReadAuthorities(const std::string& path) {
    const std::vector<Certificate> certs = TRY(ReadCertificates(path));
    Store store(X509_STORE_new());
    for (const Certificate& cert : certs) {
      X509_STORE_add_cert(store.get(), cert.get());
      sk_X509_NAME_push(ca_names.get(), X509_NAME_dup(X509_get_subject_name(cert.get())));
    }
    return store;
  }
};

TlsMaterial::TlsMaterial(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TlsMaterial::~TlsMaterial() = default;

Result<std::shared_ptr<const TlsMaterial>> TlsMaterial::Load(const FrontOptions& options) {
  auto parts = std::make_unique<Parts>();
  TRY(parts->ReadServing(options));
  parts->ca_names.reset(sk_X509_NAME_new_null());
  if (!options.client_ca_file.empty()) {
    parts->clients = TRY(parts->ReadAuthorities(options.client_ca_file));
  }
  if (!options.request_header_ca_file.empty()) {
    parts->proxies = TRY(parts->ReadAuthorities(options.request_header_ca_file));
  }
  parts->proxy_names = options.request_header_names;
  return std::shared_ptr<const TlsMaterial>(new TlsMaterial(std::move(parts)));
}

std::time_t TlsMaterial::Judge(const std::string& cert_pem, Peer& peer) const {
  constexpr std::time_t kForever = std::numeric_limits<std::time_t>::max();
  const Bio bio(BIO_new_mem_buf(cert_pem.data(), static_cast<int>(cert_pem.size())));
  const Certificate cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  const Result<CertificateFacts> facts = ReadCertificate(cert_pem);
  if (!cert || !facts.ok()) {
    peer.certificate_rejected = true;
    return kForever;
  }
  const std::vector<std::string>& names = parts_->proxy_names;
  const std::string& common_name = facts.value().common_name;
  const bool client = Verifies(parts_->clients.get(), cert.get());
  peer.front_proxy =
      Verifies(parts_->proxies.get(), cert.get()) &&
      (names.empty() || std::find(names.begin(), names.end(), common_name) != names.end());
  peer.certificate_rejected = !client && !peer.front_proxy;
  if (peer.certificate_rejected) return kForever;
  if (client) {
    peer.common_name = common_name;
    peer.organizations = facts.value().organizations;
  }
  return EndOf(cert.get());
}

bool TlsMaterial::Equip(SSL* ssl) const {
  if (SSL_use_cert_and_key(ssl, parts_->leaf.get(), parts_->key.get(), parts_->chain.get(), 1) !=
      1) {
    return false;
  }
  const auto accept_any = [](int, X509_STORE_CTX*) { return 1; };
  if (parts_->clients || parts_->proxies) {
    SSL_set_verify(ssl, SSL_VERIFY_PEER, accept_any);
    SSL_set_client_CA_list(ssl, SSL_dup_CA_list(parts_->ca_names.get()));
  } else {
    SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
  }
  return true;
}

namespace {

thread_local bool recording = false;
thread_local std::vector<SSL_CTX*> recorded;

void OnNewContext(void* parent, void*, CRYPTO_EX_DATA*, int, long, void*) {
  if (recording) recorded.push_back(static_cast<SSL_CTX*>(parent));
}

int EquipConnection(SSL* ssl, void* gate) {
  const auto material = static_cast<const TlsGate*>(gate)->current();
  return material->Equip(ssl) ? 1 : 0;
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

void TlsGate::Adopt(bool http2) {
  for (SSL_CTX* context : recorded) {
    SSL_CTX_set_cert_cb(context, EquipConnection, this);
    SSL_CTX_set_alpn_select_cb(context, http2 ? SelectProtocol<true> : SelectProtocol<false>,
                               nullptr);
    // A resumed session would carry an identity past the check of its certificate's chain.
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  }
  recorded.clear();
  recording = false;
}

}  // namespace mailroom::apiserver
