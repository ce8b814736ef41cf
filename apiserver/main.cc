// The `mailroom` program: `serve` runs the API server with its controllers; `syncer-kubeconfig`
// writes the credential of one mailbox's syncer; `workspace` exports and imports one workspace.
// Only wiring lives here.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>
#include <map>
#include <optional>
#include <thread>

#include "apiserver/advertise.h"
#include "apiserver/audit.h"
#include "apiserver/auth/user.h"
#include "apiserver/client/kubeconfig.h"
#include "apiserver/client/leader.h"
#include "apiserver/deadline.h"
#include "apiserver/exit_deadline.h"
#include "apiserver/host_authorizer.h"
#include "apiserver/http/front.h"
#include "apiserver/join_command.h"
#include "apiserver/kinds.h"
#include "apiserver/offload_dispatcher.h"
#include "apiserver/options.h"
#include "apiserver/pki.h"
#include "apiserver/render.h"
#include "apiserver/server.h"
#include "apiserver/worker_pool.h"
#include "apiserver/workspace_archive.h"
#include "mailbox/start.h"
#include "storage/embedded_store.h"
#include "storage/etcd_store.h"
#include "storage/object/limits.h"
#include "storage/object/process_memory.h"
#include "storage/sealed_store.h"
#include "translator/start.h"

namespace mailroom::apiserver {
namespace {

// What the front counts, at /metrics.
void AddFrontMetrics(Metrics& metrics, const Front& front) {
  constexpr auto kTotal = Metrics::Named::Type::kCounter;
  metrics.AddGauges(
      {{"mailroom_connections", "Open connections."},
       {"mailroom_handshakes", "Connections in their TLS handshake."},
       {"mailroom_requests_in_flight", "Requests not yet answered."},
       {"mailroom_streams", "Watches under way."},
       {"mailroom_connections_accepted", "Connections since the start.", kTotal},
       {"mailroom_connections_refused", "Of them, those past the limit.", kTotal},
       {"mailroom_connections_cut", "Of them, those that were slow, stuck or hostile.", kTotal},
       {"mailroom_requests_http1", "Requests over HTTP/1.1 since the start.", kTotal},
       {"mailroom_requests_http2", "Requests over HTTP/2 since the start.", kTotal}},
      [&front] {
        const FrontCounts now = front.counts();
        std::vector<double> values;
        for (const std::size_t count :
             {now.connections, now.handshakes, now.exchanges, now.streams, now.accepted,
              now.refused, now.cut, now.http1_requests, now.http2_requests}) {
          values.push_back(static_cast<double>(count));
        }
        return values;
      });
}

// An HTTP/1.1 watch pins a descriptor, and the usual soft limit is 1024. How many connections there
// may be: a tenth of the descriptors is left for files and for calls of our own.
std::size_t RaiseDescriptorLimit(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::min<std::size_t>(wanted, limit.rlim_cur - limit.rlim_cur / 10);
}

client::ServerConfig ConfigFor(const std::string& url, std::string ca_pem, const KeyPair& pair,
                               const std::string& workspace) {
  client::ServerConfig config;
  config.url = url;
  config.base_path = "/clusters/" + workspace;
  config.ca_pem = std::move(ca_pem);
  config.certificate_pem = pair.cert_pem;
  config.key_pem = pair.key_pem;
  return config;
}

Result<void> WriteAdminKubeconfig(const Options& options, const PkiFiles& pki,
                                  const std::string& url) {
  if (options.kubeconfig_out.empty()) return Ok();
  const KeyPair admin{TRY(ReadTextFile(pki.admin_cert)), TRY(ReadTextFile(pki.admin_key))};
  const auto config = ConfigFor(url, TRY(AdvertisedAuthority(options, pki.ca_cert)), admin,
                                std::string(kRootWorkspace));
  return WriteSecret(options.kubeconfig_out,
                     client::RenderKubeconfig(config, std::string(kRootWorkspace)));
}

Result<std::unique_ptr<storage::Store>> OpenEngine(const Options& options) {
  if (options.etcd_servers.empty()) return storage::OpenEmbedded(options.data_dir + "/store");
  return storage::OpenEtcd({.endpoints = options.etcd_servers,
                            .ca_file = options.etcd_ca_file,
                            .cert_file = options.etcd_cert_file,
                            .key_file = options.etcd_key_file,
                            .user = options.etcd_user,
                            .password_file = options.etcd_password_file});
}

// Everything that must run in only one of the hubs that share a store.
class HubControllers {
 public:
  explicit HubControllers(Server& server) : server_(server) {}

