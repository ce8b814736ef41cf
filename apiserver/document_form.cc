#include "apiserver/document_form.h"

#include <algorithm>

#include "apiserver/negotiate.h"
#include "apiserver/render.h"
#include "apiserver/router_error.h"
#include "openapi/protobuf.h"
#include "storage/object/json.h"
#include "storage/object/yaml.h"

namespace mailroom::apiserver {

Result<Response> InAcceptedMedia(const Request& request, Response document) {
  if (document.code != 200 || document.headers.Get("content-type") != "application/json") {
    return document;
  }
  TRY(CheckDocumentMedia(request));
  const Accepted accepted = NegotiateError(request);
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

Response RootDocument(const openapi::Catalog& catalog) {
  std::vector<std::string> paths = {"/api",     "/apis",  "/healthz",    "/livez",
                                    "/version", "/readyz", "/openapi/v2", "/openapi/v3"};
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
      if (known.name == group) return RouterError(404);
    }
  }
  return TextResponse(404, "404 page not found\n");
}

}  // namespace mailroom::apiserver
