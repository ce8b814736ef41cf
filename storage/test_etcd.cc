#include "storage/test_etcd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace mailroom::storage::testing {
namespace {

std::string Url(const std::string& scheme, int port) {
  return scheme + "://127.0.0.1:" + std::to_string(port);
}

}  // namespace

std::string EtcdProcess::Program(const std::string& version) {
  const std::string command =
      MAILROOM_SOURCE_DIR "/hack/peer path etcd-" + version + " 2>/dev/null";
  FILE* output = popen(command.c_str(), "r");
  if (!output) return "";
  char line[4096] = {};
  std::string path = fgets(line, sizeof line, output) ? line : "";
  pclose(output);
  while (!path.empty() && path.back() == '\n') path.pop_back();
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

EtcdProcess::EtcdProcess(std::string program, std::size_t members, std::vector<std::string> flags,
                         const std::string& scheme)
    : program_(std::move(program)) {
  std::string cluster;
  std::vector<std::string> peers;
  for (std::size_t i = 0; i < members; ++i) {
    endpoints_.push_back(Url(scheme, ReservePort()));
    peers.push_back(Url("http", ReservePort()));
    cluster += (i ? ",m" : "m") + std::to_string(i) + "=" + peers.back();
  }
  for (std::size_t i = 0; i < members; ++i) {
    const std::string name = "m" + std::to_string(i);
    Member member;
    member.arguments = {program_,
                        "--name=" + name,
                        "--data-dir=" + directory_.path() + "/" + name,
                        "--listen-client-urls=" + endpoints_[i],
                        "--advertise-client-urls=" + endpoints_[i],
                        "--listen-peer-urls=" + peers[i],
                        "--initial-advertise-peer-urls=" + peers[i],
                        "--initial-cluster=" + cluster,
                        "--log-level=error"};
    member.arguments.insert(member.arguments.end(), flags.begin(), flags.end());
    members_.push_back(std::move(member));
  }
  keeper_ = std::jthread([this](std::stop_token stop) { Keep(stop); });
  for (std::size_t i = 0; i < members; ++i) Start(i);
}

EtcdProcess::~EtcdProcess() {
  for (std::size_t i = 0; i < members_.size(); ++i) Kill(i);
  for (const int reservation : reservations_) close(reservation);
}

int EtcdProcess::ReservePort() {
  const int reservation = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  reservations_.push_back(reservation);
  // With this on both sides, a bound socket that does not listen is no obstacle to one that will.
  const int on = 1;
  setsockopt(reservation, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(reservation, generic, size) != 0) return 0;
  getsockname(reservation, generic, &size);
  return ntohs(address.sin_port);
}

int EtcdProcess::port(std::size_t member) const {
  const std::string& url = endpoints_[member];
  return std::stoi(url.substr(url.rfind(':') + 1));
}

bool EtcdProcess::MoveLeader() {
  std::string script = "for at in";
  for (const std::string& endpoint : endpoints_) script += " " + endpoint;
  script +=
      "; do"
      " status=$(curl -fsS -d {} $at/v3/maintenance/status) || continue;"
      " leader=$(echo \"$status\" | jq -r .leader);"
      " [ \"$(echo \"$status\" | jq -r .header.member_id)\" = \"$leader\" ] || continue;"
      " next=$(curl -fsS -d {} $at/v3/cluster/member/list"
      "   | jq -r --arg leader \"$leader\" '[.members[].ID | select(. != $leader)][0]');"
      " exec curl -fsS -o /dev/null -d \"{\\\"targetID\\\":\\\"$next\\\"}\""
      "   $at/v3/maintenance/transfer-leadership;"
      " done; exit 1";
  return system(script.c_str()) == 0;
}

void EtcdProcess::Keep(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return wanted_.has_value(); })) {
    members_[*wanted_].pid = Spawn(*wanted_);
    wanted_.reset();
    changed_.notify_all();
  }
}

void EtcdProcess::Start(std::size_t member) {
  std::unique_lock lock(mutex_);
  wanted_ = member;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !wanted_.has_value(); });
}

pid_t EtcdProcess::Spawn(std::size_t member) {
  Member& each = members_[member];
  std::vector<char*> arguments;
  for (std::string& argument : each.arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const std::string log = directory_.path() + "/m" + std::to_string(member) + ".log";
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  // A test that dies must not leave its servers behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const int output = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

void EtcdProcess::Kill(std::size_t member) {
  Member& each = members_[member];
  if (each.pid <= 0) return;
  kill(each.pid, SIGKILL);
  waitpid(each.pid, nullptr, 0);
  each.pid = 0;
}

Result<std::unique_ptr<Store>> ConnectEtcd(const EtcdOptions& options) {
  Result<std::unique_ptr<Store>> store = OpenEtcd(options);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!store.ok() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    store = OpenEtcd(options);
  }
  return store;
}

void EtcdProcess::Pause(std::size_t member) { kill(members_[member].pid, SIGSTOP); }

void EtcdProcess::Continue(std::size_t member) { kill(members_[member].pid, SIGCONT); }

}  // namespace mailroom::storage::testing
