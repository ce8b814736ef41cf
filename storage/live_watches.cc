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

void LiveWatches::State::EndAll(const Status& why) {
  for (const auto& [id, each] : open) each.sink->OnEnd(why);
  open.clear();
}

void LiveWatches::Deliver(Revision revision,
                          const std::function<Result<ChangeBatch>(bool previous_values)>& make) {
  std::lock_guard lock(state_->mutex);
  const bool previous_values =
      std::any_of(state_->open.begin(), state_->open.end(),
                  [](const auto& entry) { return entry.second.sink->WantsPreviousValues(); });
  if (Result<ChangeBatch> batch = make(previous_values); batch.ok()) {
    for (const auto& [id, open] : state_->open) {
      DeliverSelected(*batch, open.prefix, open.after, *open.sink);
    }
  } else {
    state_->EndAll(batch.error());
  }
  state_->delivered = revision;
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

void LiveWatches::End(const Status& why) {
  std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->EndAll(why);
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
