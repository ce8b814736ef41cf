#include "apiserver/offload.h"

#include <memory>
#include <utility>

namespace mailroom::apiserver {

void Offload::Serve(Pools pools, Request request, std::function<void(Response)> respond) const {
  const Pace expected = pace(request);
  if (expected == Pace::kAtOnce) {
    Response response = [&] {
      const NoWaiting loop;
      return handle(request);
    }();
    return respond(std::move(response));
  }
  WorkerPool& pool = expected == Pace::kLong ? pools.readers : pools.workers;
  struct Work {
    Request request;
    std::function<void(Response)> respond;
  };
  const std::string whose = flow ? flow(request) : std::string();
  auto work = std::make_shared<Work>(Work{std::move(request), std::move(respond)});
  if (!pool.Submit(whose, [this, work] { work->respond(handle(work->request)); })) {
    work->respond(refuse());
  }
}

}  // namespace mailroom::apiserver
