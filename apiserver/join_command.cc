#include "apiserver/join_command.h"

#include "apiserver/auth/bootstrap_tokens.h"
#include "apiserver/client/client.h"
#include "apiserver/client/curl_transport.h"
#include "apiserver/client/kubeconfig.h"
#include "openapi/base64.h"
#include "openapi/edge_names.h"
#include "storage/object/limits.h"
#include "storage/object/random.h"

namespace mailroom::apiserver {
namespace {

// Small letters and digits, each as likely as the others.
std::string RandomWord(std::size_t size) {
  static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string out;
  while (out.size() < size) {
    unsigned char byte = 0;
    FillRandom(&byte, 1);
    if (byte < 252) out += kLetters[byte % 36];
  }
  return out;
}

}  // namespace

Result<void> CheckHasSyncer(const std::string& mailbox) {
  if (openapi::ParseMailboxName(mailbox)) return Ok();
  return BadRequest("mailbox " + Quoted(mailbox) + " has no syncer: only those of inventory "
                    "entries do, which are named INVENTORY-mb-UID");
}

Result<std::string> JoinCommand(const std::string& kubeconfig, const std::string& workspace,
                                const std::string& mailbox) {
  TRY(CheckHasSyncer(mailbox));
  const client::ServerConfig config = TRY(client::LoadKubeconfig(kubeconfig, ""));
  const auto transport = client::MakeCurlTransport(config);
  const client::Client client(*transport, "/clusters/" + workspace, "mailroom");
  const std::string id = RandomWord(6), secret = RandomWord(16);
  auto data = [](std::string_view text) { return openapi::EncodeBase64(text); };
  TRY(client.Create(
      {"v1", "secrets"}, "kube-system",
      {{"apiVersion", "v1"},
       {"kind", "Secret"},
       {"metadata", {{"name", std::string(kBootstrapSecretPrefix) + id}}},
       {"type", kBootstrapSecretType},
       {"data",
        {{"token-id", data(id)},
         {"token-secret", data(secret)},
         {"usage-bootstrap-authentication", data("true")},
         {"expiration",
          data(FormatTime(std::chrono::system_clock::now() + limits::kBootstrapTokenAge))},
         {"mailbox", data(mailbox)}}}}));
  return "mailroom-syncer join --server " + config.url + " --workspace " + workspace + " --token " +
         id + "." + secret + " --mailbox " + mailbox + " --ca-data " +
         openapi::EncodeBase64(config.ca_pem) + " --out mailbox.kubeconfig";
}

}  // namespace mailroom::apiserver
