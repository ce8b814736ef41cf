// A real etcd for tests: one or more members on loopback in a directory of their own, which can
// be killed, paused and restarted. Programs come from hack/peer; a test is skipped, visibly, when
// there is none.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
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
  std::size_t size() const { return members_.size(); }
  void Start(std::size_t member);
  void Kill(std::size_t member);      // SIGKILL, and waits for the end
  void Pause(std::size_t member);     // SIGSTOP
  void Continue(std::size_t member);  // SIGCONT

 private:
  struct Member {
    std::vector<std::string> arguments;
    pid_t pid = 0;
  };
  std::string program_;
  TemporaryDirectory directory_;
  std::vector<Member> members_;
  std::vector<std::string> endpoints_;
};

// Opens the store when the servers have come up and elected a leader.
Result<std::unique_ptr<Store>> ConnectEtcd(const EtcdOptions& options);

}  // namespace mailroom::storage::testing
