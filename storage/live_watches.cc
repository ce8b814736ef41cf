#include "storage/live_watches.h"

#include <algorithm>

namespace mailroom::storage {

class LiveWatches::Handle final : public WatchHandle {
 public:
  Handle(std::shared_ptr<State> state, std::uint64_t id) : state_(std::move(state)), id_(id) {}
  ~Handle() override {
    std::lock_guard lock(state_->mutex);
    state_->open.erase(id_);
  }

 private:
  std::shared_ptr<State> state_;
  std::uint64_t id_;
};

LiveWatches::LiveWatches(Revision delivered) : state_(std::make_shared<State>()) {
  state_->delivered = delivered;
}

Revision LiveWatches::delivered() const {
  std::lock_guard lock(state_->mutex);
  return state_->delivered;
}

bool LiveWatches::WantsPreviousValues() const {
  std::lock_guard lock(state_->mutex);
  return std::any_of(state_->open.begin(), state_->open.end(),
                     [](const auto& entry) { return entry.second.sink->WantsPreviousValues(); });
}

void LiveWatches::Deliver(const ChangeBatch& batch) {
  std::lock_guard lock(state_->mutex);
  for (const auto& [id, open] : state_->open) {
    DeliverSelected(batch, open.prefix, open.after, *open.sink);
  }
  state_->delivered = batch.revision;
}

Result<std::unique_ptr<WatchHandle>> LiveWatches::Join(
    const std::string& prefix, Revision after, ChangeSink& sink,
    const std::function<Result<void>(Revision delivered)>& catch_up) {
  std::lock_guard lock(state_->mutex);
  if (state_->ended) return Unavailable("the store is closed");
  TRY(catch_up(state_->delivered));
  const std::uint64_t id = state_->next_id++;
  state_->open.emplace(id, Open{prefix, after, &sink});
  return std::unique_ptr<WatchHandle>(std::make_unique<Handle>(state_, id));
}

void LiveWatches::Break(Revision revision, const Status& why) {
  std::lock_guard lock(state_->mutex);
  for (const auto& [id, open] : state_->open) open.sink->OnEnd(why);
  state_->open.clear();
  state_->delivered = revision;
}

void LiveWatches::End(const Status& why) {
  std::lock_guard lock(state_->mutex);
  state_->ended = true;
  for (const auto& [id, open] : state_->open) open.sink->OnEnd(why);
  state_->open.clear();
}

void DeliverSelected(const ChangeBatch& batch, const std::string& prefix, Revision after,
                     ChangeSink& sink) {
  auto wanted = [&](const Change& change) {
    return change.entry.mod_revision > after && change.entry.key.starts_with(prefix);
  };
  if (batch.revision <= after) return;
  if (std::all_of(batch.changes.begin(), batch.changes.end(), wanted)) {
    sink.OnChanges(batch);
    return;
  }
  ChangeBatch selected;
  selected.revision = batch.revision;
  std::copy_if(batch.changes.begin(), batch.changes.end(), std::back_inserter(selected.changes),
               wanted);
  sink.OnChanges(selected);
}

}  // namespace mailroom::storage
