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

// A group as it is shown: versions of ours as they are in our own document, and those of others.
struct ShownVersion {
  Json ours;
  const RemoteApi* elsewhere = nullptr;
};
struct ShownGroup {
  std::string name;
  std::vector<ShownVersion> versions;
};

std::vector<ShownGroup> OurGroups(const Json& groups, bool aggregated) {
  std::vector<ShownGroup> out;
  for (const Json& group : groups) {
    ShownGroup shown{aggregated ? StringAt(group, {"metadata", "name"}) : StringAt(group, {"name"}),
                     {}};
    for (const Json& version : group.at("versions")) shown.versions.push_back({version});
    out.push_back(std::move(shown));
  }
  return out;
}

// Puts a version into the group of its name, which is made, where its priority says, when absent.
// Versions come by falling priority; those of ours, which have 100 at most, are there already.
void AddVersion(std::vector<ShownGroup>& groups, const RemoteApi& api) {
  auto it = std::find_if(groups.begin(), groups.end(),
                         [&](const ShownGroup& group) { return group.name == api.group; });
  if (it == groups.end()) {
    it = std::find_if(groups.begin(), groups.end(), [&](const ShownGroup& group) {
      const std::int64_t priority = PriorityOf(group.name);
      return priority < api.group_priority ||
             (priority == api.group_priority && api.group < group.name);
    });
    it = groups.insert(it, {api.group, {}});
  }
  it->versions.push_back({nullptr, &api});
}

// A text in pieces, some of which others hold too.
class Pieces {
 public:
  Pieces& operator<<(std::string_view text) {
    open_ += text;
    return *this;
  }
  void Share(SharedBytes piece, const std::string& hash) {
    Close();
    hashes_ += hash;
    done_.push_back(std::move(piece));
  }
  // What the pieces are; a name for all of them together.
  std::vector<SharedBytes> Take(std::string& hash) {
    Close();
    hash = DocumentHash(hashes_);
    return std::move(done_);
  }

 private:
  void Close() {
    if (open_.empty()) return;
    hashes_ += open_;
    done_.push_back(std::make_shared<const std::string>(std::move(open_)));
    open_.clear();
  }
  std::string open_, hashes_;  // hashes_: the texts, and the hashes of what is shared
  std::vector<SharedBytes> done_;
};

Json LegacyVersion(const RemoteApi& api) {
  return {{"groupVersion", api.group + "/" + api.version}, {"version", api.version}};
}

Json LegacyGroup(const ShownGroup& group) {
  Json versions = Json::array();
  for (const ShownVersion& version : group.versions) {
    versions.push_back(version.elsewhere ? LegacyVersion(*version.elsewhere) : version.ours);
  }
  Json preferred = versions.front();
  return {{"name", group.name}, {"versions", std::move(versions)},
          {"preferredVersion", std::move(preferred)}};
}

using LearnedMap = std::map<std::string, Aggregator::LearnedPtr>;

void WriteVersion(Pieces& out, const ShownVersion& version, const LearnedMap& learned) {
  if (version.elsewhere == nullptr) return void(out << DumpJson(version.ours));
  const RemoteApi& api = *version.elsewhere;
  out << "{\"version\":" << JsonQuote(api.version) << ",\"freshness\":"
      << (api.available ? "\"Current\"" : "\"Stale\"") << ",\"resources\":";
  if (const auto known = learned.find(api.name); known != learned.end()) {
    out.Share(known->second->resources, known->second->hash);
  } else {
    out << "[]";
  }
  out << "}";
}

void WriteGroup(Pieces& out, const ShownGroup& group, const LearnedMap& learned) {
  out << "{\"metadata\":{\"name\":" << JsonQuote(group.name) << "},\"versions\":[";
  for (std::size_t i = 0; i < group.versions.size(); ++i) {
    if (i > 0) out << ",";
    WriteVersion(out, group.versions[i], learned);
  }
  out << "]}";
}

