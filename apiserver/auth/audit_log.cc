#include "apiserver/auth/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "storage/object/clock.h"
#include "storage/object/log.h"

namespace mailroom::apiserver {

Result<std::unique_ptr<AuditLog>> AuditLog::Open(Options options) {
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(options)));
  TRY(log->OpenFile());
  log->thread_ = std::jthread([raw = log.get()](const std::stop_token& stop) { raw->Run(stop); });
  return log;
}

AuditLog::~AuditLog() {
  thread_.request_stop();
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (fd_ >= 0) ::close(fd_);
}

Result<void> AuditLog::OpenFile() {
  fd_ = ::open(options_.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) return Internal("cannot open " + options_.path + ": " + std::strerror(errno));
  struct stat facts {};
  size_ = ::fstat(fd_, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
  return Ok();
}

void AuditLog::Write(std::string line) {
  line += '\n';
  {
    std::lock_guard lock(mutex_);
    if (queued_.size() + line.size() <= limits::kAuditQueueBytes) {
      queued_ += line;
      line.clear();
    }
  }
  if (line.empty()) {
    wake_.notify_one();
  } else if (lost_++ == 0) {
    Log(Level::kError, "audit events lost: the disk is too slow", {{"file", options_.path}});
  }
}

// `audit.log` becomes `audit-2006-01-02T15-04-05.000000.log`; the oldest of too many go.
void AuditLog::Rotate() {
  namespace fs = std::filesystem;
  const fs::path path(options_.path);
  std::string stamp = FormatMicroTime(Clock::Real().Now());
  std::replace(stamp.begin(), stamp.end(), ':', '-');
  const std::string stem = path.stem().string() + "-", end = path.extension().string();
  std::error_code ignored;
  fs::rename(path, path.parent_path() / (stem + stamp + end), ignored);
  ::close(fd_);
  if (auto opened = OpenFile(); !opened.ok()) {
    Log(Level::kError, "audit log lost", {{"error", opened.error().message()}});
    return;
  }
  std::vector<fs::path> old;
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(stem) && name.ends_with(end)) old.push_back(entry.path());
  }
  std::sort(old.begin(), old.end());
  for (std::size_t i = 0; i + options_.files < old.size(); ++i) fs::remove(old[i], ignored);
}

void AuditLog::Run(const std::stop_token& stop) {
  std::string batch;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, stop, [this] { return !queued_.empty(); });
      if (queued_.empty()) return;  // told to stop, and nothing is left
      std::swap(batch, queued_);
    }
    std::string_view rest = batch;
    while (!rest.empty() && fd_ >= 0) {
      // Whole lines up to the room left in the file, at least one.
      const std::size_t room = options_.file_bytes > size_ ? options_.file_bytes - size_ : 0;
      std::size_t cut = rest.size() <= room ? rest.size() : rest.rfind('\n', room) + 1;
      if (cut == 0) {
        if (size_ > 0) {
          Rotate();
          continue;
        }
        cut = rest.find('\n') + 1;
      }
      const ssize_t written = ::write(fd_, rest.data(), cut);
      if (written < 0) {
        if (errno == EINTR) continue;
        if (lost_++ == 0) {
          Log(Level::kError, "cannot write audit events", {{"error", std::strerror(errno)}});
        }
        break;
      }
      size_ += static_cast<std::size_t>(written);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    batch.clear();
  }
}

}  // namespace mailroom::apiserver
