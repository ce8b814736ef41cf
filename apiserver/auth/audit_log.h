// The file that audit events go to, one JSON line each. Writers never wait: lines queue up to a
// bound, past which they are counted as lost and that is logged. One thread writes, and begins a
// new file when one is full. A file that cannot be written is tried again until it can; meanwhile
// lines wait. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
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
    std::size_t queue_bytes = limits::kAuditQueueBytes;
    std::chrono::milliseconds retry = limits::kAuditRetry;
  };
  // Fails when the file cannot be opened.
  static Result<std::unique_ptr<AuditLog>> Open(Options options);
  ~AuditLog();  // writes what is queued, if that can be done now

  // `line` without its line end.
  void Write(std::string line);
  // Lines that will never be in a file.
  std::uint64_t lost() const { return lost_; }

 private:
  explicit AuditLog(Options options) : options_(std::move(options)) {}
  Result<void> OpenFile();
  void CloseFile();
  void Rotate();
  // Takes lines off the front of `rest` as they are written; fails when the file cannot be written.
  Result<void> WriteLines(std::string_view& rest);
  void Run(const std::stop_token& stop);
  void Lose(std::uint64_t lines, const std::string& why);

  const Options options_;
  int fd_ = -1;           // writer thread only, after Open
  std::size_t size_ = 0;  // of the current file; likewise
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::string queued_;  // guarded by mutex_
  std::size_t held_ = 0;  // bytes the writer has taken and not yet written; guarded by mutex_
  std::jthread thread_;
};

}  // namespace mailroom::apiserver
