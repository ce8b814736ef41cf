#include "openapi/validate_certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "storage/object/openssl.h"
#include "storage/object/status.h"

namespace mailroom::openapi {
namespace {

struct Free {
  void operator()(void* data) const { OPENSSL_free(data); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

// Why the bytes of a block are no certificates, one after the other.
std::string BlockFault(const unsigned char* data, long size) {
  if (size == 0) return "found CERTIFICATE PEM block containing 0 certificates";
  const unsigned char* end = data + size;
  while (data < end) {
    const openssl::Certificate certificate(d2i_X509(nullptr, &data, end - data));
    if (certificate == nullptr) return "x509: malformed certificate";
  }
  return "";
}

}  // namespace

std::string CertificatesFault(const std::string& pem) {
  if (pem.empty()) return "";
  const openssl::Bio reader = openssl::Reader(pem);
  std::string fault = "must contain at least one CERTIFICATE PEM block";
  while (true) {
    char *type = nullptr, *header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    const bool found = PEM_read_bio(reader.get(), &type, &header, &data, &size) == 1;
    const Owned<char> owned_type(type), owned_header(header);
    const Owned<unsigned char> owned_data(data);
    ERR_clear_error();  // the end of the text is one, too
    if (!found) return fault;
    if (std::string_view(type) != "CERTIFICATE") {
      return "only CERTIFICATE PEM blocks are allowed, found " + Quoted(type);
    }
    if (*header != '\0') return "no PEM block headers are permitted";
    fault = BlockFault(data, size);
    ERR_clear_error();
    if (!fault.empty()) return fault;
  }
}

}  // namespace mailroom::openapi
