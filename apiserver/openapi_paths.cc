#include "apiserver/openapi_paths.h"

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
      return DumpJson(openapi::DocumentV2(*catalog));
    }));
  }
  return Body(request, cache_.Get(catalog, "v2/gnostic", [&] {
    return openapi::EncodeGnosticV2(openapi::DocumentV2(*catalog));
  }), kVersion2[1]);
}

Document OpenApiPaths::DocumentOf(const openapi::CatalogPtr& catalog, const std::string& group,
                                  const std::string& version) {
  return cache_.Get(catalog, "v3/" + PathOf(group, version),
                    [&] { return DumpJson(openapi::DocumentV3(*catalog, group, version)); });
}

// Under the hash of the JSON form, so that the index names both.
Document OpenApiPaths::Gnostic(const openapi::CatalogPtr& catalog, const std::string& group,
                               const std::string& version, const Document& json) {
  Document document = cache_.Get(catalog, "v3/gnostic/" + PathOf(group, version), [&] {
    return openapi::EncodeGnosticV3(openapi::DocumentV3(*catalog, group, version));
  });
  document.hash = json.hash;
  return document;
}

Response OpenApiPaths::Index(const Request& request, const RequestInfo& info,
                             const openapi::CatalogPtr& catalog) {
  static constexpr std::string_view kStart = "\"/openapi/v3/";
  const Document index = cache_.Get(catalog, "v3", [&] {
    Json paths = Json::object();
    for (const openapi::Group& group : catalog->groups()) {
      for (const openapi::GroupVersion& version : group.versions) {
        const std::string path = PathOf(group.name, version.version);
        const Document document = DocumentOf(catalog, group.name, version.version);
        paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + document.hash}};
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
  std::string group, version;
  if (segments.size() == 4 && segments[2] == "api") {
    version = segments[3];
  } else if (segments.size() == 5 && segments[2] == "apis") {
    group = segments[3];
    version = segments[4];
  } else {
    return std::nullopt;
  }
  const Document document = DocumentOf(catalog, group, version);
  if (*document.body == "null") return std::nullopt;
  const auto accepted = AcceptedType(request, kVersion3);
  if (!accepted) return NotAccepted();
  const std::string hash = info.query.Get("hash");
  if (!hash.empty() && hash != document.hash) {
    Response moved;
    moved.code = 301;
    moved.headers.Add("location", info.prefix + "/openapi/v3/" + PathOf(group, version) +
                                      "?hash=" + document.hash);
    return moved;
  }
  Response response = *accepted == 0 ? Body(request, document)
                                     : Body(request, Gnostic(catalog, group, version, document),
                                            kVersion3[1]);
  if (hash.empty()) return response;
  response.headers.Set("cache-control", "public, immutable");
  response.headers.Add("expires", "Thu, 31 Dec 2099 23:59:59 GMT");
  return response;
}

}  // namespace mailroom::apiserver
