#include "apiserver/offload_dispatcher.h"

#include "apiserver/render.h"

namespace mailroom::apiserver {

Offload OffloadOf(Dispatcher& dispatcher) {
  return {.pace = [&](const Request& request) { return dispatcher.PaceOf(request); },
          .flow = [&](const Request& request) { return dispatcher.FlowOf(request); },
          .handle = [&](const Request& request) { return dispatcher.Handle(request); },
          .refuse = [] {
            return RenderError(
                TooManyRequests("the server's queue is full, please try again later", 1));
          }};
}

}  // namespace mailroom::apiserver
