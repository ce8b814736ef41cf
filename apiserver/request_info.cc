#include "apiserver/request_info.h"

#include <algorithm>
#include <charconv>

#include "apiserver/router_error.h"
#include "storage/object/resource_key.h"
#include "storage/object/selector.h"

namespace mailroom::apiserver {
namespace {

Result<std::vector<std::string>> SplitPath(std::string_view path) {
  std::vector<std::string> segments;
  std::string decoded;
  while (!path.empty()) {
    if (path.front() == '/') {
      path.remove_prefix(1);
      if (path.starts_with('/')) return RouterError(404);  // an empty segment names nothing
      continue;
    }
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!PercentDecode(path.substr(0, end), decoded) || decoded == "." || decoded == ".." ||
        decoded.find('/') != std::string::npos || decoded.find('\\') != std::string::npos) {
      return BadRequest("the request path holds an invalid segment");
    }
    segments.push_back(decoded);
    path.remove_prefix(end);
  }
  return segments;
}

std::string_view CollectionVerb(const std::string& method, const RequestInfo& info) {
  if (!info.path_verb.empty()) return info.path_verb;
  const bool named = !info.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (named) return "get";
    return info.query.Bool("watch") ? "watch" : "list";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return named ? "delete" : "deletecollection";
  return "";
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Takes `/clusters/<name>` off the front; the same prefix sent twice (old and new `--raw`
// conventions) is taken off twice, and once more for every proxy that does the same; that they are a
// thousand nobody means. Whoever looks at paths elsewhere (pace.cc) may take off any number.
Result<void> TakeWorkspace(RequestInfo& info, std::vector<std::string>& segments) {
  info.workspace = Workspace(std::string(kRootWorkspace));
  if (segments.empty() || segments[0] != "clusters") return Ok();
  if (segments.size() < 2) return BadRequest("the path names no workspace");
  const std::string name = segments[1];
  if (name == "*") {
    info.all_workspaces = true;
    info.workspace = Workspace();
  } else if (IsWorkspaceName(name)) {
    info.workspace = Workspace(name);
  } else {
    return BadRequest("invalid workspace name " + Quoted(name));
  }
  info.prefix = "/clusters/" + name;
  constexpr std::size_t kMostSegments = 8;
  std::size_t taken = 2;
  while (taken + 1 < segments.size() && segments[taken] == "clusters" && segments[taken + 1] == name) {
    if (taken == kMostSegments) return BadRequest("the path names its workspace too often");
    taken += 2;
  }
  segments.erase(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(taken));
  return Ok();
}

// Takes `/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/<name>/proxy` off the front.
Result<void> TakeProxy(RequestInfo& info, std::vector<std::string>& segments) {
  constexpr std::size_t kParts = 6;
  if (info.all_workspaces || info.workspace.name() != kRootWorkspace || segments.size() < kParts ||
      segments[0] != "apis" || segments[1] + "/" + segments[2] != openapi::kMailboxApi ||
      segments[3] != "mailboxes" || segments[5] != "proxy") {
    return Ok();
  }
  const std::string name = segments[4];
  if (!IsWorkspaceName(name) || name == kRootWorkspace) {
    return NotFound("mailboxes", segments[1], name);
  }
  for (std::size_t i = 0; i < kParts; ++i) info.prefix += "/" + segments[i];
  segments.erase(segments.begin(), segments.begin() + kParts);
  info.proxied = true;
  info.workspace = Workspace(name);
  return Ok();
}

void ReadResource(RequestInfo& info, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  if (parts[0] == "namespaces" && parts.size() > 2 && parts[2] != "status" &&
      parts[2] != "finalize") {
    info.ns = parts[1];
    at = 2;
  }
  info.resource = parts[at];
  if (at + 1 < parts.size()) info.name = parts[at + 1];
  if (info.path_verb == "proxy") return;  // all that follows is for whom it leads to
  if (at + 2 < parts.size()) info.subresource = parts[at + 2];
  info.deeper = at + 3 < parts.size();
}

}  // namespace

bool Query::Has(std::string_view name) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return p.first == name; });
}

std::string Query::Get(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return "";
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : pairs_) {
    if (key == name) out.push_back(value);
  }
  return out;
}

bool Query::Bool(std::string_view name) const {
  if (!Has(name)) return false;
  const std::string value = Lower(Get(name));
  return value != "false" && value != "0";
}

Result<std::int64_t> Query::Int(std::string_view name) const {
  const std::string text = Get(name);
  if (!Has(name)) return std::int64_t{0};
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    return BadRequest("strconv.ParseInt: parsing " + Quoted(text) + ": value out of range");
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return BadRequest("strconv.ParseInt: parsing " + Quoted(text) + ": invalid syntax");
  }
  return value;
}

Result<RequestInfo> ParseRequestInfo(const Request& request) {
  RequestInfo info;
  info.query = Query(request.query);
  std::vector<std::string> segments = TRY(SplitPath(request.path));
  TRY(TakeWorkspace(info, segments));
  TRY(TakeProxy(info, segments));
  for (const std::string& segment : segments) info.path += "/" + segment;
  if (info.path.empty()) info.path = "/";
  info.verb = Lower(request.method);

  std::size_t at = 0;
  if (segments.size() >= 3 && segments[0] == "api") {
    info.version = segments[1];
    at = 2;
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    info.group = segments[1];
    info.version = segments[2];
    at = 3;
  }
  if (at > 0) {
    const bool prefixed = segments.size() > at + 1 &&
                          (segments[at] == "watch" || segments[at] == "proxy");
    if (prefixed) info.path_verb = segments[at++];
    info.is_resource = true;
    ReadResource(info, {segments.begin() + static_cast<std::ptrdiff_t>(at), segments.end()});
    if (auto verb = CollectionVerb(request.method, info); !verb.empty()) info.verb = verb;
  }
  info.segments = std::move(segments);
  if (info.is_resource && info.name.empty() && info.query.Has("fieldSelector")) {
    auto selector = FieldSelector::Parse(info.query.Get("fieldSelector"));
    const std::string* name = selector.ok() ? selector->Exact("metadata.name") : nullptr;
    if (name != nullptr) info.selected_name = *name;
  }
  return info;
}

Attributes AttributesOf(const RequestInfo& info) {
  Attributes asked;
  asked.workspace = info.workspace.name();
  asked.all_workspaces = info.all_workspaces;
  asked.verb = info.verb;
  asked.is_resource = info.is_resource;
  asked.path = info.path;
  if (!info.is_resource) return asked;
  asked.group = info.group;
  asked.version = info.version;
  asked.resource = info.resource;
  asked.subresource = info.subresource;
  asked.ns = info.ns;
  asked.name = info.name.empty() ? info.selected_name : info.name;
  return asked;
}

}  // namespace mailroom::apiserver
