// Discovery of APIs that other servers serve, beside our own.
#include <algorithm>

#include "apiserver/aggregator.h"
#include "storage/object/json_path.h"

namespace mailroom::apiserver {
namespace {

// The groups of the original by their priority; definitions have 1000.
std::int64_t PriorityOf(const std::string& group) {
  static const std::map<std::string, std::int64_t, std::less<>> kPriorities = {
      {"apps", 17800}, {"events.k8s.io", 17750}, {"authentication.k8s.io", 17700},
      {"authorization.k8s.io", 17600}, {"autoscaling", 17500}, {"batch", 17400},
      {"certificates.k8s.io", 17300}, {"networking.k8s.io", 17200}, {"policy", 17100},
      {"rbac.authorization.k8s.io", 17000}, {"storage.k8s.io", 16800},
      {"admissionregistration.k8s.io", 16700}, {"apiextensions.k8s.io", 16700},
      {"scheduling.k8s.io", 16600}, {"coordination.k8s.io", 16500}, {"node.k8s.io", 16300},
      {"discovery.k8s.io", 16200}, {"resource.k8s.io", 16200},
      {"flowcontrol.apiserver.k8s.io", 16100}, {"apiregistration.k8s.io", 18000}};
  const auto found = kPriorities.find(group);
  return found == kPriorities.end() ? 1000 : found->second;
}

// One resource of an APIResourceList as the aggregated form has it; null for a subresource.
Json AggregatedResource(const Json& resource, const RemoteApi& api) {
  const std::string name = StringAt(resource, {"name"});
  if (name.empty() || name.find('/') != std::string::npos) return nullptr;
  auto text = [&](const char* member, const std::string& otherwise) {
    const std::string said = StringAt(resource, {member});
    return said.empty() ? otherwise : said;
  };
  Json out = {{"resource", name},
              {"responseKind",
               {{"group", text("group", api.group)},
                {"version", text("version", api.version)},
                {"kind", StringAt(resource, {"kind"})}}},
              {"scope", BoolAt(resource, {"namespaced"}, false) ? "Namespaced" : "Cluster"},
              {"singularResource", StringAt(resource, {"singularName"})},
              {"verbs", StringsAt(resource, {"verbs"})}};
  for (const char* member : {"shortNames", "categories"}) {
    if (const Json* given = Find(resource, {member})) out[member] = *given;
  }
  return out;
}

Json AggregatedResources(const Json& resources, const RemoteApi& api) {
  Json out = Json::array();
  for (const Json& resource : resources) {
    if (Json whole = AggregatedResource(resource, api); !whole.is_null()) {
      out.push_back(std::move(whole));
    }
  }
  for (const Json& resource : resources) {
    const std::string name = StringAt(resource, {"name"});
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) continue;
    for (Json& whole : out) {
      if (StringAt(whole, {"resource"}) != name.substr(0, slash)) continue;
      Json sub = {{"subresource", name.substr(slash + 1)},
                  {"responseKind", whole["responseKind"]},
                  {"verbs", StringsAt(resource, {"verbs"})}};
      sub["responseKind"]["kind"] = StringAt(resource, {"kind"});
      whole["subresources"].push_back(std::move(sub));
    }
  }
  return out;
}

std::string NameOf(const Json& group, bool aggregated) {
  return aggregated ? StringAt(group, {"metadata", "name"}) : StringAt(group, {"name"});
}

// Puts a version into the group of its name, which is made, where its priority says, when absent.
// Versions come by falling priority; those of ours, which have 100 at most, are there already.
void AddVersion(Json& groups, const RemoteApi& api, bool aggregated, Json version) {
  auto it = std::find_if(groups.begin(), groups.end(), [&](const Json& group) {
    return NameOf(group, aggregated) == api.group;
  });
  if (it == groups.end()) {
    it = std::find_if(groups.begin(), groups.end(), [&](const Json& group) {
      const std::string name = NameOf(group, aggregated);
      const std::int64_t priority = PriorityOf(name);
      return priority < api.group_priority ||
             (priority == api.group_priority && api.group < name);
    });
    Json group = aggregated ? Json{{"metadata", {{"name", api.group}}}} : Json{{"name", api.group}};
    group["versions"] = Json::array();
    it = groups.insert(it, std::move(group));
  }
  it->at("versions").push_back(std::move(version));
  if (!aggregated) (*it)["preferredVersion"] = it->at("versions").front();
}

Json LegacyVersion(const RemoteApi& api) {
  return {{"groupVersion", api.group + "/" + api.version}, {"version", api.version}};
}

}  // namespace

