#include "apiserver/client/certificate_request.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

#include "storage/object/openssl.h"

namespace mailroom::client {
namespace {

using openssl::Bio;
using openssl::Certificate;
using Key = openssl::PrivateKey;
using openssl::Reader;
using openssl::SigningRequest;
using openssl::Text;
using openssl::TimeOf;

Status Failed(std::string_view what) {
  ERR_clear_error();
  return Internal(what);
}

// As UTF-8 outright: OpenSSL's tables allow no common name above 64 bytes.
bool AddName(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name, field, V_ASN1_UTF8STRING,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

Certificate ReadCertificate(std::string_view pem) {
  Certificate cert(PEM_read_bio_X509(Reader(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return cert;
}

}  // namespace

Result<std::string> NewKey() {
  const Key key(EVP_EC_gen("P-256"));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!key || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                            nullptr) != 1) {
    return Failed("cannot make a private key");
  }
  return Text(bio.get());
}

Result<std::string> NewSigningRequest(std::string_view key_pem, std::string_view common_name,
                                      const std::vector<std::string>& organizations) {
  const Key key(PEM_read_bio_PrivateKey(Reader(key_pem).get(), nullptr, nullptr, nullptr));
  const SigningRequest request(X509_REQ_new());
  if (!key || !request) return Failed("cannot read the private key");
  X509_NAME* name = X509_REQ_get_subject_name(request.get());
  bool good = X509_REQ_set_pubkey(request.get(), key.get()) == 1;
  for (const std::string& organization : organizations) good = good && AddName(name, "O", organization);
  good = good && AddName(name, "CN", common_name) &&
         X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0;
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!good || PEM_write_bio_X509_REQ(bio.get(), request.get()) != 1) {
    return Failed("cannot make a certificate signing request");
  }
  return Text(bio.get());
}

Result<Lifetime> LifetimeOf(std::string_view certificate_pem) {
  const Certificate cert = ReadCertificate(certificate_pem);
  if (!cert) return Failed("cannot read the certificate");
  return Lifetime{TimeOf(X509_get0_notBefore(cert.get())), TimeOf(X509_get0_notAfter(cert.get()))};
}

std::string CommonNameOf(std::string_view certificate_pem) {
  const Certificate cert = ReadCertificate(certificate_pem);
  if (!cert) return "";
  X509_NAME* name = X509_get_subject_name(cert.get());
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) return "";
  const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

}  // namespace mailroom::client
