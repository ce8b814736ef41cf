// Keys and certificates: a certificate authority (ECDSA P-256), the certificates it issues, and
// the files a data directory keeps them in. Everything is PEM text; no state, thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/result.h"

namespace mailroom::apiserver {

struct KeyPair {
  std::string cert_pem;
  std::string key_pem;
};

struct CertificateFacts {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> sans;  // DNS names and IP addresses, in order
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;
};

using Validity = std::chrono::seconds;
inline constexpr Validity kAuthorityValidity = std::chrono::hours(24 * 365 * 10);
inline constexpr Validity kCertificateValidity = std::chrono::hours(24 * 365);

// A new P-256 private key.
Result<std::string> NewPrivateKey();
// A self-signed CA with a new key.
Result<KeyPair> NewAuthority(std::string_view common_name, Validity validity = kAuthorityValidity);
// A server certificate; `sans` are host names or IP addresses, at least one.
Result<KeyPair> IssueServing(const KeyPair& authority, const std::vector<std::string>& sans,
                             Validity validity = kCertificateValidity);
// A client certificate that names a user and its groups. A negative validity makes one that has
// expired.
Result<KeyPair> IssueClient(const KeyPair& authority, std::string_view common_name,
                            const std::vector<std::string>& organizations,
                            Validity validity = kCertificateValidity);
// What a certificate signing request asks for; BadRequest when it is none or its signature does
// not show possession of the key.
Result<CertificateFacts> ReadSigningRequest(std::string_view request_pem);
// A client certificate with the request's subject and key, nothing else taken from it.
Result<std::string> SignClient(const KeyPair& authority, std::string_view request_pem,
                               Validity validity);
// The first certificate of `cert_pem`.
Result<CertificateFacts> ReadCertificate(std::string_view cert_pem);
// Whether the certificate's public key belongs to the private key.
bool Matches(const KeyPair& pair);
// Whether the authority's key signed the certificate.
bool IssuedBy(const KeyPair& authority, std::string_view cert_pem);

struct PkiFiles {
  std::string ca_cert, ca_key;          // ca.crt, ca.key
  std::string server_cert, server_key;  // server.crt, server.key
  std::string admin_cert, admin_key;    // admin.crt, admin.key: CN admin, O system:masters
  std::string service_account_key;      // sa.key: signs service-account tokens
  std::string front_proxy_cert, front_proxy_key;  // front-proxy-ca.crt, front-proxy-ca.key
};

// Makes what is missing under `data_dir`/pki and keeps what is there. The serving certificate is
// issued again when it is near its end or its names are not `sans`, the admin certificate when
// it is near its end. Key files have mode 0600. Not safe against a second process on the same
// directory.
Result<PkiFiles> EnsurePki(const std::string& data_dir, const std::vector<std::string>& sans);

// Whole-file I/O of PEM material; `WriteSecret` replaces atomically with mode 0600.
Result<std::string> ReadTextFile(const std::string& path);
Result<void> WriteSecret(const std::string& path, std::string_view text);

}  // namespace mailroom::apiserver
