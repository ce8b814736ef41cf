// Decides which thread answers a request: reads are answered by the I/O loop that brought them,
// what may wait goes to the workers, and when too much waits already the answer is 429.
#pragma once

#include <functional>
#include <string>

#include "apiserver/worker_pool.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

struct Offload {
  std::function<bool(const Request&)> may_block;
  std::function<std::string(const Request&)> flow = {};  // whose turn it uses; empty: all are one
  std::function<Response(const Request&)> handle;
  std::function<Response()> refuse;  // with Retry-After

  // Calls `respond` once, now or later from a worker. Both this and `workers` must outlive that.
  void Serve(WorkerPool& workers, Request request, std::function<void(Response)> respond) const;
};

}  // namespace mailroom::apiserver
