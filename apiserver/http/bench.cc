// `hack/bench front`: what the front door costs beside the libraries it is made of, as a table.
// Rates depend on the machine and on what else runs on it; the server's CPU time per request
// hardly does, so the ratios are of that. Asserts nothing.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "apiserver/http/bench_servers.h"
#include "apiserver/http/test_swarm.h"
#include "apiserver/pki.h"

namespace mailroom::apiserver::bench {
namespace {

using Clock = std::chrono::steady_clock;
double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// A server of bench_servers.h as a child.
class Child {
 public:
  Child(const std::string& kind, const Keys& keys) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    const char* arguments[] = {"front_bench", "serve", kind.c_str(), keys.cert_file.c_str(),
                               keys.key_file.c_str(), nullptr};
    if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr,
                    const_cast<char**>(arguments), environ) != 0) {
      throw std::runtime_error("spawn");
    }
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    in_ = fdopen(in[1], "w");
    out_ = fdopen(out[0], "r");
    if (fscanf(out_, "%d", &port_) != 1) throw std::runtime_error(kind + " did not start");
  }
  ~Child() {
    fclose(in_);
    fclose(out_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::string Url(const std::string& path) const {
    return "https://localhost:" + std::to_string(port_) + path;
  }
  void Publish(int count) {
    fprintf(in_, "publish %d\n", count);
    fflush(in_);
    char word[16];
    if (fscanf(out_, "%15s", word) != 1) throw std::runtime_error("the server died");
  }
  double CpuSeconds() const {
    std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
    std::string skip;
    std::getline(stat, skip, ')');
    for (int i = 0; i < 11; ++i) stat >> skip;
    double user = 0, system = 0;
    stat >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  double ResidentKiB() const {
    std::ifstream statm("/proc/" + std::to_string(pid_) + "/statm");
    double pages = 0, resident = 0;
    statm >> pages >> resident;
    return resident * 4;
  }

 private:
  pid_t pid_ = 0;
  FILE* in_ = nullptr;
  FILE* out_ = nullptr;
  int port_ = 0;
};

struct Rate {
  double per_second = 0;
  double cpu_us = 1e9;  // of the server, each
};

// h2load's requests against one server; the better of two runs.
Rate Load(const Child& server, int requests, const std::string& arguments) {
  Rate best;
  for (int run = 0; run < 2; ++run) {
    const double cpu = server.CpuSeconds();
    const std::string command = "h2load -n " + std::to_string(requests) + " " + arguments + " " +
                                server.Url("/tiny") + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    char line[512];
    double rate = 0;
    int succeeded = 0;
    while (fgets(line, sizeof line, pipe) != nullptr) {
      if (const char* at = strstr(line, "s, ")) {
        if (strncmp(line, "finished", 8) == 0) rate = atof(at + 3);
      }
      if (const char* at = strstr(line, "done, ")) succeeded = atoi(at + 6);
    }
    pclose(pipe);
    if (succeeded != requests) printf("only %d of %d succeeded\n", succeeded, requests);
    best.per_second = std::max(best.per_second, rate);
    best.cpu_us = std::min(best.cpu_us, (server.CpuSeconds() - cpu) / requests * 1e6);
  }
  return best;
}

void Compare(const Keys& keys, const char* what, const std::string& bare, int requests,
             const std::string& arguments) {
  Rate ours, theirs;
  for (int round = 0; round < 2; ++round) {  // interleaved, lest a busy minute hits one alone
    const auto better = [](Rate& rate, const Rate& other) {
      rate.per_second = std::max(rate.per_second, other.per_second);
      rate.cpu_us = std::min(rate.cpu_us, other.cpu_us);
    };
    better(theirs, Load(Child(bare, keys), requests, arguments));
    better(ours, Load(Child("ours", keys), requests, arguments));
  }
  printf("%-28s %9.0f/s %6.1f us   bare %9.0f/s %6.1f us   %4.0f %% of its rate by CPU\n", what,
         ours.per_second, ours.cpu_us, theirs.per_second, theirs.cpu_us,
         theirs.cpu_us / ours.cpu_us * 100);
}

bool Await(const std::function<bool()>& condition, int seconds = 120) {
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    usleep(10'000);
  }
  return true;
}

void IdleWatches(const Keys& keys, const std::string& ca, bool http2, std::size_t count) {
  Child server("ours", keys);
  { Swarm warm({.url = server.Url("/watch"), .ca_file = ca, .watches = 20, .http2 = http2});
    Await([&] { return warm.open() == 20; }); }
  const double before = server.ResidentKiB();
  Swarm swarm({.url = server.Url("/watch"),
               .ca_file = ca,
               .watches = count,
               .http2 = http2,
               .connections = http2 ? (count + 249) / 250 : 0});
  if (!Await([&] { return swarm.open() == count; })) printf("only %zu opened\n", swarm.open());
  printf("%-28s %9.2f KiB each at %zu\n", http2 ? "idle watch, HTTP/2" : "idle watch, HTTP/1.1",
         (server.ResidentKiB() - before) / static_cast<double>(count), count);
}

void FanOut(const Keys& keys, const std::string& ca, bool http2, std::size_t count) {
  Child server("ours", keys);
  Swarm swarm({.url = server.Url("/watch"), .ca_file = ca, .watches = count, .http2 = http2,
               .connections = http2 ? (count + 249) / 250 : 0});
  Await([&] { return swarm.open() == count; });
  constexpr int kEvents = 400;
  double best = 0, cpu_us = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::uint64_t bytes = swarm.bytes();
    const double cpu = server.CpuSeconds();
    const auto start = Clock::now();
    server.Publish(kEvents);
    const bool all = Await([&] {
      return swarm.bytes() - bytes >= kEvents * count * kEventBytes;
    });
    if (!all) printf("only %.0f arrived\n", static_cast<double>(swarm.bytes() - bytes) / 1024);
    const double total = static_cast<double>(kEvents) * static_cast<double>(count);
    best = std::max(best, total / Seconds(Clock::now() - start));
    cpu_us = std::min(cpu_us, (server.CpuSeconds() - cpu) / total * 1e6);
  }
  printf("%-28s %9.0f deliveries/s, server %.1f us each, to %zu\n",
         http2 ? "fan-out of 1 KiB, HTTP/2" : "fan-out of 1 KiB, HTTP/1.1", best, cpu_us, count);
}

void StuckReaders(const Keys& keys, const std::string& ca, bool http2, std::size_t count) {
  Child server("ours", keys);
  const double before = server.ResidentKiB();
  Swarm swarm({.url = server.Url("/watch"), .ca_file = ca, .watches = count, .http2 = http2,
               .connections = http2 ? (count + 249) / 250 : 0, .stuck = true});
  Await([&] { return swarm.open() == count; });
  double peak = 0;
  for (int i = 0; i < 16; ++i) {  // 4 MiB for each, less than ends a watch
    server.Publish(250);
    peak = std::max(peak, server.ResidentKiB());
    usleep(100'000);
  }
  peak = std::max(peak, server.ResidentKiB());
  printf("%-28s %9.1f MiB more at most, %zu readers, 4 MiB offered to each\n",
         http2 ? "stuck readers, HTTP/2" : "stuck readers, HTTP/1.1", (peak - before) / 1024, count);
}

int Run() {
  char pattern[] = "/tmp/front-bench.XXXXXX";
  const std::string dir = mkdtemp(pattern);
  const PkiFiles pki = EnsurePki(dir, {"localhost", "127.0.0.1"}).value();
  const Keys keys{pki.server_cert, pki.server_key};
  setvbuf(stdout, nullptr, _IOLBF, 0);
  Compare(keys, "tiny JSON, HTTP/1.1, TLS", "drogon", 100'000, "--h1 -c 64");
  Compare(keys, "tiny JSON, HTTP/2, 16 x 32", "nghttp2", 300'000, "-c 16 -m 32");
  Compare(keys, "tiny JSON, HTTP/2, 1 x 100", "nghttp2", 200'000, "-c 1 -m 100");
  for (const bool http2 : {false, true}) IdleWatches(keys, pki.ca_cert, http2, 5000);
  for (const bool http2 : {false, true}) FanOut(keys, pki.ca_cert, http2, 1000);
  for (const bool http2 : {false, true}) StuckReaders(keys, pki.ca_cert, http2, 1000);
  std::filesystem::remove_all(dir);
  return 0;
}

}  // namespace
}  // namespace mailroom::apiserver::bench

int main(int argc, char** argv) {
  using namespace mailroom::apiserver::bench;
  if (argc == 5 && std::string(argv[1]) == "serve") {
    const std::string kind = argv[2];
    const Keys keys{argv[3], argv[4]};
    if (kind == "drogon") return ServeBareDrogon(keys);
    return kind == "nghttp2" ? ServeBareNghttp2(keys) : ServeOurs(keys);
  }
  return Run();
}
