#include "apiserver/admission/answer.h"

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/status.h"

namespace mailroom::admission {
namespace {

// What Go's client says about an answer that is not 2xx.
std::string HttpProblem(int code, const std::string& body) {
  if (auto parsed = ParseJson(body); parsed.ok() && StringAt(*parsed, {"kind"}) == "Status") {
    return StringAt(*parsed, {"message"});
  }
  switch (code) {
    case 400: return "the server rejected our request for an unknown reason";
    case 401: return "the server has asked for the client to provide credentials";
    case 403: return "forbidden";
    case 404: return "the server could not find the requested resource";
    case 405: return "the server does not allow this method on the requested resource";
    case 503: return "the server is currently unable to handle the request";
    default: break;
  }
  if (code >= 500) {
    const std::string text = body.substr(0, 2048);
    return "an error on the server (" + Quoted(text.empty() ? "unknown" : text) +
           ") has prevented the request from succeeding";
  }
  return "the server responded with the status code " + std::to_string(code) +
         " but did not return more information";
}

}  // namespace

std::string KindText(const Json& tree) {
  const std::string api = StringAt(tree, {"apiVersion"});
  return (api.find('/') == std::string::npos ? "/" + api : api) +
         ", Kind=" + StringAt(tree, {"kind"});
}

std::optional<Json> ParseAnswer(int code, const std::string& body, std::string& problem) {
  if (code < 200 || code > 206) {
    problem = HttpProblem(code, body);
    return std::nullopt;
  }
  auto parsed = ParseJson(body);
  if (parsed.ok() && parsed->is_object()) return std::move(*parsed);
  problem = "couldn't get version/kind; json parse error: " +
            (parsed.ok() ? "not an object" : parsed.error().message());
  return std::nullopt;
}

}  // namespace mailroom::admission
