#include "apiserver/client/kubeconfig.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::client {
namespace {

Result<std::string> ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return BadRequest("cannot read " + path.string());
  return text.str();
}

constexpr const char* kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

// The member `kind` of the entry called `name` in the list `plural`.
Result<Json> Entry(const Json& config, std::string_view plural, std::string_view kind,
                   const std::string& name) {
  if (const Json* entries = Find(config, {plural}); entries != nullptr && entries->is_array()) {
    for (const Json& entry : *entries) {
      if (StringAt(entry, {"name"}) != name) continue;
      const Json* body = Find(entry, {kind});
      return body == nullptr || body->is_null() ? Json::object() : *body;
    }
  }
  return BadRequest("kubeconfig has no " + std::string(kind) + " \"" + name + "\"");
}

// `<member>-data` (base64) wins over the file named by `<member>`, as in kubectl.
Result<std::string> Material(const Json& entry, const std::string& member,
                             const std::filesystem::path& folder) {
  if (const std::string data = StringAt(entry, {member + "-data"}); !data.empty()) {
    std::string decoded;
    if (!absl::Base64Unescape(data, &decoded)) {
      return BadRequest("kubeconfig: " + member + "-data is not base64");
    }
    return decoded;
  }
  const std::string file = StringAt(entry, {member});
  if (file.empty()) return std::string();
  return ReadFile(folder / file);
}

Result<void> ReadServer(const Json& cluster, ServerConfig& out) {
  const std::string server = StringAt(cluster, {"server"});
  const std::size_t scheme = server.find("://");
  const bool known = server.starts_with("https://") || server.starts_with("http://");
  if (!known || server.size() <= scheme + 3) {
    return BadRequest("kubeconfig: server \"" + server + "\" is not an http or https URL");
  }
  if (server.find_first_of("?#@", scheme) != std::string::npos) {
    return BadRequest("kubeconfig: server must not have credentials, query or fragment");
  }
  const std::size_t path = std::min(server.find('/', scheme + 3), server.size());
  out.url = server.substr(0, path);
  out.base_path = server.substr(path);
  while (out.base_path.ends_with('/')) out.base_path.pop_back();
  return Ok();
}

Result<void> ReadUser(const Json& user, const std::filesystem::path& folder, ServerConfig& out) {
  for (const std::string_view refused : {"exec", "auth-provider", "username"}) {
    if (Find(user, {refused}) != nullptr) {
      return BadRequest("kubeconfig: user entry \"" + std::string(refused) +
                        "\" is not supported; use a client certificate or a token");
    }
  }
  out.certificate_pem = TRY(Material(user, "client-certificate", folder));
  out.key_pem = TRY(Material(user, "client-key", folder));
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return BadRequest("kubeconfig: a client certificate needs its key and the other way round");
  }
  out.token = StringAt(user, {"token"});
  if (const std::string file = StringAt(user, {"tokenFile"}); out.token.empty() && !file.empty()) {
    out.token_file = (folder / file).string();
    out.token = TRY(ReadToken(out.token_file));
  }
  return Ok();
}

}  // namespace

Result<std::string> ReadToken(const std::string& file) {
  std::string token = TRY(ReadFile(file));
  absl::StripAsciiWhitespace(&token);
  if (token.empty()) return BadRequest(file + " holds no token");
  return token;
}

Result<ServerConfig> InClusterConfig() {
  const char* const host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* const port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr) {
    return BadRequest("this is not a container of a Kubernetes cluster; give a kubeconfig");
  }
  const bool six = std::string_view(host).find(':') != std::string_view::npos;
  const std::filesystem::path folder = kServiceAccount;
  ServerConfig out;
  out.url = std::string("https://") + (six ? "[" : "") + host + (six ? "]:" : ":") + port;
  out.ca_pem = TRY(ReadFile(folder / "ca.crt"));
  out.token_file = (folder / "token").string();
  out.token = TRY(ReadToken(out.token_file));
  return out;
}

Result<ServerConfig> LoadKubeconfig(const std::string& path, const std::string& context) {
  const std::string text = TRY(ReadFile(path));
  const Json config = TRY(ParseYaml(text));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string chosen = context.empty() ? StringAt(config, {"current-context"}) : context;
  const Json wanted = TRY(Entry(config, "contexts", "context", chosen));
  const Json cluster = TRY(Entry(config, "clusters", "cluster", StringAt(wanted, {"cluster"})));

  ServerConfig out;
  TRY(ReadServer(cluster, out));
  out.ca_pem = TRY(Material(cluster, "certificate-authority", folder));
  out.tls_server_name = StringAt(cluster, {"tls-server-name"});
  out.insecure = BoolAt(cluster, {"insecure-skip-tls-verify"});
  if (out.insecure && !out.ca_pem.empty()) {
    return BadRequest("kubeconfig: insecure-skip-tls-verify excludes a certificate authority");
  }
  out.ns = StringAt(wanted, {"namespace"});
  if (const std::string name = StringAt(wanted, {"user"}); !name.empty()) {
    const Json user = TRY(Entry(config, "users", "user", name));
    TRY(ReadUser(user, folder, out));
  }
  return out;
}

std::string RenderKubeconfig(const ServerConfig& config, const std::string& name) {
  Json cluster = {{"server", config.url + config.base_path}};
  const auto embed = [](Json& entry, const char* member, const std::string& pem) {
    if (!pem.empty()) entry.emplace(member, absl::Base64Escape(pem));
  };
  embed(cluster, "certificate-authority-data", config.ca_pem);
  if (config.insecure) cluster.emplace("insecure-skip-tls-verify", true);
  if (!config.tls_server_name.empty()) cluster.emplace("tls-server-name", config.tls_server_name);
  Json user = Json::object();
  embed(user, "client-certificate-data", config.certificate_pem);
  embed(user, "client-key-data", config.key_pem);
  if (!config.token.empty()) user.emplace("token", config.token);
  Json context = {{"cluster", name}, {"user", name}};
  if (!config.ns.empty()) context.emplace("namespace", config.ns);

  const auto listed = [&name](const char* kind, Json body) {
    return Json::array({Json{{"name", name}, {kind, std::move(body)}}});
  };
  return DumpYaml({{"apiVersion", "v1"},
                   {"kind", "Config"},
                   {"clusters", listed("cluster", std::move(cluster))},
                   {"users", listed("user", std::move(user))},
                   {"contexts", listed("context", std::move(context))},
                   {"current-context", name}});
}

}  // namespace mailroom::client
