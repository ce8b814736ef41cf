#include "apiserver/offload.h"

#include <exception>
#include <memory>
#include <utility>

#include "storage/object/log.h"
#include "storage/object/problems.h"

namespace mailroom::apiserver {
namespace {

// The last fence around a request: what the code below did not expect of it costs this one an answer,
// not the process. What was sent is not logged.
Response Answered(const Offload& offload, const Request& request) {
  try {
    return offload.handle(request);
  } catch (const std::exception& e) {
    Log(Level::kError, "a request failed unexpectedly",
        {{"method", request.method},
         {"path", CutText(request.path, limits::kProblemPathBytes)},
         {"error", e.what()}});
  }
  const Status status = Internal("the request failed unexpectedly; the server's log has more");
  Response response;
  response.code = status.code();
  response.headers.Add("content-type", "application/json");
  response.Append(status.ToJson() + "\n");
  return response;
}

// A question that fails is not the place to answer the request: whoever handles it will meet the same.
template <typename Answer>
Answer Asked(const std::function<Answer(const Request&)>& question, const Request& request,
             Answer otherwise) {
  try {
    return question(request);
  } catch (const std::exception&) {
    return otherwise;
  }
}

}  // namespace

void Offload::Serve(Pools pools, Request request, std::function<void(Response)> respond) const {
  const Pace expected = Asked(pace, request, Pace::kMayWait);
  if (expected == Pace::kAtOnce) {
    Response response = [&] {
      const NoWaiting loop;
      return Answered(*this, request);
    }();
    return respond(std::move(response));
  }
  WorkerPool& pool = expected == Pace::kLong ? pools.readers : pools.workers;
  struct Work {
    Request request;
    std::function<void(Response)> respond;
  };
  const std::string whose = flow ? Asked(flow, request, std::string()) : std::string();
  auto work = std::make_shared<Work>(Work{std::move(request), std::move(respond)});
  if (!pool.Submit(whose, [this, work] { work->respond(Answered(*this, work->request)); })) {
    work->respond(refuse());
  }
}

}  // namespace mailroom::apiserver
