#include "apiserver/pki.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <ctime>
#include <memory>

#include "storage/object/openssl.h"

namespace mailroom::apiserver {
namespace {

using openssl::Bio;
using openssl::Certificate;
using openssl::Freer;
using openssl::PrivateKey;
using openssl::Reader;
using openssl::SigningRequest;
using openssl::Text;
using openssl::TimeOf;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

Status Failed(std::string_view what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  ERR_error_string_n(code, text.data(), text.size());
  return Internal(std::string(what) + (code == 0 ? "" : std::string(": ") + text.data()));
}

Result<PrivateKey> ParseKey(std::string_view pem) {
  const Bio bio = Reader(pem);
  PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (!key) return Failed("cannot read private key");
  return key;
}

Result<Certificate> ParseCertificate(std::string_view pem) {
  const Bio bio = Reader(pem);
  Certificate cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!cert) return Failed("cannot read certificate");
  return cert;
}

Result<KeyPair> Render(X509* cert, EVP_PKEY* key) {
  const Bio cert_bio(BIO_new(BIO_s_mem()));
  const Bio key_bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(cert_bio.get(), cert) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return Failed("cannot write certificate");
  }
  return KeyPair{Text(cert_bio.get()), Text(key_bio.get())};
}

Result<void> AddExtension(X509* cert, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  if (!extension || X509_add_ext(cert, extension.get(), -1) != 1) {
    return Failed("cannot add certificate extension");
  }
  return Ok();
}

Result<void> AddName(X509_NAME* name, const char* field, std::string_view value) {
  // Given as UTF-8 outright, because OpenSSL's tables allow no common name above 64 bytes.
  if (X509_NAME_add_entry_by_txt(name, field, V_ASN1_UTF8STRING,
                                 reinterpret_cast<const unsigned char*>(value.data()),
                                 static_cast<int>(value.size()), -1, 0) != 1) {
    return Failed("cannot set certificate subject");
  }
  return Ok();
}

// A version 3 certificate with a random serial number, the key and the validity set. It starts
// in the past, so that clocks a little behind ours accept it; one that lives shortly, by less.
Result<Certificate> Draft(EVP_PKEY* key, Validity validity) {
  constexpr long kSkew = 300, kPart = 8;
  Certificate cert(X509_new());
  std::array<unsigned char, 16> serial{};
  if (!cert || RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) {
    return Failed("cannot make certificate");
  }
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);
  const long seconds = static_cast<long>(validity.count());
  const long skew = std::min(kSkew, std::abs(seconds) / kPart);
  std::unique_ptr<BIGNUM, Freer<BN_free>> number(
      BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr));
  if (X509_set_version(cert.get(), 2) != 1 ||
      BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(cert.get())) == nullptr ||
      X509_gmtime_adj(X509_getm_notBefore(cert.get()), seconds < 0 ? seconds - skew : -skew) ==
          nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(cert.get()), seconds) == nullptr ||
      X509_set_pubkey(cert.get(), key) != 1) {
    return Failed("cannot make certificate");
  }
  return cert;
}

bool IsAddress(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

Result<void> AddAlternativeNames(X509* cert, const std::vector<std::string>& sans) {
  const Names names(GENERAL_NAMES_new());
  for (const std::string& san : sans) {
    std::unique_ptr<GENERAL_NAME, Freer<GENERAL_NAME_free>> name(a2i_GENERAL_NAME(
        nullptr, nullptr, nullptr, IsAddress(san) ? GEN_IPADD : GEN_DNS, san.c_str(), 0));
    if (!name || sk_GENERAL_NAME_push(names.get(), name.get()) <= 0) {
      return Failed("bad subject alternative name " + Quoted(san));
    }
    (void)name.release();
  }
  if (X509_add1_ext_i2d(cert, NID_subject_alt_name, names.get(), 0, X509V3_ADD_APPEND) != 1) {
    return Failed("cannot set subject alternative names");
  }
  return Ok();
}

struct Subject {
  std::string_view common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> sans;
  const char* extended_usage;
};

Result<Certificate> Certify(const KeyPair& authority, const Subject& subject, EVP_PKEY* key,
                            Validity validity) {
  const Certificate issuer = TRY(ParseCertificate(authority.cert_pem));
  const PrivateKey issuer_key = TRY(ParseKey(authority.key_pem));
  Certificate cert = TRY(Draft(key, validity));
  X509_NAME* name = X509_get_subject_name(cert.get());
  for (const std::string& organization : subject.organizations) {
    TRY(AddName(name, "O", organization));
  }
  TRY(AddName(name, "CN", subject.common_name));
  X509_set_issuer_name(cert.get(), X509_get_subject_name(issuer.get()));
  TRY(AddExtension(cert.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  TRY(AddExtension(cert.get(), issuer.get(), NID_key_usage, "critical,digitalSignature"));
  TRY(AddExtension(cert.get(), issuer.get(), NID_ext_key_usage, subject.extended_usage));
  TRY(AddExtension(cert.get(), issuer.get(), NID_authority_key_identifier, "keyid"));
  if (!subject.sans.empty()) TRY(AddAlternativeNames(cert.get(), subject.sans));
  if (X509_sign(cert.get(), issuer_key.get(), EVP_sha256()) == 0) {
    return Failed("cannot sign certificate");
  }
  return cert;
}

Result<KeyPair> Issue(const KeyPair& authority, const Subject& subject, Validity validity) {
  const std::string key_pem = TRY(NewPrivateKey());
  const PrivateKey key = TRY(ParseKey(key_pem));
  const Certificate cert = TRY(Certify(authority, subject, key.get(), validity));
  return Render(cert.get(), key.get());
}

Result<SigningRequest> ParseRequest(std::string_view pem) {
  const Bio bio = Reader(pem);
  SigningRequest request(PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
  EVP_PKEY* key = request ? X509_REQ_get0_pubkey(request.get()) : nullptr;
  const bool good = key != nullptr && X509_REQ_verify(request.get(), key) == 1;
  ERR_clear_error();
  if (!good) return BadRequest("not a certificate signing request with a valid signature");
  return request;
}

std::vector<std::string> NameValues(X509_NAME* name, int nid) {
  std::vector<std::string> out;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0) out.emplace_back(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return out;
}

std::vector<std::string> AlternativeNames(X509* cert) {
  std::vector<std::string> out;
  const Names names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      const int size = ASN1_STRING_length(name->d.iPAddress);
      std::array<char, INET6_ADDRSTRLEN> text{};
      if (inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress),
                    text.data(), text.size()) != nullptr) {
        out.emplace_back(text.data());
      }
    }
  }
  return out;
}

}  // namespace

