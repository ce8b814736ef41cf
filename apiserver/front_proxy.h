// How this server vouches for users before servers that serve groups of a workspace's API: with a
// certificate of an authority that signs nothing else. Each workspace has its own name in it, so
// that what believes one workspace's users does not believe another's. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "apiserver/pki.h"
#include "storage/object/ids.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

class FrontProxy {
 public:
  // `client_ca` (PEM) is what client certificates of users are verified with, at first.
  FrontProxy(KeyPair authority, std::string client_ca)
      : authority_(std::move(authority)), client_ca_(std::move(client_ca)) {}

  // The certificate to show on behalf of a workspace; made when first asked for, and again in time.
  Result<KeyPair> CertificateFor(const Workspace& workspace);
  void Forget(const Workspace& workspace);

  // What those servers need to know to believe it, as ConfigMap data.
  Json TrustOf(const Workspace& workspace) const;
  // Client certificates are verified with something else from now on.
  void VerifyClientsWith(std::string client_ca);
  // Calls `changed` whenever TrustOf has come to say something else; it must be short. After an
  // empty one was set, the one before is not running and never runs again.
  void OnChange(std::function<void()> changed);

 private:
  struct Issued {
    KeyPair pair;
    std::chrono::system_clock::time_point renew_at;
  };
  const KeyPair authority_;
  mutable std::mutex mutex_;  // guards the next two
  std::string client_ca_;
  std::map<Workspace, Issued> issued_;
  std::mutex change_mutex_;        // held while changed_ runs
  std::function<void()> changed_;  // guarded by change_mutex_
};

}  // namespace mailroom::apiserver