  void Start() {
    if (auto started = server_.StartControllers(); !started.ok()) {
      Log(Level::kError, "controllers cannot start", {{"error", started.error().message()}});
      return;
    }
    const client::Client root(server_.loopback(), "/clusters/root", "mailroom-controllers");
    mailboxes_ = mailbox::Start(root);
    translator_ = translator::Start(root);
  }

  void Stop() {
    translator_.reset();
    mailboxes_.reset();
    server_.StopControllers();
  }

 private:
  Server& server_;
  std::unique_ptr<mailbox::Running> mailboxes_;
  std::unique_ptr<translator::Running> translator_;
};

client::Leader::Options LeaderOptions(Server& server) {
  char host[256] = "hub";
  gethostname(host, sizeof(host) - 1);
  return {.client = client::Client(server.loopback(), "/clusters/root", "mailroom-leader"),
          .ns = "kube-system",
          .name = "mailroom-controllers",
          .identity = std::string(host) + "_" + NewUid(),
          .lease = limits::kLeaseDuration,
          .renewal = limits::kLeaseRenewal,
          .retry = limits::kLeaseRetry};
}

Result<std::unique_ptr<storage::Store>> OpenStore(const Options& options) {
  auto engine = TRY(OpenEngine(options));
  if (options.encryption_keys_file.empty()) return engine;
  auto seal = storage::Seal::Parse(TRY(ReadTextFile(options.encryption_keys_file)));
  auto written = seal.ok() ? storage::Reseal(*engine, *seal) : Result<std::size_t>(seal.error());
  if (!written.ok()) {
    engine->Close();
    return std::move(written).error();
  }
  if (*written > 0) {
    Log(Level::kInfo, "stored values sealed anew", {{"count", std::to_string(*written)}});
    if (options.etcd_servers.empty()) {  // what they were before must not stay in our files
      engine->Close();
      engine.reset();
      TRY(storage::ScrubEmbedded(options.data_dir + "/store"));
      engine = TRY(OpenEngine(options));
    }
  }
  return storage::OpenSealed(std::move(engine), std::move(*seal));
}

std::vector<std::string> LowerCase(std::vector<std::string> names) {
  for (std::string& name : names) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return names;
}

Result<Identity> IdentityOf(const Options& options, const PkiFiles& pki) {
  Identity identity;
  identity.issuer = options.token_issuer;
  identity.syncer_certificate = options.syncer_certificate;
  identity.authority = {TRY(ReadTextFile(pki.ca_cert)), TRY(ReadTextFile(pki.ca_key))};
  identity.front_proxy_authority = {TRY(ReadTextFile(pki.front_proxy_cert)),
                                    TRY(ReadTextFile(pki.front_proxy_key))};
  identity.client_ca_pem = TRY(ReadTextFile(TRY(ClientAuthorities(options, pki.ca_cert))));
  identity.token_key_pem = TRY(ReadTextFile(options.token_signing_key_file.empty()
                                                ? pki.service_account_key
                                                : options.token_signing_key_file));
  for (const std::string& file : options.token_key_files) {
    identity.believed_token_keys.push_back(TRY(ReadTextFile(file)));
  }
  identity.request_headers = {.user = LowerCase(options.request_header_users),
                              .uid = LowerCase(options.request_header_uids),
                              .group = LowerCase(options.request_header_groups),
                              .extra_prefix = LowerCase(options.request_header_extras)};
  return identity;
}

Result<std::shared_ptr<const Audit>> AuditOf(const Options& options) {
  if (options.audit_log_path.empty()) return std::shared_ptr<const Audit>();
  AuditPolicy policy;
  if (!options.audit_policy_file.empty()) {
    policy = TRY(AuditPolicy::Parse(TRY(ReadTextFile(options.audit_policy_file))));
  }
  AuditLog::Options log{.path = options.audit_log_path};
  if (options.audit_log_max_mib > 0) log.file_bytes = options.audit_log_max_mib << 20;
  if (options.audit_log_max_backups > 0) log.files = options.audit_log_max_backups;
  return std::shared_ptr<const Audit>(std::make_shared<Audit>(
      std::move(policy), TRY(AuditLog::Open(std::move(log))), Clock::Real()));
}

// The signals that only the main thread takes: to stop, and to look at certificate files.
sigset_t OurSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// Returns when asked to stop. Until then `refresh` runs at every interval and on SIGHUP.
void WaitForStop(std::chrono::seconds interval, const std::function<void()>& refresh) {
  const sigset_t set = OurSignals();
  const timespec timeout{.tv_sec = interval.count(), .tv_nsec = 0};
  while (true) {
    const int signal = sigtimedwait(&set, nullptr, &timeout);
    if (signal == SIGINT || signal == SIGTERM) return;
    if (signal == SIGHUP || errno == EAGAIN) refresh();
  }
}

// Renews our own certificates near their end and takes new files into use; bad ones change
// nothing.
void RefreshCertificates(const Options& options, const std::vector<std::string>& sans,
                         const std::string& url, Front& front, Server& server) {
  const auto renew = [&]() -> Result<void> {
    const std::string admin_file = options.data_dir + "/pki/admin.crt";
    const std::string before = TRY(ReadTextFile(admin_file));
    const PkiFiles pki = TRY(EnsurePki(options.data_dir, sans));
    if (TRY(ReadTextFile(admin_file)) != before) TRY(WriteAdminKubeconfig(options, pki, url));
    return Ok();
  };
  std::string clients;
  const auto gather = [&]() -> Result<void> {
    clients = TRY(ClientAuthorities(options, options.data_dir + "/pki/ca.crt"));
    return Ok();
  };
  const auto reload = [&]() -> Result<void> {
    TRY(front.ReloadCertificates());
    if (!clients.empty()) server.VerifyClientsWith(TRY(ReadTextFile(clients)));
    return Ok();
  };
  // Files of the user's own are taken whether or not ours can be renewed.
  for (const Result<void>& done : {renew(), gather(), reload()}) {
    if (done.ok()) continue;
    Log(Level::kError, "keeping the certificates", {{"error", done.error().message()}});
  }
}

Result<void> Serve(const Options& options) {
  SetLogLevel(options.log_level);
  const std::size_t connections = RaiseDescriptorLimit(options.connections);
  const std::vector<std::string> sans = ServingNames(options);
  const PkiFiles pki = TRY(EnsurePki(options.data_dir, sans));

  std::optional<ExitDeadline> deadline;  // the last to go
  auto store = TRY(OpenStore(options));
  // The front's port may be chosen by the system, and statuses carry URLs: hold requests until
  // the server exists.
  std::unique_ptr<Server> server;
  Offload offload;
  // Writes to a store of our own wait for nothing but its flush, and leave their thread meanwhile.
  // One more than one workspace ever holds.
  const std::size_t processors = std::thread::hardware_concurrency();
  const std::size_t carriers =
      std::min(std::max<std::size_t>(limits::kCarriers, processors) + 1,
               std::max<std::size_t>(1, options.workers - 1));  // with one for each they would not leave
  WorkerPool workers(options.workers, options.queued_requests, limits::kBlockedWorkers,
                     WorkerPool::Priority::kOrdinary, options.etcd_servers.empty() ? carriers : 0);
  // Half of the processors, and little of those while others want them.
  WorkerPool readers(std::max(1u, std::thread::hardware_concurrency() / 2),
                     options.queued_requests, 0, WorkerPool::Priority::kLow);
  std::atomic<bool> ready{false};
  FrontOptions front_options;
  front_options.host = options.host;
  front_options.port = options.port;
  front_options.plain_http = options.plain_http;
  front_options.cert_file = options.tls_cert_file.empty() ? pki.server_cert : options.tls_cert_file;
  front_options.key_file = options.tls_key_file.empty() ? pki.server_key : options.tls_key_file;
  front_options.client_ca_file = TRY(ClientAuthorities(options, pki.ca_cert));
  front_options.request_header_ca_file = options.request_header_ca_file;
  front_options.request_header_names = options.request_header_names;
  front_options.io_threads = options.io_threads;
  front_options.body_bytes = options.body_bytes;
  front_options.request_bytes = options.request_bytes;
  front_options.stream_pending = options.watch_pending;
  front_options.connections = connections;
  front_options.access_log = options.access_log;
  front_options.new_audit_id = NewUid;
  auto front = TRY(Front::Start(front_options, [&](Request request,
                                                   std::function<void(Response)> respond) {
    if (!ready) return respond(RenderError(Unavailable("the server is starting")));
    offload.Serve({workers, readers}, std::move(request), std::move(respond));
  }));
  const std::string url = AdvertisedUrl(options, front->port());
  Server::Options server_options;
  server_options.external_url = url;
  server_options.embedded = options.etcd_servers.empty();
  server_options.watch_pending = options.watch_pending;
  server_options.controllers = false;
  server_options.root_ca_pem = TRY(AdvertisedAuthority(options, pki.ca_cert));
  server_options.disabled_admission = {options.disabled_admission.begin(),
                                       options.disabled_admission.end()};
  server_options.webhook_addresses = TRY(client::AddressPolicy::Parse(options.webhook_refuse));
  server_options.identity = TRY(IdentityOf(options, pki));
  server_options.audit = TRY(AuditOf(options));
  if (!options.api_docs_file.empty()) {
    server_options.docs = std::make_shared<const openapi::ApiDocs>(
        TRY(openapi::ApiDocs::Parse(TRY(ReadTextFile(options.api_docs_file)))));
  }
  if (!options.authorization_kubeconfig.empty()) {
    std::shared_ptr<HostAuthorizer> host =
        TRY(HostAuthorizer::Open(options.authorization_kubeconfig));
    server_options.delegate = [host](const User& user, const Attributes& asked) {
      return host->Allows(user, asked);
    };
  }
  if (options.watches_per_user > 0) server_options.watches_per_user = options.watches_per_user;
  server = TRY(Server::Start(std::move(store), server_options));
  offload = OffloadOf(server->dispatcher());
  AddFrontMetrics(server->dispatcher().metrics(), *front);
  ready = true;
  TRY(WriteAdminKubeconfig(options, pki, url));

  HubControllers controllers(*server);
  std::unique_ptr<client::Leader> leader;
  if (options.controllers && options.etcd_servers.empty()) controllers.Start();
  if (options.controllers && !options.etcd_servers.empty()) {
    leader = client::Leader::Run(LeaderOptions(*server), [&] { controllers.Start(); },
                                 [&] { controllers.Stop(); });
  }
  Log(Level::kInfo, "serving", {{"url", url}});
  std::cout << "mailroom is serving at " << LocalUrl(options, front->port()) << std::endl;
  ForgetCode();
  WaitForStop(limits::kCertificateCheck, [&] {
    RefreshCertificates(options, sans, url, *front, *server);
  });
  Log(Level::kInfo, "stopping");
  deadline.emplace(limits::kExitGrace);
  server->Drain();
  front->Drain(limits::kDrainGrace);
  // Nobody waits any longer for what has not begun.
  readers.Abandon();
  workers.Abandon();
  leader.reset();
  controllers.Stop();
  front->Stop();
  readers.Stop();
  workers.Stop();
  return Ok();
}

Result<void> SyncerKubeconfig(const std::vector<std::string>& args) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) values[args[i]] = args[i + 1];
  for (const char* flag : {"--data-dir", "--server", "--mailbox", "--out"}) {
    if (values[flag].empty()) return BadRequest(std::string(flag) + " is required");
  }
  const std::string pki = values["--data-dir"] + "/pki/";
  const KeyPair authority{TRY(ReadTextFile(pki + "ca.crt")), TRY(ReadTextFile(pki + "ca.key"))};
  const std::string& mailbox = values["--mailbox"];
  TRY(CheckHasSyncer(mailbox));
  // The syncer renews it in that file; one that is mounted read-only may want longer.
  Validity validity = limits::kSyncerCertificate;
  if (const std::string& given = values["--validity"]; !given.empty()) {
    const auto time = ParseDuration(given);
    if (!time.ok() || *time < limits::kRequestCertificateShortest ||
        *time > limits::kClientCertificate) {
      return BadRequest("--validity is a time between 10m and 8760h");
    }
    validity = std::chrono::duration_cast<Validity>(*time);
  }
  const KeyPair pair = TRY(IssueClient(authority, std::string(kSyncerPrefix) + mailbox,
                                       {std::string(kSyncers)}, validity));
  const std::string& ca = values["--tls-ca-file"];
  const auto config = ConfigFor(values["--server"], TRY(ReadTextFile(ca.empty() ? pki + "ca.crt" : ca)),
                                pair, mailbox);
  return WriteSecret(values["--out"], client::RenderKubeconfig(config, mailbox));
}