Result<std::string> NewPrivateKey() {
  const PrivateKey key(EVP_EC_gen("P-256"));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!key || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                            nullptr) != 1) {
    return Failed("cannot make private key");
  }
  return Text(bio.get());
}

Result<KeyPair> NewAuthority(std::string_view common_name, Validity validity) {
  const std::string key_pem = TRY(NewPrivateKey());
  const PrivateKey key = TRY(ParseKey(key_pem));
  const Certificate cert = TRY(Draft(key.get(), validity));
  X509_NAME* name = X509_get_subject_name(cert.get());
  TRY(AddName(name, "CN", common_name));
  X509_set_issuer_name(cert.get(), name);
  TRY(AddExtension(cert.get(), cert.get(), NID_basic_constraints, "critical,CA:TRUE"));
  TRY(AddExtension(cert.get(), cert.get(), NID_key_usage,
                   "critical,digitalSignature,keyCertSign,cRLSign"));
  TRY(AddExtension(cert.get(), cert.get(), NID_subject_key_identifier, "hash"));
  if (X509_sign(cert.get(), key.get(), EVP_sha256()) == 0) {
    return Failed("cannot sign certificate");
  }
  return Render(cert.get(), key.get());
}

Result<KeyPair> IssueServing(const KeyPair& authority, const std::vector<std::string>& sans,
                             Validity validity) {
  if (sans.empty()) return Internal("a serving certificate needs a name");
  return Issue(authority,
               {.common_name = "mailroom",
                .organizations = {},
                .sans = sans,
                .extended_usage = "serverAuth"},
               validity);
}

Result<KeyPair> IssueClient(const KeyPair& authority, std::string_view common_name,
                            const std::vector<std::string>& organizations, Validity validity) {
  return Issue(authority,
               {.common_name = common_name,
                .organizations = organizations,
                .sans = {},
                .extended_usage = "clientAuth"},
               validity);
}

Result<CertificateFacts> ReadSigningRequest(std::string_view request_pem) {
  const SigningRequest request = TRY(ParseRequest(request_pem));
  CertificateFacts facts;
  X509_NAME* name = X509_REQ_get_subject_name(request.get());
  for (std::string& value : NameValues(name, NID_commonName)) facts.common_name = std::move(value);
  facts.organizations = NameValues(name, NID_organizationName);
  return facts;
}

Result<std::string> SignClient(const KeyPair& authority, std::string_view request_pem,
                               Validity validity) {
  const SigningRequest request = TRY(ParseRequest(request_pem));
  const CertificateFacts facts = TRY(ReadSigningRequest(request_pem));
  const Certificate cert = TRY(Certify(authority,
                                       {.common_name = facts.common_name,
                                        .organizations = facts.organizations,
                                        .sans = {},
                                        .extended_usage = "clientAuth"},
                                       X509_REQ_get0_pubkey(request.get()), validity));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(bio.get(), cert.get()) != 1) return Failed("cannot write certificate");
  return Text(bio.get());
}

Result<CertificateFacts> ReadCertificate(std::string_view cert_pem) {
  const Certificate cert = TRY(ParseCertificate(cert_pem));
  CertificateFacts facts;
  X509_NAME* name = X509_get_subject_name(cert.get());
  for (std::string& value : NameValues(name, NID_commonName)) facts.common_name = std::move(value);
  facts.organizations = NameValues(name, NID_organizationName);
  facts.sans = AlternativeNames(cert.get());
  facts.not_before = TimeOf(X509_get0_notBefore(cert.get()));
  facts.not_after = TimeOf(X509_get0_notAfter(cert.get()));
  return facts;
}

bool Matches(const KeyPair& pair) {
  const Result<Certificate> cert = ParseCertificate(pair.cert_pem);
  const Result<PrivateKey> key = ParseKey(pair.key_pem);
  return cert.ok() && key.ok() &&
         X509_check_private_key(cert.value().get(), key.value().get()) == 1;
}

bool IssuedBy(const KeyPair& authority, std::string_view cert_pem) {
  const Result<Certificate> cert = ParseCertificate(cert_pem);
  const Result<PrivateKey> key = ParseKey(authority.key_pem);
  return cert.ok() && key.ok() && X509_verify(cert.value().get(), key.value().get()) == 1;
}

}  // namespace mailroom::apiserver
