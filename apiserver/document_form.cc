#include "apiserver/document_form.h"

#include <algorithm>

#include "apiserver/health.h"
#include "apiserver/negotiate.h"
#include "apiserver/render.h"
#include "apiserver/router_error.h"
#include "openapi/protobuf.h"
#include "storage/object/json.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {
namespace {

bool IsBuiltin(const openapi::Group& group) {
  for (const openapi::GroupVersion& version : group.versions) {
    if (!version.resources.empty() && version.resources.front()->builtin) return true;
  }
  return false;
}

}  // namespace

Result<Response> InAcceptedMedia(const Request& request, Response document) {
  if (document.code != 200 || document.headers.Get("content-type") != "application/json") {
    return document;
  }
  const Accepted accepted = TRY(NegotiateDocument(request));
  if (accepted.media == Media::kJson && !accepted.pretty) return document;
  std::string text;
  for (const SharedBytes& piece : document.body) text += *piece;
  const Json tree = TRY(ParseJson(text));
  std::string body;
  if (accepted.media == Media::kJson) {
    body = DumpJsonPretty(tree) + "\n";
  } else if (accepted.media == Media::kYaml) {
    body = DumpYaml(tree);
    document.headers.Set("content-type", "application/yaml");
  } else {
    auto encoded = openapi::EncodeProtobuf(tree);
    if (!encoded.ok()) return document;  // documents without such a form are JSON
    body = std::move(*encoded);
    document.headers.Set("content-type", std::string(openapi::kProtobufMediaType));
  }
  document.body.clear();
  document.Append(std::move(body));
  return document;
}

bool IsRoutedDocument(const RequestInfo& info, const openapi::Catalog& catalog) {
  const auto& segments = info.segments;
  if (segments.empty()) return false;
  if (segments[0] == "api") return segments.size() <= 2;
  if (segments[0] != "apis" || segments.size() != 3) return false;
  for (const openapi::Group& group : catalog.groups()) {
    if (group.name != segments[1]) continue;
    for (const openapi::GroupVersion& version : group.versions) {
      if (version.version != segments[2]) continue;
      return !version.resources.empty() && version.resources.front()->builtin;
    }
  }
  return false;
}

Response RootDocument(const openapi::Catalog& catalog) {
  std::vector<std::string> paths = HealthPaths();
  for (const char* path : {"/.well-known/openid-configuration", "/api", "/apis", "/apis/", "/openapi/v2",
                           "/openapi/v3", "/openapi/v3/", "/openid/v1/jwks", "/version"}) {
    paths.emplace_back(path);
  }
  for (const openapi::Group& group : catalog.groups()) {
    const std::string base = group.name.empty() ? "/api" : "/apis/" + group.name;
    paths.push_back(base);
    for (const openapi::GroupVersion& version : group.versions) {
      paths.push_back(base + "/" + version.version);
    }
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return JsonResponse(200, DumpJsonPretty({{"paths", paths}}));
}

Result<Response> NothingThere(const RequestInfo& info, const openapi::Catalog& catalog) {
  const auto& segments = info.segments;
  const bool core = segments.size() == 2 && segments[0] == "api";
  if (core || (segments.size() == 3 && segments[0] == "apis")) {
    const std::string group = core ? "" : segments[1];
    for (const openapi::Group& known : catalog.groups()) {
      if (known.name == group && IsBuiltin(known)) return RouterError(404);
    }
  }
  return TextResponse(404, "404 page not found\n");
}

}  // namespace mailroom::apiserver
