// mailroom-syncer: the agent of one edge cluster. Dials out to its mailbox and to the cluster's
// own API server; nobody dials it.
#include <getopt.h>
#include <signal.h>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "apiserver/client/backoff.h"
#include "apiserver/client/curl_transport.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "syncer/credential.h"
#include "syncer/removal.h"
#include "syncer/rotation.h"
#include "syncer/syncer.h"

namespace mailroom::syncer {
namespace {

constexpr const char* kUsage =
    "usage: mailroom-syncer --mailbox-kubeconfig FILE [--mailbox-context NAME]\n"
    "                       [--wec-kubeconfig FILE [--wec-context NAME]]\n"
    "                       [--state-dir DIR] [--log-level debug|info|warn|error]\n"
    "       mailroom-syncer join --server URL --workspace NAME --token TOKEN --ca-data BASE64\n"
    "                            --mailbox NAME --out KUBECONFIG\n"
    "Without --wec-kubeconfig, the cluster this runs in is the edge cluster. A certificate that\n"
    "`join` wrote to the mailbox's kubeconfig is renewed there in time.\n";

struct Flags {
  std::string mailbox_kubeconfig, mailbox_context;
  std::string wec_kubeconfig, wec_context;
  std::string state_dir;
  std::string log_level = "info";
};

std::optional<Flags> ParseFlags(int argc, char** argv) {
  Flags flags;
  const option options[] = {{"mailbox-kubeconfig", required_argument, nullptr, 0},
                            {"mailbox-context", required_argument, nullptr, 1},
                            {"wec-kubeconfig", required_argument, nullptr, 2},
                            {"wec-context", required_argument, nullptr, 3},
                            {"state-dir", required_argument, nullptr, 4},
                            {"log-level", required_argument, nullptr, 5},
                            {nullptr, 0, nullptr, 0}};
  std::string* const targets[] = {&flags.mailbox_kubeconfig, &flags.mailbox_context,
                                  &flags.wec_kubeconfig,     &flags.wec_context,
                                  &flags.state_dir,          &flags.log_level};
  for (int found; (found = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    if (found < 0 || found > 5) return std::nullopt;
    *targets[found] = optarg;
  }
  if (optind != argc || flags.mailbox_kubeconfig.empty()) return std::nullopt;
  return flags;
}

std::optional<Level> ParseLevel(const std::string& text) {
  if (text == "debug") return Level::kDebug;
  if (text == "info") return Level::kInfo;
  if (text == "warn") return Level::kWarn;
  if (text == "error") return Level::kError;
  return std::nullopt;
}

// What the main thread waits for.
class Wakeup {
 public:
  void Stop() { Raise(stopped_); }
  void Replace() { Raise(replaced_); }
  enum class Why { kStop, kReplaced, kTime };
  // Until told to stop, until the mailbox was replaced, or for `timeout` when there is one.
  Why Wait(std::optional<std::chrono::milliseconds> timeout) {
    std::unique_lock lock(mutex_);
    const auto woken = [this] { return stopped_ || replaced_; };
    if (timeout.has_value()) {
      changed_.wait_for(lock, *timeout, woken);
    } else {
      changed_.wait(lock, woken);
    }
    if (stopped_) return Why::kStop;
    return std::exchange(replaced_, false) ? Why::kReplaced : Why::kTime;
  }

 private:
  void Raise(bool& flag) {
    std::lock_guard lock(mutex_);
    flag = true;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;   // guarded by mutex_
  bool replaced_ = false;  // guarded by mutex_
};

// The sooner of the two, where nothing is never.
std::optional<std::chrono::milliseconds> Sooner(std::optional<std::chrono::milliseconds> a,
                                                std::optional<std::chrono::milliseconds> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// Serves one incarnation of the mailbox after the other, until told to stop (true) or until there
// is a new certificate to go on with (false). Work goes on while a new one is asked for.
bool Serve(const Flags& flags, Rotation& rotation, const client::ServerConfig& wec_config,
           Wakeup& wakeup) {
  const client::ServerConfig mailbox_config = rotation.config();
  const auto mailbox_transport = client::MakeCurlTransport(mailbox_config);
  const auto wec_transport = client::MakeCurlTransport(wec_config);
  const client::Client mailbox(*mailbox_transport, mailbox_config.base_path, "mailroom-syncer");
  const client::Client wec(*wec_transport, wec_config.base_path, "mailroom-syncer");
  for (int failures = 0;; ++failures) {
    if (rotation.Attempt()) return false;
    const Result<std::string> uid = ReadUid(mailbox);
    if (!uid.ok()) {
      Log(Level::kWarn, "cannot reach the mailbox", {{"error", uid.error().message()}});
      const auto pause = client::Backoff(limits::kReconnectFirst, limits::kReconnectLast, failures);
      if (wakeup.Wait(Sooner(pause, rotation.Left())) == Wakeup::Why::kStop) return true;
      continue;
    }
    failures = 0;
    Log(Level::kInfo, "syncing", {{"mailbox", *uid}});
    Syncer syncer({.mailbox = mailbox,
                   .wec = wec,
                   .identity = {.uid = *uid, .url = mailbox_config.url + mailbox_config.base_path},
                   .state_dir = flags.state_dir,
                   .on_replaced = [&wakeup] { wakeup.Replace(); }});
    Wakeup::Why why = Wakeup::Why::kTime;
    while (why == Wakeup::Why::kTime) {
      why = wakeup.Wait(rotation.Left());
      if (why == Wakeup::Why::kTime && rotation.Attempt()) return false;
    }
    if (why == Wakeup::Why::kStop) return true;
  }
}

int Main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "join") return JoinMain(argc - 1, argv + 1);
  const std::optional<Flags> flags = ParseFlags(argc, argv);
  const std::optional<Level> level =
      flags.has_value() ? ParseLevel(flags->log_level) : std::nullopt;
  if (!level.has_value()) {
    std::cerr << kUsage;
    return 2;
  }
  SetLogLevel(*level);
  const auto mailbox = client::LoadKubeconfig(flags->mailbox_kubeconfig, flags->mailbox_context);
  const auto wec = flags->wec_kubeconfig.empty()
                       ? client::InClusterConfig()
                       : client::LoadKubeconfig(flags->wec_kubeconfig, flags->wec_context);
  for (const auto* config : {&mailbox, &wec}) {
    if (config->ok()) continue;
    std::cerr << "mailroom-syncer: " << config->error().message() << "\n";
    return 1;
  }
  // Blocked before any thread starts, so that only the waiting thread takes them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  Wakeup wakeup;
  const std::jthread signals([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    wakeup.Stop();
  });
  Rotation rotation(*mailbox, {.due = RenewalTime,
                               .renew = Renew,
                               .keep = [&](const client::ServerConfig& config) {
                                 return WriteKubeconfig(flags->mailbox_kubeconfig, config);
                               }});
  while (!Serve(*flags, rotation, *wec, wakeup)) {
  }
  return 0;
}

}  // namespace
}  // namespace mailroom::syncer

int main(int argc, char** argv) { return mailroom::syncer::Main(argc, argv); }
