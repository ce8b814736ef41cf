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
  if (!ReadPath(path, group, version)) return openapi::ServerDocumentV3(catalog, path, docs);
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
  const std::vector<std::string> own = openapi::ServerPaths(catalog);
  return std::find(own.begin(), own.end(), path) != own.end();
}

Response Body(const Request& request, const Document& document, std::string_view type = kJson) {
  return DocumentResponse(request, {document.body}, document.hash, type);
}

// Without a body, as the original.
Response NotAccepted() {
  Response refused;
  refused.code = 406;
  refused.headers.Add("vary", "Accept");
  return refused;
}

// An object without its end.
std::string Opened(const Json& object) {
  std::string text = DumpJson(object);
  text.pop_back();
  return text;
}

// The members of an object, to follow others.
std::string Following(const Json& object) {
  return object.empty() ? "" : "," + Opened(object).substr(1);
}

}  // namespace

Response DocumentResponse(const Request& request, std::vector<SharedBytes> body,
                          const std::string& hash, std::string_view type) {
  const std::string etag = "\"" + hash + "\"";
  Response response;
  response.headers.Add("etag", etag);
  response.headers.Add("vary", "Accept");
  if (request.headers.Get("if-none-match") == etag) {
    response.code = 304;
    return response;
  }
  response.headers.Add("content-type", std::string(type));
  response.body = std::move(body);
  return response;
}

std::string OpenApiPaths::Version2Type(const Request& request) {
  const auto accepted = AcceptedType(request, kVersion2);
  if (!accepted) return "";
  return std::string(*accepted == 0 ? kJson : kVersion2[1]);
}

Document OpenApiPaths::Version2(const openapi::CatalogPtr& catalog, std::string_view type) {
  if (type == kJson) {
    return cache_.Get(catalog, "v2/json", [&] {
      return DumpJson(openapi::DocumentV2(*catalog, docs_));
    });
  }
  return cache_.Get(catalog, "v2/gnostic", [&] {
    return openapi::EncodeGnosticV2(openapi::DocumentV2(*catalog, docs_));
  });
}

SharedBytes OpenApiPaths::OpenPiece(const openapi::CatalogPtr& catalog, const char* member) {
  return cache_.Get(catalog, std::string("v2/json/") + member, [&] {
    Json document = openapi::DocumentV2(*catalog, docs_);
    const Json open = std::move(document[member]);
    const std::string name = std::string("\"") + member + "\":";
    if (std::string_view(member) == "paths") return "}," + name + Opened(open);
    document.erase("definitions");
    document.erase("paths");
    return Opened(document) + "," + name + Opened(open);
  }).body;
}

std::vector<SharedBytes> OpenApiPaths::Version2With(
    const openapi::CatalogPtr& catalog, std::string_view type,
    const std::function<Json(const Json& ours)>& others, std::string& hash) {
  const Json added = others(openapi::DocumentV2(*catalog, docs_));
  const auto piece = [](std::string text) {
    return std::make_shared<const std::string>(std::move(text));
  };
  std::vector<SharedBytes> pieces;
  const Document ours = Version2(catalog, type);
  if (type == kJson) {
    pieces = {OpenPiece(catalog, "definitions"), piece(Following(added.at("definitions"))),
              OpenPiece(catalog, "paths"), piece(Following(added.at("paths")) + "}}")};
  } else {
    // Messages of one field that come apart are one to whoever reads them.
    pieces = {ours.body, piece(openapi::EncodeGnosticV2(added))};
  }
  hash = DocumentHash(ours.hash + DumpJson(added));
  return pieces;
}

Document OpenApiPaths::DocumentOf(const openapi::CatalogPtr& catalog, const std::string& path) {
  return cache_.Get(catalog, "v3/" + path, [&] { return DumpJson(TreeOf(*catalog, path, docs_)); });
}

std::string OpenApiPaths::HashOf(const openapi::CatalogPtr& catalog, const std::string& path) {
  return cache_.Hash(catalog, "v3/" + path, [&] { return DumpJson(TreeOf(*catalog, path, docs_)); });
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
      paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + HashOf(catalog, path)}};
    };
    for (const std::string& path : openapi::ServerPaths(*catalog)) add(path);
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
  if (request.path.ends_with('/')) return std::nullopt;
  if (segments.size() == 2 && segments[0] == "openapi" && segments[1] == "v2") {
    const std::string type = Version2Type(request);
    return type.empty() ? NotAccepted() : Body(request, Version2(catalog, type), type);
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
