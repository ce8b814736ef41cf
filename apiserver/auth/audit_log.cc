#include "apiserver/auth/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

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
  CloseFile();
}

Result<void> AuditLog::OpenFile() {
  fd_ = ::open(options_.path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) return Internal("cannot open " + options_.path + ": " + std::strerror(errno));
  struct stat facts {};
  size_ = ::fstat(fd_, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
  // What a failure cut off in the middle of a line must not spoil the next one.
  char last = '\n';
  if (size_ > 0 && ::pread(fd_, &last, 1, static_cast<off_t>(size_ - 1)) == 1 && last != '\n' &&
      ::write(fd_, "\n", 1) == 1) {
    ++size_;
  }
  return Ok();
}

void AuditLog::CloseFile() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void AuditLog::Lose(std::uint64_t lines, const std::string& why) {
  if (lines == 0) return;
  if (lost_.fetch_add(lines) == 0) {
    Log(Level::kError, "audit events lost", {{"file", options_.path}, {"error", why}});
  }
}

void AuditLog::Write(std::string line) {
  line += '\n';
  {
    std::lock_guard lock(mutex_);
    if (queued_.size() + held_ + line.size() <= options_.queue_bytes) {
      queued_ += line;
      line.clear();
    }
  }
  if (line.empty()) {
    wake_.notify_one();
  } else {
    Lose(1, "too many wait to be written");
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
  CloseFile();
  if (auto opened = OpenFile(); !opened.ok()) return;  // told by whoever writes next
  std::vector<fs::path> old;
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(stem) && name.ends_with(end)) old.push_back(entry.path());
  }
  std::sort(old.begin(), old.end());
  for (std::size_t i = 0; i + options_.files < old.size(); ++i) fs::remove(old[i], ignored);
}

Result<void> AuditLog::WriteLines(std::string_view& rest) {
  bool stuck = false;  // the file is full and cannot be put aside: it grows on
  while (!rest.empty()) {
    if (fd_ < 0) TRY(OpenFile());
    // Whole lines up to the room left in the file, at least one.
    const std::size_t room = options_.file_bytes > size_ ? options_.file_bytes - size_ : 0;
    std::size_t cut = rest.size();
    if (cut > room) cut = room == 0 ? 0 : rest.rfind('\n', room - 1) + 1;
    if (cut == 0) {
      if (size_ > 0 && !stuck) {
        Rotate();
        stuck = fd_ >= 0 && size_ > 0;
        continue;
      }
      cut = rest.find('\n') + 1;
    }
    std::size_t done = 0;
    while (done < cut) {
      const ssize_t written = ::write(fd_, rest.data() + done, cut - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const Status error =
            Internal("cannot write " + options_.path + ": " + std::strerror(errno));
        CloseFile();
        // A line that was begun is written anew, whole.
        rest.remove_prefix(done == 0 ? 0 : rest.rfind('\n', done - 1) + 1);
        return error;
      }
      done += static_cast<std::size_t>(written);
      size_ += static_cast<std::size_t>(written);
    }
    rest.remove_prefix(cut);
  }
  return Ok();
}

void AuditLog::Run(const std::stop_token& stop) {
  std::string batch;
  bool failing = false;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, stop, [this] { return !queued_.empty(); });
      if (queued_.empty()) return;  // told to stop, and nothing is left
      std::swap(batch, queued_);
      held_ = batch.size();
    }
    std::string_view rest = batch;
    while (true) {
      const Result<void> written = WriteLines(rest);
      if (written.ok()) break;
      const std::string why = written.error().message();
      if (!failing) Log(Level::kError, "audit events wait", {{"error", why}});
      failing = true;
      std::unique_lock lock(mutex_);
      held_ = rest.size();
      if (stop.stop_requested()) {
        const auto lines = std::count(rest.begin(), rest.end(), '\n') +
                           std::count(queued_.begin(), queued_.end(), '\n');
        lock.unlock();
        return Lose(static_cast<std::uint64_t>(lines), why);
      }
      wake_.wait_for(lock, stop, options_.retry, [] { return false; });
    }
    if (std::exchange(failing, false)) Log(Level::kInfo, "audit events are written again");
    batch.clear();
    std::lock_guard lock(mutex_);
    held_ = 0;
  }
}

}  // namespace mailroom::apiserver
