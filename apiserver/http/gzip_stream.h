// A body compressed on the way: a compressor thread deflates block by block, a few blocks ahead
// of the reader, so that a body of any size costs a bounded buffer and no time on an I/O loop.
#pragma once

#include <memory>

#include "apiserver/worker_pool.h"
#include "storage/object/message.h"

namespace mailroom::apiserver {

// Replaces body and finite stream of the response by their gzip form, with the headers that say
// so. `pool` is kept alive by what it is part of. When the pool is full, blocks are deflated by
// the reader's thread.
void Compress(std::shared_ptr<WorkerPool> pool, Response& response);

}  // namespace mailroom::apiserver
