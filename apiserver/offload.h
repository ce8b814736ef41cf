// Decides which thread answers a request: short reads are answered by the I/O loop that brought
// them, what may wait goes to the workers and long reads to readers of their own, which are few and
// give way to all others. When too much waits already the answer is 429; when a handler throws, 500.
#pragma once

#include <functional>
#include <string>

#include "apiserver/pace.h"
#include "apiserver/worker_pool.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

struct Offload {
  std::function<Pace(const Request&)> pace;
  std::function<std::string(const Request&)> flow = {};  // who takes turns; none: one for all
  std::function<Response(const Request&)> handle;
  std::function<Response()> refuse;  // with Retry-After

  struct Pools {
    WorkerPool& workers;
    WorkerPool& readers;
  };
  // Calls `respond` once, now or later from a pool. Both this and the pools must outlive that.
  void Serve(Pools pools, Request request, std::function<void(Response)> respond) const;
};

}  // namespace mailroom::apiserver
