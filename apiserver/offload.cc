#include "apiserver/offload.h"

#include <memory>
#include <utility>

namespace mailroom::apiserver {

void Offload::Serve(WorkerPool& workers, Request request,
                    std::function<void(Response)> respond) const {
  if (!may_block(request)) return respond(handle(request));
  struct Work {
    Request request;
    std::function<void(Response)> respond;
  };
  auto work = std::make_shared<Work>(Work{std::move(request), std::move(respond)});
  if (!workers.Submit(flow ? flow(work->request) : std::string(), [this, work] { work->respond(handle(work->request)); })) {
    work->respond(refuse());
  }
}

}  // namespace mailroom::apiserver
