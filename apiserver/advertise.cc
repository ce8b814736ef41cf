#include "apiserver/advertise.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "apiserver/pki.h"
#include "storage/object/log.h"
#include "storage/object/openssl.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

// The certificates of a PEM file, each as its own text.
std::vector<std::string> SplitPem(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t begin = text.find(kBegin);
    if (begin == std::string_view::npos) return out;
    const std::size_t end = text.find(kEnd, begin);
    if (end == std::string_view::npos) return out;
    out.push_back(std::string(text.substr(begin, end + kEnd.size() - begin)) + "\n");
    text.remove_prefix(end + kEnd.size());
  }
}

bool IsSelfSigned(const std::string& pem) {
  const openssl::Bio bio = openssl::Reader(pem);
  const openssl::Certificate cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  const bool self = cert != nullptr && X509_self_signed(cert.get(), 1) == 1;
  ERR_clear_error();
  return self;
}

// Refused as a whole when it holds anything that is no certificate, or none.
Result<std::vector<std::string>> ReadAuthorities(const std::string& path) {
  std::vector<std::string> certs = SplitPem(TRY(ReadTextFile(path)));
  if (certs.empty()) return BadRequest("no certificate in " + path);
  for (const std::string& cert : certs) {
    if (!ReadCertificate(cert).ok()) return BadRequest("a bad certificate in " + path);
  }
  return certs;
}

// `https://[::1]:6443` is `::1`.
std::string HostOf(const std::string& url) {
  std::string host = url.substr(url.find("://") + 3);
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool IsEverywhere(const std::string& host) {
  return host.empty() || host == "0.0.0.0" || host == "::";
}

}  // namespace

std::string LocalUrl(const Options& options, std::uint16_t port) {
  std::string host = IsEverywhere(options.host) ? "127.0.0.1" : options.host;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (options.plain_http ? "http://" : "https://") + host + ":" + std::to_string(port);
}

std::string AdvertisedUrl(const Options& options, std::uint16_t port) {
  return options.advertise_url.empty() ? LocalUrl(options, port) : options.advertise_url;
}

std::vector<std::string> ServingNames(const Options& options) {
  std::vector<std::string> names = {"127.0.0.1", "localhost", "::1"};
  if (!options.host.empty()) names.push_back(options.host);
  if (!options.advertise_url.empty()) names.push_back(HostOf(options.advertise_url));
  names.insert(names.end(), options.extra_sans.begin(), options.extra_sans.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<std::string> AdvertisedAuthority(const Options& options, const std::string& own_ca) {
  std::string pem;
  if (!options.tls_ca_file.empty()) {
    for (const std::string& cert : TRY(ReadAuthorities(options.tls_ca_file))) pem += cert;
    return pem;
  }
  if (options.tls_cert_file.empty()) return ReadTextFile(own_ca);
  for (const std::string& cert : TRY(ReadAuthorities(options.tls_cert_file))) {
    if (IsSelfSigned(cert)) pem += cert;
  }
  if (!pem.empty()) return pem;
  Log(Level::kWarn, "clients cannot verify the given certificate: --tls-ca-file would tell them how",
      {{"file", options.tls_cert_file}});
  return ReadTextFile(own_ca);
}

Result<std::string> ClientAuthorities(const Options& options, const std::string& own_ca) {
  if (options.client_ca_file.empty()) return own_ca;
  std::string bundle = TRY(ReadTextFile(own_ca));
  for (const std::string& cert : TRY(ReadAuthorities(options.client_ca_file))) bundle += cert;
  const std::string path = options.data_dir + "/pki/client-authorities.crt";
  const auto before = ReadTextFile(path);
  if (!before.ok() || *before != bundle) TRY(WriteSecret(path, bundle));
  return path;
}

}  // namespace mailroom::apiserver
