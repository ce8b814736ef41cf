// Reading a kubeconfig file: server, CA, client certificate or token, as data or as files. exec
// and auth-provider entries are refused.
#pragma once

#include <optional>
#include <string>

#include "apiserver/client/address_policy.h"
#include "storage/object/result.h"

namespace mailroom::client {

struct ServerConfig {
  std::string url;        // scheme://host:port, no path
  std::string base_path;  // path of the server URL, "" or `/clusters/wds1`
  std::string ca_pem;     // "" means the system's
  std::string certificate_pem;
  std::string key_pem;
  std::string token;
  std::string token_file;  // read again from time to time, because such tokens are rotated
  std::string tls_server_name;
  bool insecure = false;
  std::string ns;  // namespace of the context
  std::optional<AddressPolicy> refuse = {};  // for servers that users wrote down; no proxy then
};

// `context` "" means current-context.
Result<ServerConfig> LoadKubeconfig(const std::string& path, const std::string& context);
// The server and the service account that a container in a Kubernetes cluster is given.
Result<ServerConfig> InClusterConfig();
// The token in a file, without the white space around it.
Result<std::string> ReadToken(const std::string& file);
// One cluster, user and context named `name`, everything embedded.
std::string RenderKubeconfig(const ServerConfig& config, const std::string& name);

}  // namespace mailroom::client
