#include "storage/compactor.h"

#include "storage/object/log.h"

namespace mailroom::storage {

Compactor::Compactor(Store& store, const CachedStore& cache, const Clock& clock, Options options)
    : store_(store),
      cache_(cache),
      clock_(clock),
      options_(options),
      thread_([this](std::stop_token stop) { Run(stop); }) {}

Result<Revision> Compactor::Step() {
  std::lock_guard lock(step_mutex_);
  const auto now = clock_.Monotonic();
  marks_.push_back(Mark{now, cache_.applied()});
  Revision target;
  while (!marks_.empty() && marks_.front().when + options_.age <= now) {
    target = marks_.front().revision;
    marks_.pop_front();
  }
  if (target != Revision()) TRY(store_.Compact(target));
  return target;
}

void Compactor::Run(std::stop_token stop) {
  std::unique_lock lock(wait_mutex_);
  while (true) {
    stopping_.wait_for(lock, stop, options_.interval, [] { return false; });
    if (stop.stop_requested()) return;
    if (Result<Revision> step = Step(); !step.ok()) {
      Log(Level::kWarn, "compaction failed", {{"error", step.error().message()}});
    }
  }
}

}  // namespace mailroom::storage
