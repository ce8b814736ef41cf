#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apiserver/pki.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {
namespace {

// A certificate this close to its end is issued again.
constexpr auto kRenewBefore = std::chrono::hours(24 * 30);
constexpr mode_t kSecretMode = 0600;
constexpr mode_t kPublicMode = 0644;

Status FileError(std::string_view what, const std::string& path) {
  return Internal(std::string(what) + " " + path + ": " + std::strerror(errno));
}

// Written beside the file, flushed and renamed over it, so that a crash leaves the old or the
// new content.
Result<void> Replace(const std::string& path, std::string_view text, mode_t mode) {
  const std::string draft = path + ".new";
  ::unlink(draft.c_str());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return FileError("cannot create", draft);
  const ssize_t written = ::write(fd, text.data(), text.size());
  const bool flushed = ::fsync(fd) == 0;
  ::close(fd);
  if (written != static_cast<ssize_t>(text.size()) || !flushed ||
      ::rename(draft.c_str(), path.c_str()) != 0) {
    return FileError("cannot write", path);
  }
  return Ok();
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<KeyPair> ReadPair(const std::string& cert, const std::string& key) {
  KeyPair pair{TRY(ReadTextFile(cert)), TRY(ReadTextFile(key))};
  if (!Matches(pair)) return Internal(cert + " does not belong to " + key);
  return pair;
}

// The key goes first: a certificate without its key is worthless and made again.
Result<void> WritePair(const KeyPair& pair, const std::string& cert, const std::string& key) {
  TRY(Replace(key, pair.key_pem, kSecretMode));
  return Replace(cert, pair.cert_pem, kPublicMode);
}

Result<KeyPair> EnsureAuthority(const char* name, const std::string& cert, const std::string& key) {
  if (Exists(cert) && Exists(key)) return ReadPair(cert, key);
  if (Exists(cert)) return Internal(cert + " is there but its key is not");
  KeyPair authority = TRY(NewAuthority(name));
  TRY(WritePair(authority, cert, key));
  return authority;
}

bool NearItsEnd(const CertificateFacts& facts) {
  return facts.not_after - std::chrono::system_clock::now() < kRenewBefore;
}

bool SameNames(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// Whether the pair in the files can stay in use, by its issuer, its age and `fits`. A pair that
// cannot be read cannot.
template <typename Fits>
bool Usable(const KeyPair& authority, const std::string& cert, const std::string& key, Fits fits) {
  const Result<KeyPair> pair = ReadPair(cert, key);
  if (!pair.ok() || !IssuedBy(authority, pair.value().cert_pem)) return false;
  const Result<CertificateFacts> facts = ReadCertificate(pair.value().cert_pem);
  return facts.ok() && !NearItsEnd(facts.value()) && fits(facts.value());
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return FileError("cannot read", path);
  return std::move(text).str();
}

Result<void> WriteSecret(const std::string& path, std::string_view text) {
  return Replace(path, text, kSecretMode);
}

Result<PkiFiles> EnsurePki(const std::string& data_dir, const std::vector<std::string>& sans) {
  const std::string dir = data_dir + "/pki";
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return Internal("cannot create " + dir + ": " + error.message());
  PkiFiles files{
      .ca_cert = dir + "/ca.crt",
      .ca_key = dir + "/ca.key",
      .server_cert = dir + "/server.crt",
      .server_key = dir + "/server.key",
      .admin_cert = dir + "/admin.crt",
      .admin_key = dir + "/admin.key",
      .service_account_key = dir + "/sa.key",
      .front_proxy_cert = dir + "/front-proxy-ca.crt",
      .front_proxy_key = dir + "/front-proxy-ca.key",
  };
  const KeyPair authority = TRY(EnsureAuthority("mailroom-ca", files.ca_cert, files.ca_key));
  TRY(EnsureAuthority("mailroom-front-proxy-ca", files.front_proxy_cert, files.front_proxy_key));

  const auto same_names = [&](const CertificateFacts& facts) {
    return SameNames(facts.sans, sans);
  };
  if (!Usable(authority, files.server_cert, files.server_key, same_names)) {
    Log(Level::kInfo, "issuing serving certificate", {{"file", files.server_cert}});
    const KeyPair serving = TRY(IssueServing(authority, sans));
    TRY(WritePair(serving, files.server_cert, files.server_key));
  }
  const auto any = [](const CertificateFacts&) { return true; };
  if (!Usable(authority, files.admin_cert, files.admin_key, any)) {
    const KeyPair admin = TRY(IssueClient(authority, "admin", {"system:masters"}));
    TRY(WritePair(admin, files.admin_cert, files.admin_key));
  }
  if (!Exists(files.service_account_key)) {
    const std::string key = TRY(NewPrivateKey());
    TRY(WriteSecret(files.service_account_key, key));
  }
  return files;
}

}  // namespace mailroom::apiserver
