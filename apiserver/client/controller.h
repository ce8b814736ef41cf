// A reconcile loop: a work queue, a few workers, one Reconciler. Level-triggered: the key carries
// no event; a failed key is retried with back-off for ever. A key that keeps failing for the same
// reason is logged once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/client/work_queue.h"
#include "storage/object/result.h"

namespace mailroom::client {

struct Requeue {
  std::chrono::milliseconds after{0};  // zero: not again until something changes
};

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  // Makes the world agree with what the caches say about `key`, with at most one write.
  virtual Result<Requeue> Reconcile(const WorkKey& key) = 0;
};

class Controller {
 public:
  virtual ~Controller() = default;  // stops and joins
  static std::unique_ptr<Controller> Start(std::string name, Reconciler& reconciler,
                                           std::size_t workers);
  virtual WorkQueue& queue() = 0;
  virtual void Stop() = 0;
};

}  // namespace mailroom::client
