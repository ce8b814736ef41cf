#include "apiserver/front_proxy.h"

namespace mailroom::apiserver {
namespace {

std::string NameOf(const Workspace& workspace) { return "mailroom-aggregator:" + workspace.name(); }

}  // namespace

Result<KeyPair> FrontProxy::CertificateFor(const Workspace& workspace) {
  const auto now = std::chrono::system_clock::now();
  std::lock_guard lock(mutex_);
  Issued& issued = issued_[workspace];
  if (issued.pair.cert_pem.empty() || now >= issued.renew_at) {
    issued.pair = TRY(IssueClient(authority_, NameOf(workspace), {}));
    issued.renew_at = now + kCertificateValidity / 2;
  }
  return issued.pair;
}

void FrontProxy::Forget(const Workspace& workspace) {
  std::lock_guard lock(mutex_);
  issued_.erase(workspace);
}

void FrontProxy::VerifyClientsWith(std::string client_ca) {
  {
    std::lock_guard lock(mutex_);
    if (client_ca_ == client_ca) return;
    client_ca_ = std::move(client_ca);
  }
  std::lock_guard lock(change_mutex_);
  if (changed_) changed_();
}

void FrontProxy::OnChange(std::function<void()> changed) {
  std::lock_guard lock(change_mutex_);
  changed_ = std::move(changed);
}

Json FrontProxy::TrustOf(const Workspace& workspace) const {
  std::lock_guard lock(mutex_);
  return {{"client-ca-file", client_ca_},
          {"requestheader-allowed-names", DumpJson(Json::array({NameOf(workspace)}))},
          {"requestheader-client-ca-file", authority_.cert_pem},
          {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"},
          {"requestheader-group-headers", R"(["X-Remote-Group"])"},
          {"requestheader-uid-headers", R"(["X-Remote-Uid"])"},
          {"requestheader-username-headers", R"(["X-Remote-User"])"}};
}

}  // namespace mailroom::apiserver
