// One request on its way to an answer, whatever protocol carries it. Knows the parts that the
// protocols share: exactly one answer, on the connection's loop, compressed where that pays.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "apiserver/http/front_state.h"
#include "storage/object/message.h"
#include "storage/object/status.h"

namespace mailroom::apiserver {

class Connection;

// Who asks: its OnAnswer gets the answer, on its loop.
struct Asker {
  std::weak_ptr<Connection> connection;
  std::int32_t id = 0;  // which of its requests
};

// Hands the request to the handler; over-long bodies and requests that arrive while the front
// drains are answered here. Called on the connection's loop. The answer comes once, now or later;
// or never when the front stops.
void Serve(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop, Asker asker,
           Request&& request);

// Answers a request that a parser gave up with this status code.
void Refuse(const std::shared_ptr<FrontState>& state, trantor::EventLoop* loop, Asker asker,
            const Request& request, int code);

// A Kubernetes Status as a response.
Response ErrorResponse(const Status& status);
// Ends a body that nobody will read.
void Discard(Response& response);
// Whether an Accept-Encoding list names gzip.
bool AcceptsGzip(const Headers& headers);
// Whether the body is a document that compression pays for. Events are never compressed.
bool Compressible(const Response& response);
// Without blanks at its ends.
std::string_view Trim(std::string_view text);
// Whether a value stays in its header line as it is.
bool CleanValue(std::string_view value);
// A value that cannot break out of its header line.
std::string HeaderValue(std::string_view value);

}  // namespace mailroom::apiserver
