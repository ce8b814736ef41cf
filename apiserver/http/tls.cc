#include "apiserver/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>

#include "apiserver/http/openssl_types.h"
#include "apiserver/pki.h"

namespace mailroom::apiserver {
namespace {

using namespace openssl;

Status BadFile(std::string_view what, const std::string& path) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return Internal(std::string(what) + " " + path + ": " + text.data());
}

Result<std::vector<Certificate>> ReadCertificates(const std::string& path, std::string& text) {
  const std::string pem = TRY(ReadTextFile(path));
  text.append(pem).append(1, '\0');
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> out;
  while (X509* cert = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    out.emplace_back(cert);
  }
  if (out.empty()) return BadFile("no certificate in", path);
  ERR_clear_error();
  return out;
}

std::time_t EndOf(X509* cert) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(cert), &parts) != 1) return 0;
  return timegm(&parts);
}

// When the first certificate on the way from the peer's to one of `trusted` ends; 0 when there
// is no such way now, for TLS client use.
std::time_t TrustedUntil(X509_STORE* trusted, const PeerChain& peer) {
  if (trusted == nullptr) return 0;
  const std::unique_ptr<X509_STORE_CTX, Freer<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  if (!context || X509_STORE_CTX_init(context.get(), trusted, peer.leaf.get(),
                                      peer.intermediates.get()) != 1) {
    return 0;
  }
  X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
  std::time_t until = 0;
  if (X509_verify_cert(context.get()) == 1) {
    const STACK_OF(X509)* way = X509_STORE_CTX_get0_chain(context.get());
    until = EndOf(sk_X509_value(way, 0));
    for (int i = 1; i < sk_X509_num(way); ++i) {
      until = std::min(until, EndOf(sk_X509_value(way, i)));
    }
  }
  ERR_clear_error();
  return until;
}

Result<CertificateFacts> Facts(X509* cert) {
  const Bio bio(BIO_new(BIO_s_mem()));
  char* data = nullptr;
  if (!bio || PEM_write_bio_X509(bio.get(), cert) != 1) return Internal("no memory");
  const long size = BIO_get_mem_data(bio.get(), &data);
  return ReadCertificate({data, static_cast<std::size_t>(size)});
}

}  // namespace

struct TlsMaterial::Parts {
  std::string text;  // of all files, to tell whether they changed
  Certificate leaf;
  Chain chain;
  PrivateKey key;
  TrustStore clients;
  TrustStore proxies;
  CaNames ca_names;  // of both
  std::vector<std::string> proxy_names;

  Result<void> ReadServing(const FrontOptions& options) {
    std::vector<Certificate> certs = TRY(ReadCertificates(options.cert_file, text));
    leaf = std::move(certs.front());
    chain.reset(sk_X509_new_null());
    for (std::size_t i = 1; i < certs.size(); ++i) {
      sk_X509_push(chain.get(), certs[i].release());
    }
    const std::string pem = TRY(ReadTextFile(options.key_file));
    text.append(pem).append(1, '\0');
    const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
    if (!key) return BadFile("no private key in", options.key_file);
    if (X509_check_private_key(leaf.get(), key.get()) != 1) {
      return BadFile("the certificate does not belong to", options.key_file);
    }
    return Ok();
  }

  Result<TrustStore> ReadAuthorities(const std::string& path) {
    const std::vector<Certificate> certs = TRY(ReadCertificates(path, text));
    TrustStore store(X509_STORE_new());
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

bool TlsMaterial::Same(const TlsMaterial& other) const {
  return parts_->text == other.parts_->text;
}

std::time_t TlsMaterial::Judge(const PeerChain& chain, Peer& peer) const {
  constexpr std::time_t kForever = std::numeric_limits<std::time_t>::max();
  const Result<CertificateFacts> facts = Facts(chain.leaf.get());
  if (!facts.ok()) {
    peer.certificate_rejected = true;
    return kForever;
  }
  const std::vector<std::string>& names = parts_->proxy_names;
  const std::string& common_name = facts.value().common_name;
  const std::time_t client = TrustedUntil(parts_->clients.get(), chain);
  const std::time_t proxy = TrustedUntil(parts_->proxies.get(), chain);
  peer.front_proxy =
      proxy > 0 &&
      (names.empty() || std::find(names.begin(), names.end(), common_name) != names.end());
  peer.certificate_rejected = client == 0 && !peer.front_proxy;
  if (peer.certificate_rejected) return kForever;
  if (client == 0) return proxy;
  peer.common_name = common_name;
  peer.organizations = facts.value().organizations;
  return peer.front_proxy ? std::min(client, proxy) : client;
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

}  // namespace mailroom::apiserver
