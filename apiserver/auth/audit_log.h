// The file that audit events go to, one JSON line each. Writers never wait: lines queue up to a
// bound, past which they are counted as lost and that is logged. One thread writes, and begins a
// new file when one is full. Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/object/limits.h"
#include "storage/object/result.h"

namespace mailroom::apiserver {

class AuditLog {
 public:
  struct Options {
    std::string path;
    std::size_t file_bytes = limits::kAuditFileBytes;
    std::size_t files = limits::kAuditFiles;  // old ones kept beside the current
  };
  // Fails when the file cannot be opened.
  static Result<std::unique_ptr<AuditLog>> Open(Options options);
  ~AuditLog();  // writes what is queued

  // `line` without its line end.
  void Write(std::string line);
  std::uint64_t lost() const { return lost_; }

 private:
  explicit AuditLog(Options options) : options_(std::move(options)) {}
  Result<void> OpenFile();
  void Rotate();
  void Run(const std::stop_token& stop);

  const Options options_;
  int fd_ = -1;           // writer thread only, after Open
  std::size_t size_ = 0;  // of the current file; likewise
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::string queued_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace mailroom::apiserver