// The list of all groups, `document` being ours.
Pieces GroupList(Json document, const RemoteApiList& list, bool aggregated,
                 const LearnedMap& learned) {
  const char* const member = aggregated ? "items" : "groups";
  std::vector<ShownGroup> groups = OurGroups(document.at(member), aggregated);
  for (const RemoteApi& api : *list) AddVersion(groups, api);
  document.erase(member);
  std::string frame = DumpJson(document);
  frame.pop_back();
  Pieces out;
  out << frame << ",\"" << member << "\":[";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) out << ",";
    if (aggregated) {
      WriteGroup(out, groups[i], learned);
    } else {
      out << DumpJson(LegacyGroup(groups[i]));
    }
  }
  out << "]}\n";
  return out;
}

// One group, `ours` being what we have of it, or null.
Json OneGroup(const Json& ours, const std::string& name, const RemoteApiList& list) {
  std::vector<ShownGroup> groups;
  if (ours.is_object()) groups = OurGroups(Json::array({ours}), false);
  for (const RemoteApi& api : *list) {
    if (api.group == name) AddVersion(groups, api);
  }
  Json document = LegacyGroup(groups.front());
  document["kind"] = "APIGroup";
  document["apiVersion"] = "v1";
  return document;
}

// What we alone would answer.
Json OurDocument(const Response& ours) {
  auto parsed = ParseJson(ours.BodyText());
  return parsed.ok() ? std::move(*parsed) : Json();
}

}  // namespace

Aggregator::Shown Aggregator::ShownAs(const std::string& form, const WorkspaceView& workspace,
                                      const RemoteApiList& list,
                                      const std::function<Shown(const LearnedMap&)>& make) const {
  std::uint64_t changed = 0;
  LearnedMap learned;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = heard_.find(workspace.name); found != heard_.end()) {
      const Heard& heard = found->second;
      const auto shown = heard.shown.find(form);
      const bool holds = heard.list == list && heard.catalog == workspace.catalog;
      if (holds && shown != heard.shown.end()) return shown->second;
      changed = heard.changed;
      learned = heard.learned;
    }
  }
  const Shown shown = make(learned);
  std::lock_guard lock(mutex_);
  Heard& now = heard_[workspace.name];
  if (now.changed != changed) return shown;  // the next answer knows more
  if (now.list != list || now.catalog != workspace.catalog) now.shown.clear();
  now.list = list;
  now.catalog = workspace.catalog;
  now.shown[form] = shown;
  return shown;
}

Aggregator::Shown Aggregator::GroupsShown(const WorkspaceView& workspace, const RemoteApiList& list,
                                          const Response& ours) const {
  return ShownAs(std::string(ours.headers.Get("content-type")), workspace, list,
                 [&](const LearnedMap& learned) {
                   const bool aggregated = !ours.headers.Get("etag").empty();
                   Pieces pieces = GroupList(OurDocument(ours), list, aggregated, learned);
                   Shown shown;
                   shown.body = pieces.Take(shown.hash);
                   return shown;
                 });
}

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
  Request plain;
  for (std::string_view accepted : request.headers.All("accept")) {
    plain.headers.Add("accept", std::string(accepted));
  }
  std::optional<Response> known = ours.Answer(plain, info, workspace.catalog);
  Response response;
  if (known) response.headers = known->headers;
  if (one) {
    response.headers.Set("vary", "Accept");
    response.headers.Set("content-type", "application/json");
    response.Append(DumpJson(OneGroup(known ? OurDocument(*known) : Json(), segments[1], list)) + "\n");
    return response;
  }
  if (!known) return std::nullopt;
  Shown shown = GroupsShown(workspace, list, *known);
  if (!response.headers.Get("etag").empty()) {
    const std::string etag = "\"" + shown.hash + "\"";
    response.headers.Set("etag", etag);
    if (request.headers.Get("if-none-match") == etag) {
      response.headers.Remove("content-type");
      response.code = 304;
      return response;
    }
  }
  response.body = std::move(shown.body);
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
    const LearnedPtr learned = LearnedOf(info.workspace, api.name);
    if (learned == nullptr || learned->openapi_url.empty() || !api.available) continue;
    Set(*document, {"paths", "apis/" + api.group + "/" + api.version, "serverRelativeURL"},
        info.prefix + learned->openapi_url);
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
