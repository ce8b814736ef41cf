#include "storage/shared_probe.h"

namespace mailroom::storage {

Result<Revision> SharedProbe::Ask() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = started_ + 1;
  while (finished_ < mine) {
    if (started_ > finished_) {
      answered_.wait(lock);
      continue;
    }
    ++started_;
    lock.unlock();
    Result<Revision> answer = store_.CurrentRevision();
    lock.lock();
    finished_ = started_;
    answer_ = std::move(answer);
    answered_.notify_all();
  }
  // A later question's answer serves as well.
  return *answer_;
}

}  // namespace mailroom::storage
