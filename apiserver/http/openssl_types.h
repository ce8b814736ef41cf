// Owners of OpenSSL's objects, for the TLS part of the front.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

namespace mailroom::apiserver::openssl {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
inline void FreeChain(STACK_OF(X509) * chain) { sk_X509_pop_free(chain, X509_free); }
inline void FreeNames(STACK_OF(X509_NAME) * names) {
  sk_X509_NAME_pop_free(names, X509_NAME_free);
}

using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Chain = std::unique_ptr<STACK_OF(X509), Freer<FreeChain>>;
using CaNames = std::unique_ptr<STACK_OF(X509_NAME), Freer<FreeNames>>;
using TrustStore = std::unique_ptr<X509_STORE, Freer<X509_STORE_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;

}  // namespace mailroom::apiserver::openssl

namespace mailroom::apiserver {

struct PeerChain {
  openssl::Certificate leaf;
  openssl::Chain intermediates;
};

}  // namespace mailroom::apiserver
