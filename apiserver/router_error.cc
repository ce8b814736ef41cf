#include "apiserver/router_error.h"

#include <algorithm>
#include <array>

namespace mailroom::apiserver {
namespace {

constexpr std::array<std::string_view, 4> kPatchTypes = {
    "application/json-patch+json", "application/merge-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml"};

constexpr std::string_view kRepresentations =
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf";

std::string_view BareType(std::string_view text) {
  text = text.substr(0, text.find(';'));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool IsJson(std::string_view type) { return type == "*/*" || type == "application/json"; }

bool Produces(std::string_view type) {
  return IsJson(type) || type == "application/yaml" || type == "application/vnd.kubernetes.protobuf";
}

// Of the types that the route produces.
bool AcceptsAny(const Request& request, bool (*produces)(std::string_view) = Produces) {
  bool named = false;
  for (std::string_view header : request.headers.All("accept")) {
    while (!header.empty()) {
      const std::size_t end = std::min(header.find(','), header.size());
      const std::string_view type = BareType(header.substr(0, end));
      header.remove_prefix(std::min(end + 1, header.size()));
      if (type.empty()) continue;
      named = true;
      if (produces(type)) return true;
    }
  }
  return !named;
}

}  // namespace

Status RouterError(int code, std::string_view message) {
  StatusDetails details;
  details.retry_after_seconds = -1;  // nothing to show, but details are present
  switch (code) {
    case 404:
      return Status(Reason::kNotFound, "the server could not find the requested resource", details);
    case 405:
      return Status(Reason::kMethodNotAllowed,
                    "the server does not allow this method on the requested resource", details);
    case 406: return Status(Reason::kNotAcceptable, std::string(message), details);
    case 415: return Status(Reason::kUnsupportedMediaType, std::string(message), details);
    default:
      return Status(Reason::kInvalid,
                    "the server rejected our request due to an error in our request", details);
  }
}

Result<void> CheckRouteMedia(const Request& request, const RequestInfo& info,
                             const openapi::ResourceType& type) {
  if (!type.builtin) return Ok();
  if (info.verb == "patch") {
    const std::string_view given = BareType(request.headers.Get("content-type"));
    if (std::find(kPatchTypes.begin(), kPatchTypes.end(), given) == kPatchTypes.end()) {
      return RouterError(415, "415: Unsupported Media Type");
    }
  }
  if (AcceptsAny(request)) return Ok();
  std::string message(kRepresentations);
  if (info.verb == "list" || info.verb == "watch") {
    message += ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  }
  return RouterError(406, message);
}

Result<void> CheckDocumentMedia(const Request& request) {
  if (AcceptsAny(request)) return Ok();
  return RouterError(406, kRepresentations);
}

Result<void> CheckJsonMedia(const Request& request) {
  if (AcceptsAny(request, IsJson)) return Ok();
  return RouterError(406, "406: Not Acceptable\n\nAvailable representations: application/json");
}

}  // namespace mailroom::apiserver
