#include "storage/compactor.h"

#include "storage/object/log.h"
#include "storage/object/resource_key.h"

namespace mailroom::storage {

Compactor::Compactor(Store& store, CachedStore& cache, const Clock& clock, Options options)
    : store_(store),
      cache_(cache),
      clock_(clock),
      options_(options),
      thread_([this](std::stop_token stop) { Run(stop); }) {}

Result<Revision> Compactor::Step() {
  std::lock_guard lock(step_mutex_);
  const auto now = clock_.Monotonic();
  if (cache_.applied() == last_) TRY(Move());
  last_ = cache_.applied();
  marks_.push_back(Mark{now, last_});
  Revision target;
  while (!marks_.empty() && marks_.front().when + options_.age <= now) {
    target = marks_.front().revision;
    marks_.pop_front();
  }
  if (target == Revision()) return target;
  cache_.Retire(target);
  TRY(store_.Compact(target));
  return target;
}

Result<void> Compactor::Move() {
  Txn txn;
  txn.operations.push_back({Operation::Type::kPut, CompactionMark(),
                            std::make_shared<const std::string>(last_.ToString())});
  TRY(cache_.Commit(std::move(txn)));
  return Ok();
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
