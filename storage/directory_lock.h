// Exclusive ownership of a data directory by one process, released when destroyed or when the
// process ends in any way.
#pragma once

#include <string>

#include "storage/object/result.h"

namespace mailroom::storage {

class DirectoryLock {
 public:
  // Creates the directory (mode 0700) and its parents when absent.
  static Result<DirectoryLock> Acquire(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace mailroom::storage
