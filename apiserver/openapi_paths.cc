#include "apiserver/openapi_paths.h"

#include <algorithm>
#include <array>

#include "apiserver/negotiate.h"
#include "openapi/documents.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {
namespace {

constexpr std::string_view kJson = "application/json";
// What is offered; clients may use the older spelling but are answered in the newer.
constexpr std::array<std::string_view, 3> kVersion2 = {
    kJson, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"};
constexpr std::array<std::string_view, 3> kVersion3 = {
    kJson, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"};

std::string PathOf(const std::string& group, const std::string& version) {
  return group.empty() ? "api/" + version : "apis/" + group + "/" + version;
}

// The group and version that a path names; false when it is none of theirs.
bool ReadPath(std::string_view path, std::string_view& group, std::string_view& version) {
  constexpr std::string_view kCore = "api/", kGroups = "apis/";
  if (path.starts_with(kCore)) {
    version = path.substr(kCore.size());
  } else if (path.starts_with(kGroups)) {
    const std::size_t slash = path.find('/', kGroups.size());
    if (slash == std::string_view::npos) return false;
    group = path.substr(kGroups.size(), slash - kGroups.size());
    version = path.substr(slash + 1);
  }
  return !version.empty() && version.find('/') == std::string_view::npos;
}

Json TreeOf(const openapi::Catalog& catalog, std::string_view path, const openapi::ApiDocs* docs) {
  std::string_view group, version;
  if (!ReadPath(path, group, version)) return openapi::ServerDocumentV3(path);
  return openapi::DocumentV3(catalog, group, version, docs);
}

bool Serves(const openapi::Catalog& catalog, std::string_view group, std::string_view version) {
  for (const openapi::Group& served : catalog.groups()) {
    if (served.name != group) continue;
    return std::any_of(served.versions.begin(), served.versions.end(),
                       [&](const openapi::GroupVersion& one) { return one.version == version; });
  }
  return false;
}

// Whether there is a document, so that nothing is remembered of other paths: of those there is no end.
bool IsDocumentPath(const openapi::Catalog& catalog, std::string_view path) {
  std::string_view group, version;
  if (ReadPath(path, group, version)) return Serves(catalog, group, version);
  const auto& own = openapi::ServerPaths();
  return std::find(own.begin(), own.end(), path) != own.end();
}

Response Body(const Request& request, const Document& document, std::string_view type = kJson) {
  Response response;
  response.headers.Add("etag", "\"" + document.hash + "\"");
  response.headers.Add("vary", "Accept");
  if (request.headers.Get("if-none-match") == "\"" + document.hash + "\"") {
    response.code = 304;
    return response;
  }
  response.headers.Add("content-type", std::string(type));
  response.body.push_back(document.body);
  return response;
}

// Without a body, as the original.
Response NotAccepted() {
  Response refused;
  refused.code = 406;
  refused.headers.Add("vary", "Accept");
  return refused;
}

}  // namespace

Response OpenApiPaths::Version2(const Request& request, const openapi::CatalogPtr& catalog) {
  const auto accepted = AcceptedType(request, kVersion2);
  if (!accepted) return NotAccepted();
  if (*accepted == 0) {
    return Body(request, cache_.Get(catalog, "v2/json", [&] {
      return DumpJson(openapi::DocumentV2(*catalog, docs_));
    }));
  }
  return Body(request, cache_.Get(catalog, "v2/gnostic", [&] {
    return openapi::EncodeGnosticV2(openapi::DocumentV2(*catalog, docs_));
  }), kVersion2[1]);
}

Document OpenApiPaths::DocumentOf(const openapi::CatalogPtr& catalog, const std::string& path) {
  return cache_.Get(catalog, "v3/" + path, [&] { return DumpJson(TreeOf(*catalog, path, docs_)); });
}

// Under the hash of the JSON form, so that the index names both.
Document OpenApiPaths::Gnostic(const openapi::CatalogPtr& catalog, const std::string& path,
                               const Document& json) {
  Document document = cache_.Get(catalog, "v3/gnostic/" + path, [&] {
    return openapi::EncodeGnosticV3(TreeOf(*catalog, path, docs_));
  });
  document.hash = json.hash;
  return document;
}

Response OpenApiPaths::Index(const Request& request, const RequestInfo& info,
                             const openapi::CatalogPtr& catalog) {
  static constexpr std::string_view kStart = "\"/openapi/v3/";
  const Document index = cache_.Get(catalog, "v3", [&] {
    Json paths = Json::object();
    const auto add = [&](const std::string& path) {
      const Document document = DocumentOf(catalog, path);
      paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + document.hash}};
    };
    for (const std::string& path : openapi::ServerPaths()) add(path);
    for (const openapi::Group& group : catalog->groups()) {
      for (const openapi::GroupVersion& version : group.versions) {
        add(PathOf(group.name, version.version));
      }
    }
    return DumpJson({{"paths", std::move(paths)}});
  });
  // One index for all workspaces that serve the same; each shows its own URLs.
  std::string text = *index.body;
  for (std::size_t at = text.find(kStart); at != std::string::npos;
       at = text.find(kStart, at + info.prefix.size() + kStart.size())) {
    text.insert(at + 1, info.prefix);
  }
  return Body(request, {std::make_shared<const std::string>(std::move(text)), index.hash});
}

std::optional<Response> OpenApiPaths::Answer(const Request& request, const RequestInfo& info,
                                             const openapi::CatalogPtr& catalog) {
  const auto& segments = info.segments;
  if (segments.size() == 2 && segments[0] == "openapi" && segments[1] == "v2") {
    return Version2(request, catalog);
  }
  if (segments.size() < 2 || segments[0] != "openapi" || segments[1] != "v3") return std::nullopt;
  if (segments.size() == 2) return Index(request, info, catalog);
  std::string path;
  for (std::size_t i = 2; i < segments.size(); ++i) path += (i == 2 ? "" : "/") + segments[i];
  if (!IsDocumentPath(*catalog, path)) return std::nullopt;
  const Document document = DocumentOf(catalog, path);
  if (*document.body == "null") return std::nullopt;
  const auto accepted = AcceptedType(request, kVersion3);
  if (!accepted) return NotAccepted();
  std::string hash = info.query.Get("hash");
  // An aggregator hands on no redirection: through one, a stale name yields what there is now.
  const bool relayed = info.proxied || request.peer.front_proxy;
  if (relayed && hash != document.hash) hash.clear();
  if (!hash.empty() && hash != document.hash) {
    Response moved;
    moved.code = 301;
    moved.headers.Add("location", info.prefix + "/openapi/v3/" + path + "?hash=" + document.hash);
    return moved;
  }
  Response response = *accepted == 0 ? Body(request, document)
                                     : Body(request, Gnostic(catalog, path, document), kVersion3[1]);
  if (hash.empty()) return response;
  response.headers.Set("cache-control", "public, immutable");
  response.headers.Add("expires", "Thu, 31 Dec 2099 23:59:59 GMT");
  return response;
}

}  // namespace mailroom::apiserver
