#include "apiserver/discovery.h"

#include <openssl/evp.h>

#include "openapi/base64.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {
namespace {

using openapi::Catalog;
using openapi::Group;
using openapi::GroupVersion;
using openapi::ResourceType;
using openapi::Subresource;

std::string StorageHash(const ResourceType& type) {
  const std::string text =
      type.stored_as.group + "/" + type.storage_version + "/" + type.gvk.kind;
  unsigned char digest[EVP_MAX_MD_SIZE];
  EVP_Digest(text.data(), text.size(), digest, nullptr, EVP_sha256(), nullptr);
  return openapi::EncodeBase64({reinterpret_cast<char*>(digest), 8});
}

Json GroupDocument(const Group& group) {
  Json versions = Json::array();
  for (const GroupVersion& version : group.versions) {
    versions.push_back({{"groupVersion", group.name + "/" + version.version},
                        {"version", version.version}});
  }
  Json preferred = versions.front();
  return {{"name", group.name}, {"versions", std::move(versions)},
          {"preferredVersion", std::move(preferred)}};
}

Json LegacyResource(const ResourceType& type) {
  Json out = {{"name", type.plural}, {"singularName", type.singular},
              {"namespaced", type.namespaced}, {"kind", type.gvk.kind}, {"verbs", type.verbs}};
  if (!type.short_names.empty()) out["shortNames"] = type.short_names;
  if (!type.categories.empty()) out["categories"] = type.categories;
  if (type.stored) out["storageVersionHash"] = StorageHash(type);
  return out;
}

Json LegacySubresource(const ResourceType& type, const Subresource& sub) {
  Json out = {{"name", type.plural + "/" + sub.name}, {"singularName", ""},
              {"namespaced", type.namespaced}, {"kind", sub.kind.kind}, {"verbs", sub.verbs}};
  if (sub.kind.group != type.gvk.group || sub.kind.version != type.gvk.version) {
    out["group"] = sub.kind.group;
    out["version"] = sub.kind.version;
  }
  return out;
}

Json ResourceListDocument(const Group& group, const GroupVersion& version) {
  Json resources = Json::array();
  for (const auto& type : version.resources) {
    resources.push_back(LegacyResource(*type));
    for (const Subresource& sub : type->subresources) {
      resources.push_back(LegacySubresource(*type, sub));
    }
  }
  const std::string name =
      group.name.empty() ? version.version : group.name + "/" + version.version;
  return {{"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", name},
          {"resources", std::move(resources)}};
}

Json KindDocument(const GroupVersionKind& gvk) {
  return {{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}};
}

Json AggregatedResource(const ResourceType& type) {
  Json out = {{"resource", type.plural}, {"responseKind", KindDocument(type.gvk)},
              {"scope", type.namespaced ? "Namespaced" : "Cluster"},
              {"singularResource", type.singular}, {"verbs", type.verbs}};
  if (!type.short_names.empty()) out["shortNames"] = type.short_names;
  if (!type.categories.empty()) out["categories"] = type.categories;
  if (!type.subresources.empty()) {
    Json subresources = Json::array();
    for (const Subresource& sub : type.subresources) {
      subresources.push_back({{"subresource", sub.name}, {"responseKind", KindDocument(sub.kind)},
                              {"verbs", sub.verbs}});
    }
    out["subresources"] = std::move(subresources);
  }
  return out;
}

Json AggregatedDocument(const Catalog& catalog, bool core, const std::string& version) {
  Json items = Json::array();
  for (const Group& group : catalog.groups()) {
    if (group.name.empty() != core) continue;
    Json versions = Json::array();
    for (const GroupVersion& group_version : group.versions) {
      Json resources = Json::array();
      for (const auto& type : group_version.resources) resources.push_back(AggregatedResource(*type));
      versions.push_back({{"version", group_version.version}, {"freshness", "Current"},
                          {"resources", std::move(resources)}});
    }
    Json metadata = Json::object();
    if (!core) metadata["name"] = group.name;
    items.push_back({{"metadata", std::move(metadata)}, {"versions", std::move(versions)}});
  }
  return {{"kind", "APIGroupDiscoveryList"}, {"apiVersion", "apidiscovery.k8s.io/" + version},
          {"metadata", Json::object()}, {"items", std::move(items)}};
}

// `https://hub` as `hub:443`.
std::string AddressIn(const std::string& url) {
  const std::size_t start = url.find("://");
  std::string address = start == std::string::npos ? url : url.substr(start + 3);
  address = address.substr(0, address.find('/'));
  const std::size_t colon = address.rfind(':');
  const bool has_port = colon != std::string::npos && address.find(']', colon) == std::string::npos;
  return has_port ? address : address + ":443";
}

// All clients find the server under one address.
Json CoreVersionsDocument(const std::string& url) {
  Json addresses = Json::array();
  if (!url.empty()) {
    addresses.push_back({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", AddressIn(url)}});
  }
  return {{"kind", "APIVersions"}, {"versions", Json::array({"v1"})},
          {"serverAddressByClientCIDRs", std::move(addresses)}};
}

Json GroupListDocument(const Catalog& catalog) {
  Json groups = Json::array();
  for (const Group& group : catalog.groups()) {
    if (!group.name.empty()) groups.push_back(GroupDocument(group));
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

// v2 or v2beta1 when the client prefers the aggregated form, "" for the legacy one.
std::string AggregatedVersion(const Request& request) {
  for (std::string_view header : request.headers.All("accept")) {
    while (!header.empty()) {
      const std::size_t end = std::min(header.find(','), header.size());
      const std::string_view clause = header.substr(0, end);
      header.remove_prefix(std::min(end + 1, header.size()));
      if (clause.find("as=APIGroupDiscoveryList") != std::string_view::npos &&
          clause.find("g=apidiscovery.k8s.io") != std::string_view::npos) {
        return clause.find("v=v2beta1") != std::string_view::npos ? "v2beta1" : "v2";
      }
      if (clause.find("application/json") != std::string_view::npos) return "";
    }
  }
  return "";
}

const Group* FindGroup(const Catalog& catalog, const std::string& name) {
  for (const Group& group : catalog.groups()) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

const GroupVersion* FindVersion(const Group* group, const std::string& name) {
  if (group == nullptr) return nullptr;
  for (const GroupVersion& version : group->versions) {
    if (version.version == name) return &version;
  }
  return nullptr;
}

// What to make for a path; empty when the path names nothing here.
std::function<Json()> Maker(const RequestInfo& info, const Catalog& catalog,
                            const std::string& aggregated, const std::string& url) {
  const auto& segments = info.segments;
  const bool core = segments[0] == "api";
  if (segments.size() == 1) {
    if (!aggregated.empty()) return [&, core] { return AggregatedDocument(catalog, core, aggregated); };
    if (core) return [&] { return CoreVersionsDocument(url); };
    return [&] { return GroupListDocument(catalog); };
  }
  const Group* group = FindGroup(catalog, core ? "" : segments[1]);
  if (group == nullptr) return nullptr;
  if (!core && segments.size() == 2) {
    return [group] {
      Json document = GroupDocument(*group);
      document["kind"] = "APIGroup";
      document["apiVersion"] = "v1";
      return document;
    };
  }
  const GroupVersion* version = FindVersion(group, segments[core ? 1 : 2]);
  if (version == nullptr || segments.size() > (core ? 2u : 3u)) return nullptr;
  return [group, version] { return ResourceListDocument(*group, *version); };
}

}  // namespace

std::optional<Response> Discovery::Answer(const Request& request, const RequestInfo& info,
                                          const openapi::CatalogPtr& catalog) {
  if (info.segments.empty() || (info.segments[0] != "api" && info.segments[0] != "apis")) {
    return std::nullopt;
  }
  const std::string aggregated =
      info.segments.size() == 1 ? AggregatedVersion(request) : std::string();
  const auto make = Maker(info, *catalog, aggregated, url_);
  if (!make) return std::nullopt;
  const Document document = cache_.Get(catalog, info.path + "?" + aggregated,
                                       [&] { return DumpJson(make()) + "\n"; });
  const std::string etag = "\"" + document.hash + "\"";
  Response response;
  response.headers.Add("vary", "Accept");
  if (!aggregated.empty()) {
    response.headers.Add("etag", etag);
    response.headers.Set("cache-control", "public");
    if (request.headers.Get("if-none-match") == etag) {
      response.code = 304;
      return response;
    }
    response.headers.Add("content-type", "application/json;g=apidiscovery.k8s.io;v=" + aggregated +
                                             ";as=APIGroupDiscoveryList");
  } else {
    response.headers.Add("content-type", "application/json");
  }
  response.body.push_back(document.body);
  return response;
}

Json VersionDocument() {
  return {{"major", "1"}, {"minor", "36"}, {"gitVersion", "v1.36.0+mailroom"},
          {"gitCommit", ""}, {"gitTreeState", "clean"}, {"buildDate", "2026-11-01T00:00:00Z"},
          {"goVersion", "none"}, {"compiler", "gcc"}, {"platform", "linux/amd64"},
          {"emulationMajor", "1"}, {"emulationMinor", "36"},
          {"minCompatibilityMajor", "1"}, {"minCompatibilityMinor", "35"}};
}

}  // namespace mailroom::apiserver
