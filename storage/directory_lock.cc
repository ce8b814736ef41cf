#include "storage/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace mailroom::storage {

Result<DirectoryLock> DirectoryLock::Acquire(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::create_directories(directory, error)) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  }
  if (error) {
    return Internal("storage: cannot create data directory " + directory + ": " + error.message());
  }
  const std::string file = directory + "/lock";
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Internal("storage: cannot open " + file + ": " + std::strerror(errno));
  }
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    close(descriptor);
    if (reason == EWOULDBLOCK) {
      return Internal("storage: data directory " + directory +
                      " is in use by another process; stop it or choose another directory");
    }
    return Internal("storage: cannot lock " + file + ": " + std::strerror(reason));
  }
  return DirectoryLock(descriptor);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace mailroom::storage
