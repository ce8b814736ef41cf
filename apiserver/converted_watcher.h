// A watch of custom resources whose objects a webhook converts. Takes what another watcher brings,
// in batches, and hands it on converted; a batch that has to wait is converted on another thread,
// so neither the river nor the stream's own thread ever waits. The objects that were there at the
// start go the same way, first. One consumer; its ready callback may come from any thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "apiserver/settle.h"

namespace mailroom::apiserver {

class ConvertedWatcher final : public storage::Watcher {
 public:
  // `filter` is asked about converted objects; the watch itself must have none.
  ConvertedWatcher(const Call& call, storage::CacheWatch watch, storage::Filter filter);
  ~ConvertedWatcher() override;

  void OnReady(std::function<void()> ready) override;
  State Drain(std::vector<Item>& out, std::size_t max, Revision& up_to) override;
  bool overflowed() const override;
  std::size_t pending() const override;
  // Whether all that was there at the start has been handed on. One Drain never hands on both the
  // last of it and what came later.
  bool InitialDone() const;
  // Whether the last Drain found that it was, and so stopped before what came later.
  bool InitialJustDone() const;
  // Why it closed, when it could not convert.
  std::optional<Status> error() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mailroom::apiserver
