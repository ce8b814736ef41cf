// Certificates in PEM, as signers hand them out. Pure functions; any thread.
#pragma once

#include <string>

namespace mailroom::openapi {

// Why the text is no bundle of certificates, in kube-apiserver's words; "" when it is one, or empty.
std::string CertificatesFault(const std::string& pem);

}  // namespace mailroom::openapi
