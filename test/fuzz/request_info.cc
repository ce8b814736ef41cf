#include "apiserver/request_info.h"

#include "storage/object/resource_key.h"
#include "test/fuzz/fuzz.h"

// `METHOD path?query`: what is understood as a resource stays in the workspace it names.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = FuzzText(data, size);
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view url = text.substr(std::min(space + 1, text.size()));
  const std::size_t mark = std::min(url.find('?'), url.size());
  mailroom::Request request;
  request.method = text.substr(0, space);
  request.path = url.substr(0, mark);
  request.query = url.substr(std::min(mark + 1, url.size()));
  auto info = mailroom::apiserver::ParseRequestInfo(request);
  if (!info.ok() || !info->is_resource) return 0;
  for (const std::string& part : {info->ns, info->name, info->resource, info->group}) {
    FUZZ_CHECK(part.find('/') == std::string::npos && part != "." && part != "..");
  }
  if (info->all_workspaces) return 0;
  const mailroom::ResourceKey key{info->workspace, {info->group, info->resource}, info->ns, info->name};
  if (!key.Check().ok()) return 0;
  const std::string prefix = mailroom::WorkspacePrefix(info->workspace);
  FUZZ_CHECK(key.ToStoreKey().starts_with(prefix));
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"GET /clusters/wds1/api/v1/namespaces/default/pods/a?watch=1&labelSelector=a%3Db",
          "PUT /apis/apps/v1/namespaces/x/deployments/web/scale", "GET /clusters/*/api/v1/pods?limit=5",
          "DELETE /api/v1/namespaces/%2e%2e/pods", "GET /api//v1/%2Fpods/%00?a=%zz&&b",
          "GET /clusters/a/clusters/a/api/v1/watch/namespaces/n/pods/p", "POST /healthz?verbose"};
}
