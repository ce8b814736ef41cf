// The syncer's own credential: got once with a join token, kept in a kubeconfig file, and renewed
// with itself before it ends.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apiserver/client/kubeconfig.h"
#include "storage/object/result.h"

namespace mailroom::syncer {

struct JoinRequest {
  std::string server;     // https://host:port of the hub
  std::string workspace;  // that holds the token
  std::string token;
  std::string ca_pem;
  std::string mailbox;
};

// Asks for the certificate of the mailbox's syncer; blocks until it is there or refused.
Result<client::ServerConfig> Join(const JoinRequest& request);
// The same mailbox with a new key and certificate.
Result<client::ServerConfig> Renew(const client::ServerConfig& current);
// When to renew; nothing for credentials that are no syncer's certificate.
std::optional<std::chrono::system_clock::time_point> RenewalTime(const client::ServerConfig& config);

// Replaces the file, mode 0600.
Result<void> WriteKubeconfig(const std::string& path, const client::ServerConfig& config);

// `mailroom-syncer join ...`; the process's exit code.
int JoinMain(int argc, char** argv);

}  // namespace mailroom::syncer
