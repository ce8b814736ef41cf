// Certificates in secrets that do not fit their keys.
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>

#include "openapi/base64.h"
#include "openapi/warn_builtin.h"
#include "storage/object/json_path.h"

namespace mailroom::openapi {
namespace {

struct Block {
  std::string type, bytes;
};

std::vector<Block> BlocksOf(const std::string& pem) {
  std::vector<Block> blocks;
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  char *name = nullptr, *header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  // What cannot be read is passed over.
  while (BIO_eof(bio.get()) == 0) {
    if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) continue;
    blocks.push_back({name, std::string(reinterpret_cast<char*>(data), static_cast<std::size_t>(size))});
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  ERR_clear_error();
  return blocks;
}

std::string Listed(const std::vector<Block>& blocks) {
  std::string out = "[";
  for (const Block& block : blocks) out += (out.size() > 1 ? " " : "") + block.type;
  return out + "]";
}

bool IsKey(const Block& block) {
  return block.type == "PRIVATE KEY" || block.type.ends_with(" PRIVATE KEY");
}

std::string NoCertificate(const std::vector<Block>& others) {
  if (others.empty()) return "tls: failed to find any PEM data in certificate input";
  if (others.size() == 1 && others[0].type.ends_with("PRIVATE KEY")) {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private "
           "key; PEM inputs may have been switched";
  }
  return "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM "
         "blocks of the following types: " + Listed(others);
}

std::string NoKey(const std::vector<Block>& others) {
  if (others.empty()) return "tls: failed to find any PEM data in key input";
  if (others.size() == 1 && others[0].type == "CERTIFICATE") {
    return "tls: found a certificate rather than a key in the PEM for the private key";
  }
  return "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after "
         "skipping PEM blocks of the following types: " + Listed(others);
}

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

std::string Mismatch(const Block& certificate, const Block& key) {
  const auto* at = reinterpret_cast<const unsigned char*>(certificate.bytes.data());
  const Certificate parsed(d2i_X509(nullptr, &at, static_cast<long>(certificate.bytes.size())), X509_free);
  if (parsed == nullptr) return "x509: malformed certificate";
  at = reinterpret_cast<const unsigned char*>(key.bytes.data());
  const Key secret(d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(key.bytes.size())), EVP_PKEY_free);
  if (secret == nullptr) return "tls: failed to parse private key";
  const EVP_PKEY* open = X509_get0_pubkey(parsed.get());
  if (open == nullptr) return "tls: unknown public key algorithm";
  if (EVP_PKEY_base_id(open) != EVP_PKEY_base_id(secret.get())) {
    return "tls: private key type does not match public key type";
  }
  return EVP_PKEY_eq(open, secret.get()) == 1 ? "" : "tls: private key does not match public key";
}

}  // namespace

void WarnAboutKeyPair(const Json& secret, Warnings& warnings) {
  if (StringAt(secret, {"type"}) != "kubernetes.io/tls") return;
  const auto blocks = [&](const char* member) {
    return BlocksOf(DecodeBase64(StringAt(secret, {"data", member})).value_or(""));
  };
  const std::vector<Block> certificates = blocks("tls.crt"), keys = blocks("tls.key");
  const auto certificate = std::find_if(certificates.begin(), certificates.end(),
                                        [](const Block& each) { return each.type == "CERTIFICATE"; });
  if (certificate == certificates.end()) return warnings.push_back(NoCertificate(certificates));
  const auto key = std::find_if(keys.begin(), keys.end(), IsKey);
  if (key == keys.end()) return warnings.push_back(NoKey(keys));
  const std::string why = Mismatch(*certificate, *key);
  if (!why.empty()) warnings.push_back(why);
}

}  // namespace mailroom::openapi
