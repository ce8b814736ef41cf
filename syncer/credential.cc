#include "syncer/credential.h"

#include <fcntl.h>
#include <getopt.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>

#include "apiserver/client/backoff.h"
#include "apiserver/client/certificate_request.h"
#include "apiserver/client/client.h"
#include "apiserver/client/curl_transport.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "syncer/digest.h"

namespace mailroom::syncer {
namespace {

constexpr std::string_view kSigner = "mailbox.kubestellar.io/syncer-client";
constexpr std::string_view kGroup = "system:mailroom:syncers";
constexpr std::string_view kUserPrefix = "system:syncer:";

// Waits without a sleep that nothing could end: nobody signals, so this is only the timeout.
void Pause(std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, time);
}

// Whether the hub may have done what it did not answer to.
bool MayBeDone(const Status& error) {
  return error.reason() == Reason::kServiceUnavailable || error.reason() == Reason::kTimeout ||
         error.reason() == Reason::kServerTimeout;
}

// Makes the request, once: when the answer is lost, it may be there, and the token that asked for
// it spent. Its name is its own, so it is found again.
Result<void> Post(const client::Client& client, const client::ObjectRef& ref, const Json& request) {
  const auto end = std::chrono::steady_clock::now() + limits::kClientConnect;
  for (int attempt = 0;; ++attempt) {
    const auto made = client.Create(ref.gvr, "", request);
    if (made.ok()) return Ok();
    const auto there = client.Get(ref);
    const std::string wanted = StringAt(request, {"spec", "request"});
    if (there.ok() && StringAt(*there, {"spec", "request"}) == wanted) return Ok();
    if (!MayBeDone(made.error()) || std::chrono::steady_clock::now() >= end) return made.error();
    Pause(client::Backoff(limits::kReconnectFirst, limits::kReconnectLast, attempt));
  }
}

// Posts the request with `asker` and waits for the certificate.
Result<std::string> Certify(const client::ServerConfig& asker, const std::string& request_pem) {
  constexpr std::size_t kDigits = 20;
  const auto transport = client::MakeCurlTransport(asker);
  const client::Client client(*transport, asker.base_path, "mailroom-syncer");
  const client::Gvr gvr{"certificates.k8s.io/v1", "certificatesigningrequests"};
  const client::ObjectRef ref{gvr, "", "syncer-" + HexDigest(request_pem).substr(0, kDigits), ""};
  TRY(Post(client, ref,
           {{"apiVersion", gvr.api_version},
            {"kind", "CertificateSigningRequest"},
            {"metadata", {{"name", ref.name}}},
            {"spec", {{"request", openapi::EncodeBase64(request_pem)},
                      {"signerName", kSigner},
                      {"usages", {"digital signature", "client auth"}}}}}));
  const auto end = std::chrono::steady_clock::now() + limits::kCertificateWait;
  for (int attempt = 0; std::chrono::steady_clock::now() < end; ++attempt) {
    const auto answer = client.Get(ref);
    if (!answer.ok() && !MayBeDone(answer.error())) return answer.error();
    const Json seen = answer.ok() ? *answer : Json();
    const auto certificate = openapi::DecodeBase64(StringAt(seen, {"status", "certificate"}));
    if (certificate && !certificate->empty()) return *certificate;
    if (const Json* conditions = Find(seen, {"status", "conditions"})) {
      for (const Json& condition : *conditions) {
        const std::string type = StringAt(condition, {"type"});
        if (type != "Denied" && type != "Failed") continue;
        return Forbidden(gvr.resource, gvr.group(), ref.name, StringAt(condition, {"message"}));
      }
    }
    Pause(client::Backoff(limits::kReconnectFirst, limits::kReconnectLast, attempt));
  }
  return Timeout("the request " + ref.name + " was not answered; does the token belong to this mailbox?");
}

}  // namespace

Result<client::ServerConfig> Join(const JoinRequest& request) {
  client::ServerConfig asker;
  asker.url = request.server;
  asker.base_path = "/clusters/" + request.workspace;
  asker.ca_pem = request.ca_pem;
  asker.token = request.token;
  client::ServerConfig config;
  config.url = request.server;
  config.base_path = "/clusters/" + request.mailbox;
  config.ca_pem = request.ca_pem;
  config.key_pem = TRY(client::NewKey());
  const std::string pem = TRY(client::NewSigningRequest(
      config.key_pem, std::string(kUserPrefix) + request.mailbox, {std::string(kGroup)}));
  config.certificate_pem = TRY(Certify(asker, pem));
  return config;
}

Result<client::ServerConfig> Renew(const client::ServerConfig& current) {
  client::ServerConfig next = current;
  next.key_pem = TRY(client::NewKey());
  const std::string pem = TRY(client::NewSigningRequest(
      next.key_pem, client::CommonNameOf(current.certificate_pem), {std::string(kGroup)}));
  next.certificate_pem = TRY(Certify(current, pem));
  return next;
}

std::optional<std::chrono::system_clock::time_point> RenewalTime(
    const client::ServerConfig& config) {
  if (!client::CommonNameOf(config.certificate_pem).starts_with(kUserPrefix)) return std::nullopt;
  const auto lifetime = client::LifetimeOf(config.certificate_pem);
  if (!lifetime.ok()) return std::nullopt;
  return lifetime->renew();
}

Result<void> WriteKubeconfig(const std::string& path, const client::ServerConfig& config) {
  const std::string text = client::RenderKubeconfig(config, "mailbox");
  const std::string draft = path + ".new";
  ::unlink(draft.c_str());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) ==
                                      static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!written || ::rename(draft.c_str(), path.c_str()) != 0) {
    return Internal("cannot write " + path + ": " + std::strerror(errno));
  }
  return Ok();
}

int JoinMain(int argc, char** argv) {
  JoinRequest request;
  std::string ca_data, out;
  const option options[] = {{"server", required_argument, nullptr, 0},
                            {"workspace", required_argument, nullptr, 1},
                            {"token", required_argument, nullptr, 2},
                            {"ca-data", required_argument, nullptr, 3},
                            {"mailbox", required_argument, nullptr, 4},
                            {"out", required_argument, nullptr, 5},
                            {nullptr, 0, nullptr, 0}};
  std::string* const targets[] = {&request.server, &request.workspace, &request.token,
                                  &ca_data,        &request.mailbox,   &out};
  for (int found; (found = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    if (found < 0 || found > 5) return 2;
    *targets[found] = optarg;
  }
  for (const std::string* value : targets) {
    if (!value->empty()) continue;
    std::cerr << "usage: mailroom-syncer join --server URL --workspace NAME --token TOKEN\n"
                 "                            --ca-data BASE64 --mailbox NAME --out KUBECONFIG\n";
    return 2;
  }
  request.ca_pem = openapi::DecodeBase64(ca_data).value_or("");
  const auto config = Join(request);
  const auto written = config.ok() ? WriteKubeconfig(out, *config) : Result<void>(config.error());
  if (written.ok()) return 0;
  std::cerr << "mailroom-syncer: " << written.error().message() << "\n";
  return 1;
}

}  // namespace mailroom::syncer