std::optional<Response> Aggregator::Discover(const Request& request, const RequestInfo& info,
                                             const WorkspaceView& workspace,
                                             Discovery& ours) const {
  const auto& segments = info.segments;
  if (segments.empty() || segments[0] != "apis" || segments.size() > 2) return std::nullopt;
  const RemoteApiList list = apis_.Of(info.workspace);
  const bool one = segments.size() == 2;
  const bool concerned = std::any_of(list->begin(), list->end(), [&](const RemoteApi& api) {
    return !one || api.group == segments[1];
  });
  if (!concerned) return std::nullopt;
  Request plain = request;
  plain.headers.Remove("if-none-match");
  Response response;
  Json document;
  if (auto known = ours.Answer(plain, info, workspace.catalog)) {
    response = std::move(*known);
    if (auto parsed = ParseJson(response.BodyText()); parsed.ok()) document = std::move(*parsed);
  } else {
    response.headers.Add("vary", "Accept");
    response.headers.Add("content-type", "application/json");
  }
  const bool aggregated = !response.headers.Get("etag").empty();
  Json groups = Json::array();
  if (one && document.is_object()) groups.push_back(document);
  if (!one) groups = document.at(aggregated ? "items" : "groups");
  for (const RemoteApi& api : *list) {
    if (one && api.group != segments[1]) continue;
    if (!aggregated) {
      AddVersion(groups, api, false, LegacyVersion(api));
      continue;
    }
    const Learned learned = LearnedOf(info.workspace, api.name);
    AddVersion(groups, api, true,
               {{"version", api.version},
                {"freshness", api.available ? "Current" : "Stale"},
                {"resources", AggregatedResources(learned.resources, api)}});
  }
  if (one) {
    document = groups.front();
    document["kind"] = "APIGroup";
    document["apiVersion"] = "v1";
  } else {
    document[aggregated ? "items" : "groups"] = std::move(groups);
  }
  const std::string text = DumpJson(document) + "\n";
  response.body.clear();
  if (aggregated) {
    const std::string etag = "\"" + DocumentHash(text) + "\"";
    response.headers.Set("etag", etag);
    if (request.headers.Get("if-none-match") == etag) {
      response.headers.Remove("content-type");
      response.code = 304;
      return response;
    }
  }
  response.Append(text);
  return response;
}

std::optional<Response> Aggregator::Index(const Request& request, const RequestInfo& info,
                                          const WorkspaceView& workspace,
                                          OpenApiPaths& ours) const {
  const auto& segments = info.segments;
  if (segments.size() != 2 || segments[0] != "openapi" || segments[1] != "v3") return std::nullopt;
  const RemoteApiList list = apis_.Of(info.workspace);
  if (list->empty()) return std::nullopt;
  Request plain = request;
  plain.headers.Remove("if-none-match");
  auto index = ours.Answer(plain, info, workspace.catalog);
  auto document = index ? ParseJson(index->BodyText()) : Result<Json>(Json());
  if (!document.ok() || !document->is_object()) return index;
  for (const RemoteApi& api : *list) {
    const std::string url = LearnedOf(info.workspace, api.name).openapi_url;
    if (url.empty() || !api.available) continue;
    Set(*document, {"paths", "apis/" + api.group + "/" + api.version, "serverRelativeURL"},
        info.prefix + url);
  }
  const std::string text = DumpJson(*document);
  const std::string etag = "\"" + DocumentHash(text) + "\"";
  index->headers.Set("etag", etag);
  index->body.clear();
  if (request.headers.Get("if-none-match") == etag) {
    index->headers.Remove("content-type");
    index->code = 304;
    return index;
  }
  index->Append(text);
  return index;
}

}  // namespace mailroom::apiserver
