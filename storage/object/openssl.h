// Owners of OpenSSL's objects, and its memory buffers as text. Included by .cc files only.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

namespace mailroom::openssl {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using SigningRequest = std::unique_ptr<X509_REQ, Freer<X509_REQ_free>>;

// What was written into a memory buffer.
inline std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

// Reads `text`, which must outlive it.
inline Bio Reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

inline std::chrono::system_clock::time_point TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

}  // namespace mailroom::openssl
