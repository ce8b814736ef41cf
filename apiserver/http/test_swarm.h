// Many readers at once, for tests and benchmarks: one thread with libcurl's multi interface that
// opens as many watches as it is told and counts what arrives. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace mailroom::apiserver {

class Swarm {
 public:
  struct Options {
    std::string url;
    std::string ca_file;
    std::size_t watches = 1;
    bool http2 = true;
    std::size_t connections = 0;  // at most; 0: as many as it takes
    bool stuck = false;           // stop reading after the first byte
  };
  explicit Swarm(Options options);
  ~Swarm();  // hangs up

  std::size_t open() const { return open_; }    // whose answer has begun
  std::size_t ended() const { return ended_; }  // whose answer is complete
  std::size_t failed() const { return failed_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Reader;
  void Run();
  static std::size_t OnHeader(char*, std::size_t, std::size_t size, void* reader);
  static std::size_t OnData(char*, std::size_t, std::size_t size, void* reader);

  const Options options_;
  std::atomic<std::size_t> open_ = 0, ended_ = 0, failed_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<bool> stopping_ = false;
  std::jthread thread_;  // last: uses all of the above
};

}  // namespace mailroom::apiserver
