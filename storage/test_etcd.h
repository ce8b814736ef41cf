// A real etcd for tests: one or more members on loopback in a directory of their own, which can
// be killed, paused and restarted. Programs come from hack/peer; a test is skipped, visibly, when
// there is none.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "storage/etcd_store.h"
#include "storage/testing.h"

namespace mailroom::storage::testing {

class EtcdProcess {
 public:
  // Where the program of `version` ("3.4", "3.5") is; empty when it is not provided.
  static std::string Program(const std::string& version);

  // `scheme` is that of the client side; TLS needs flags that name the files.
  explicit EtcdProcess(std::string program, std::size_t members = 1,
                       std::vector<std::string> flags = {}, const std::string& scheme = "http");
  ~EtcdProcess();

  const std::vector<std::string>& endpoints() const { return endpoints_; }
  int port(std::size_t member) const;  // of the client side
  std::size_t size() const { return members_.size(); }
  void Start(std::size_t member);
  void Kill(std::size_t member);      // SIGKILL, and waits for the end
  void Pause(std::size_t member);     // SIGSTOP
  void Continue(std::size_t member);  // SIGCONT
  // Makes another member the leader. Plain HTTP only.
  bool MoveLeader();

 private:
  struct Member {
    std::vector<std::string> arguments;
    pid_t pid = 0;
  };
  pid_t Spawn(std::size_t member);
  void Keep(std::stop_token stop);

  // A port that nobody else is given while this lives; etcd may still listen there.
  int ReservePort();

  std::string program_;
  TemporaryDirectory directory_;
  std::vector<int> reservations_;
  std::vector<Member> members_;
  std::vector<std::string> endpoints_;
  // A child dies with the thread that made it, so one thread makes them all and outlives them.
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<std::size_t> wanted_;  // guarded by mutex_
  std::jthread keeper_;
};

// Opens the store when the servers have come up and elected a leader; gives up after a minute.
Result<std::unique_ptr<Store>> ConnectEtcd(const EtcdOptions& options);

}  // namespace mailroom::storage::testing
