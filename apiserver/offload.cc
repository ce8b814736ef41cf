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
  const std::string whose = flow ? flow(request) : std::string();
  auto work = std::make_shared<Work>(Work{std::move(request), std::move(respond)});
  if (!workers.Submit(whose, [this, work] { work->respond(handle(work->request)); })) {
    work->respond(refuse());
  }
}

}  // namespace mailroom::apiserver