Result<void> JoinCommandMain(const std::vector<std::string>& args) {
  std::map<std::string, std::string> values = {{"--workspace", std::string(kRootWorkspace)}};
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) values[args[i]] = args[i + 1];
  for (const char* flag : {"--kubeconfig", "--mailbox"}) {
    if (values[flag].empty()) return BadRequest(std::string(flag) + " is required");
  }
  std::cout << TRY(JoinCommand(values["--kubeconfig"], values["--workspace"], values["--mailbox"]))
            << std::endl;
  return Ok();
}

int Fail(const Status& status) {
  std::cerr << "mailroom: " << status.message() << std::endl;
  return 1;
}

int Main(const std::vector<std::string>& args) {
  TuneAllocator();
  const sigset_t set = OurSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // before any thread exists; WaitForStop takes them
  std::signal(SIGPIPE, SIG_IGN);

  const std::string command = args.empty() ? "" : args[0];
  const std::vector<std::string> rest(args.begin() + (args.empty() ? 0 : 1), args.end());
  if (command == "serve") {
    auto options = ParseOptions(rest);
    if (!options.ok()) return Fail(options.error());
    auto served = Serve(*options);
    return served.ok() ? 0 : Fail(served.error());
  }
  if (command == "join-command") {
    auto printed = JoinCommandMain(rest);
    return printed.ok() ? 0 : Fail(printed.error());
  }
  if (command == "syncer-kubeconfig") {
    auto written = SyncerKubeconfig(rest);
    return written.ok() ? 0 : Fail(written.error());
  }
  if (command == "workspace") {
    auto done = RunWorkspaceCommand(rest);
    return done.ok() ? 0 : Fail(done.error());
  }
  std::cerr << OptionsUsage();
  return 2;
}

}  // namespace
}  // namespace mailroom::apiserver

int main(int argc, char** argv) {
  return mailroom::apiserver::Main(std::vector<std::string>(argv + 1, argv + argc));
}
