#include "apiserver/discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "apiserver/openapi_paths.h"
#include "apiserver/test_mailboxes.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

class DiscoveryTest : public testing::Test {
 protected:
  TestHub hub;
};

TEST_F(DiscoveryTest, LegacyDocuments) {
  EXPECT_EQ(hub.Get("/clusters/wds1/api").body,
            (Json{{"kind", "APIVersions"},
                  {"versions", {"v1"}},
                  {"serverAddressByClientCIDRs",
                   {{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", "hub.test:443"}}}}}));
  auto core = hub.Get("/clusters/wds1/api/v1/");
  EXPECT_EQ(StringAt(core.body, {"kind"}), "APIResourceList");
  bool status = false;
  for (const Json& resource : *Find(core.body, {"resources"})) {
    status = status || StringAt(resource, {"name"}) == "namespaces/status";
    if (StringAt(resource, {"name"}) == "configmaps") {
      EXPECT_EQ(StringsAt(resource, {"shortNames"}), std::vector<std::string>{"cm"});
      EXPECT_FALSE(StringAt(resource, {"storageVersionHash"}).empty());
    }
  }
  EXPECT_TRUE(status);
  EXPECT_EQ(StringAt(hub.Get("/apis/apps").body, {"kind"}), "APIGroup");
  EXPECT_EQ(hub.Get("/apis/nosuch.example").code, 404);
}

TEST_F(DiscoveryTest, AggregatedDocumentsHaveTypeAndEtag) {
  auto groups = hub.GetAs("/clusters/wds1/apis", kAggregated);
  EXPECT_EQ(groups.headers.Get("content-type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(StringAt(groups.body, {"kind"}), "APIGroupDiscoveryList");
  for (const Json& group : *Find(groups.body, {"items"})) {
    for (const Json& version : *Find(group, {"versions"})) {
      for (const Json& resource : *Find(version, {"resources"})) {
        EXPECT_FALSE(StringAt(resource, {"responseKind", "kind"}).empty());
      }
    }
  }
  Request again;
  again.method = "GET";
  again.path = "/clusters/wds1/apis";
  again.peer.common_name = "admin";
  again.peer.organizations = {"system:masters"};
  again.headers.Add("accept", kAggregated);
  again.headers.Add("if-none-match", std::string(groups.headers.Get("etag")));
  EXPECT_EQ(hub.Send(again).code, 304);
}

TEST_F(DiscoveryTest, OlderClientsGetTheOlderAggregatedForm) {
  const std::string older =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  for (const char* path : {"/clusters/wds1/api", "/clusters/wds1/apis"}) {
    const auto answer = hub.GetAs(path, older + ",application/json");
    EXPECT_EQ(answer.code, 200);
    EXPECT_EQ(answer.headers.Get("content-type"), older);
    EXPECT_EQ(StringAt(answer.body, {"apiVersion"}), "apidiscovery.k8s.io/v2beta1");
    Json newer = hub.GetAs(path, kAggregated).body;
    EXPECT_EQ(StringAt(newer, {"apiVersion"}), "apidiscovery.k8s.io/v2");
    newer["apiVersion"] = "apidiscovery.k8s.io/v2beta1";
    EXPECT_EQ(answer.body, newer) << "but for the version it is the same";
    // The newer form, for a client that takes both and names it first.
    const auto both = hub.GetAs(path, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
                                          older + ",application/json");
    EXPECT_EQ(StringAt(both.body, {"apiVersion"}), "apidiscovery.k8s.io/v2");
  }
}

// Known from clusters in the field; kube-storage-version-migrator compares them.
TEST_F(DiscoveryTest, StorageVersionHashesAreTheOriginals) {
  struct Row {
    const char *path, *resource, *hash;
  };
  const Row rows[] = {
      {"api/v1", "configmaps", "qFsyl6wFWjQ="},      {"api/v1", "pods", "xPOwRZ+Yhw8="},
      {"api/v1", "services", "0/CO1lhkEBI="},        {"api/v1", "secrets", "S6u1pOWzb84="},
      {"api/v1", "nodes", "XwShjMxG9Fs="},           {"api/v1", "namespaces", "Q3oi5N2YM8M="},
      {"api/v1", "events", "r2yiGXH7wu8="},          {"api/v1", "serviceaccounts", "pbx9ZvyFpBE="},
      {"apis/apps/v1", "deployments", "8aSe+NMegvE="}, {"apis/apps/v1", "replicasets", "P1RzHs8/mWQ="},
      {"apis/batch/v1", "jobs", "mudhfqk/qZY="},
      // Events of both groups are stored as those of core.
      {"apis/events.k8s.io/v1", "events", "r2yiGXH7wu8="},
      // All versions of a kind have one.
      {"apis/autoscaling/v1", "horizontalpodautoscalers", "qwQve8ut294="},
      {"apis/autoscaling/v2", "horizontalpodautoscalers", "qwQve8ut294="},
  };
  for (const Row& row : rows) {
    const auto list = hub.Get("/clusters/wds1/" + std::string(row.path));
    std::string found = "none";
    for (const Json& resource : list.body["resources"]) {
      if (StringAt(resource, {"name"}) == row.resource) found = StringAt(resource, {"storageVersionHash"});
    }
    EXPECT_EQ(found, row.hash) << row.path << " " << row.resource;
  }
  const auto reviews = hub.Get("/clusters/wds1/apis/authorization.k8s.io/v1").body;
  for (const Json& resource : reviews["resources"]) {
    EXPECT_FALSE(resource.contains("storageVersionHash")) << "nothing is stored";
  }
}

// One line for each resource and subresource of a workspace of type `cluster`.
TEST_F(DiscoveryTest, ClustersServeWhatTheListSays) {
  const std::string prefix = hub.NewWorkspace("c", "cluster");
  const auto words = [](const char* label, const Json& from, const char* member) {
    std::string out;
    for (const std::string& word : StringsAt(from, {member})) out += (out.empty() ? "" : ",") + word;
    return out.empty() ? out : std::string(" ") + label + "=" + out;
  };
  const auto kind = [](const Json& from, const std::string& group, const std::string& version) {
    const Json& gvk = from["responseKind"];
    std::string out = " " + StringAt(gvk, {"kind"});
    if (StringAt(gvk, {"group"}) == group && StringAt(gvk, {"version"}) == version) return out;
    return out + "@" + StringAt(gvk, {"group"}) + "/" + StringAt(gvk, {"version"});
  };
  std::string found;
  for (const char* root : {"/api", "/apis"}) {
    const Json list = hub.GetAs(prefix + root, kAggregated).body;
    for (const Json& group : list["items"]) {
      const std::string name = StringAt(group, {"metadata", "name"});
      for (const Json& served : group["versions"]) {
        const std::string version = StringAt(served, {"version"});
        found += (name.empty() ? "" : name + "/") + version + "\n";
        for (const Json& resource : served["resources"]) {
          found += "  " + StringAt(resource, {"resource"}) + kind(resource, name, version) + " " +
                   StringAt(resource, {"scope"}) + words("short", resource, "shortNames") +
                   words("categories", resource, "categories") + words("verbs", resource, "verbs") + "\n";
          if (!resource.contains("subresources")) continue;
          for (const Json& sub : resource["subresources"]) {
            found += "    " + StringAt(sub, {"subresource"}) + kind(sub, name, version) +
                     words("verbs", sub, "verbs") + "\n";
          }
        }
      }
    }
  }
  std::ifstream file(MAILROOM_TEST_DATA "/discovery.txt");
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(found, expected.str());
}

// As hack/documents reads a document.
Json Plain(const Json& node) {
  if (node.is_array()) {
    Json out = Json::array();
    for (const Json& element : node) out.push_back(Plain(element));
    return out;
  }
  if (!node.is_object()) return node;
  Json out = Json::object();
  for (const auto& [name, value] : node.items()) {
    const bool words = name == "description" && value.is_string();
    const bool values = name == "enum" && value.is_array();
    if (!words && !values && name.find("cbor") == std::string::npos) out[name] = Plain(value);
  }
  if (out.size() == 1 && out.contains("allOf") && out["allOf"].size() == 1) return out["allOf"][0];
  return out;
}

// Every path, operation, parameter and model of every document is the original's.
TEST_F(DiscoveryTest, OpenApiDocumentsAreTheOriginals) {
  const std::string prefix = hub.NewWorkspace("c", "cluster");
  std::ifstream file(MAILROOM_TEST_DATA "/documents.txt");
  int documents = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::string path = line.substr(0, line.find(' '));
    const Json document = hub.Get(prefix + "/openapi/v3/" + path).body;
    Json kept = Json::object();
    for (const char* part : {"components", "paths"}) {
      if (document.contains(part)) kept[part] = Plain(document[part]);
    }
    EXPECT_EQ(apiserver::DocumentHash(DumpJson(kept)).substr(0, 32), line.substr(path.size() + 1)) << path;
    ++documents;
  }
  EXPECT_EQ(documents, 47);
}

TEST_F(DiscoveryTest, OpenApiUrlsCarryThePrefixAndTheHash) {
  auto index = hub.Get("/clusters/wds1/openapi/v3");
  const std::string url = StringAt(index.body, {"paths", "apis/apps/v1", "serverRelativeURL"});
  ASSERT_TRUE(url.starts_with("/clusters/wds1/openapi/v3/apis/apps/v1?hash=")) << url;
  auto document = hub.Get(url);
  EXPECT_EQ(document.code, 200);
  EXPECT_EQ(document.headers.Get("cache-control"), "public, immutable");
  const Json* patch = Find(document.body, {"paths", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}",
                                           "patch", "requestBody", "content"});
  ASSERT_NE(patch, nullptr);
  EXPECT_TRUE(patch->contains("application/strategic-merge-patch+json"));
  EXPECT_NE(Find(document.body, {"components", "schemas", "io.k8s.api.core.v1.PodSpec"}), nullptr);
  auto stale = hub.Get("/clusters/wds1/openapi/v3/apis/apps/v1?hash=OLD");
  EXPECT_EQ(stale.code, 301);
  EXPECT_EQ(stale.headers.Get("location"), url);
}

// kube-aggregator answers 502 to a redirection of an extension server.
TEST_F(DiscoveryTest, OpenApiRedirectsNobodyBehindAnAggregator) {
  MakeMailboxes(hub, 1);
  const std::string fresh = ProxyRoad(0) + "/openapi/v3/apis/apps/v1";
  const auto document = hub.Get(fresh);
  ASSERT_EQ(document.code, 200) << document.text;
  const auto stale = hub.Get(fresh + "?hash=OLD");
  EXPECT_EQ(stale.code, 200);
  EXPECT_EQ(stale.text, document.text);
  EXPECT_EQ(stale.headers.Get("cache-control"), document.headers.Get("cache-control"));
  const auto index = hub.Get(ProxyRoad(0) + "/openapi/v3");
  const std::string named = StringAt(index.body, {"paths", "apis/apps/v1", "serverRelativeURL"});
  EXPECT_EQ(hub.Get(named).headers.Get("cache-control"), "public, immutable");
  Request request = AsProxied(0, At("", {"GET", "/openapi/v3/apis/apps/v1", "hash=OLD", true}));
  EXPECT_EQ(hub.Send(request).code, 200);
}

TEST_F(DiscoveryTest, OpenApiDescribesPathsOfTheServer) {
  const auto index = hub.Get("/clusters/wds1/openapi/v3");
  struct Row {
    const char *path, *operation, *media;
  };
  const Row rows[] = {
      {"version", "getCodeVersion", "application/json"},
      {".well-known/openid-configuration", "getServiceAccountIssuerOpenIDConfiguration",
       "application/json"},
      {"openid/v1/jwks", "getServiceAccountIssuerOpenIDKeyset", "application/jwk-set+json"},
      {"api", "getCoreAPIVersions", "application/yaml"},
      {"apis", "getAPIVersions", "application/vnd.kubernetes.protobuf"},
      {"apis/apps", "getAppsAPIGroup", "application/json"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.path);
    const std::string path = row.path;
    const std::string url = StringAt(index.body, {"paths", row.path, "serverRelativeURL"});
    ASSERT_TRUE(url.starts_with("/clusters/wds1/openapi/v3/" + path + "?hash=")) << url;
    const auto document = hub.Get(url);
    EXPECT_EQ(document.code, 200);
    const Json* get = Find(document.body, {"paths", "/" + path + "/", "get"});
    ASSERT_NE(get, nullptr) << document.text;
    EXPECT_EQ(StringAt(*get, {"operationId"}), row.operation);
    EXPECT_NE(Find(*get, {"responses", "200", "content", row.media}), nullptr);
    EXPECT_EQ(StringAt(document.body, {"info", "version"}), "1.36");
    EXPECT_EQ(hub.GetAs("/clusters/wds1/openapi/v3/" + path,
                        "application/com.github.proto-openapi.spec.v3@v1.0+protobuf").code, 200);
    EXPECT_EQ(hub.Get("/clusters/wds1/" + path).code, 200) << "what is described is there";
  }
  // What /version says is what its schema knows.
  const auto document = hub.Get("/clusters/wds1/openapi/v3/version");
  const Json* info = Find(document.body, {"components", "schemas", "io.k8s.apimachinery.pkg.version.Info"});
  ASSERT_NE(info, nullptr);
  const auto version = hub.Get("/version").body;
  for (const auto& [member, value] : version.items()) {
    EXPECT_NE(Find(*info, {"properties", member}), nullptr) << member;
  }
  for (const char* none : {"versions", "api/v2", "apis/apps1", "apis/", "api/v1/", "logs", "api/v1/x", "apis/apps/v1/x", "apis/apps/v7"}) {
    EXPECT_EQ(hub.Get("/clusters/wds1/openapi/v3/" + std::string(none)).code, 404) << none;
  }
}

TEST_F(DiscoveryTest, NothingIsRememberedOfDocumentsThatAreNot) {
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kWds);
  apiserver::DocumentCache cache;
  apiserver::OpenApiPaths paths(cache, nullptr);
  const auto remembers = [&](const std::string& path) {
    Request request;
    request.method = "GET";
    request.path = "/openapi/v3/" + path;
    (void)paths.Answer(request, *apiserver::ParseRequestInfo(request), catalog);
    bool made = false;
    cache.Get(catalog, "v3/" + path, [&] {
      made = true;
      return std::string("made by the test");
    });
    return !made;
  };
  EXPECT_TRUE(remembers("apis/apps/v1"));
  EXPECT_TRUE(remembers("api/v1"));
  EXPECT_TRUE(remembers("version"));
  for (const char* none : {"apis/any.example.com/v1", "apis/apps/v7", "api/v2", "apis/x/y", "nowhere"}) {
    EXPECT_FALSE(remembers(none)) << none;
  }
}

TEST_F(DiscoveryTest, EqualDocumentsOfDifferentCatalogsAreOne) {
  apiserver::DocumentCache cache;
  const auto get = [&](openapi::WorkspaceType type, const char* text) {
    return cache.Get(openapi::BaseCatalog(type), "key", [&] { return std::string(text); });
  };
  const auto one = get(openapi::WorkspaceType::kWds, "text");
  const auto other = get(openapi::WorkspaceType::kCluster, "text");
  EXPECT_EQ(one.body, other.body);
  EXPECT_EQ(one.hash, other.hash);
  EXPECT_NE(get(openapi::WorkspaceType::kRoot, "other").body, one.body);
}

TEST_F(DiscoveryTest, EveryPathThatTheRootNamesIsThere) {
  const auto root = hub.Get("/clusters/wds1/");
  const std::vector<std::string> paths = StringsAt(root.body, {"paths"});
  EXPECT_GT(paths.size(), 60u);
  for (const std::string& path : paths) {
    if (path == "/openapi/v3/") continue;  // what is below it
    EXPECT_EQ(hub.Get("/clusters/wds1" + path).code, 200) << path;
  }
  for (const char* path : {"/livez/etcd", "/readyz/informer-sync", "/openid/v1/jwks", "/apis/apps/v1"}) {
    EXPECT_NE(std::find(paths.begin(), paths.end(), path), paths.end()) << path;
  }
}

TEST_F(DiscoveryTest, TheIndexKeepsHashesAndNoDocuments) {
  const auto catalog = openapi::BaseCatalog(openapi::WorkspaceType::kWds);
  apiserver::DocumentCache cache;
  const auto text = [] { return std::string("a document"); };
  const std::string hash = cache.Hash(catalog, "key", text);
  EXPECT_EQ(hash, apiserver::DocumentHash("a document"));
  bool made = false;
  const auto again = [&] {
    made = true;
    return text();
  };
  EXPECT_EQ(cache.Hash(catalog, "key", again), hash);
  EXPECT_FALSE(made);
  EXPECT_EQ(*cache.Get(catalog, "key", again).body, "a document");
  EXPECT_TRUE(made);
}

TEST_F(DiscoveryTest, OpenApiDocumentsAreJsonOrProtobufByTheBestClause) {
  const std::string three = "/clusters/wds1/openapi/v3/apis/apps/v1";
  const std::string two = "/clusters/wds1/openapi/v2";
  const std::string proto = "application/com.github.proto-openapi.spec.v";
  for (const auto& [path, number] : {std::pair{three, "3"}, std::pair{two, "2"}}) {
    const std::string older = proto + number + "@v1.0+protobuf";
    const std::string newer = proto + number + ".v1.0+protobuf";
    EXPECT_EQ(hub.GetAs(path, older).headers.Get("content-type"), newer);
    EXPECT_EQ(hub.GetAs(path, newer + ", application/json;q=0.5").headers.Get("content-type"), newer);
    EXPECT_EQ(hub.GetAs(path, "application/json, " + older).headers.Get("content-type"),
              "application/json");
    EXPECT_EQ(hub.GetAs(path, "text/html, */*;q=0.8").headers.Get("content-type"),
              "application/json");
    const auto refused = hub.GetAs(path, "application/yaml");
    EXPECT_EQ(refused.code, 406);
    EXPECT_EQ(refused.text, "");
  }
  // One hash, that of the JSON form, names both.
  const auto json = hub.Get(three), binary = hub.GetAs(three, proto + "3@v1.0+protobuf");
  EXPECT_EQ(json.headers.Get("etag"), binary.headers.Get("etag"));
  EXPECT_NE(json.text, binary.text);
  EXPECT_EQ(binary.headers.Get("vary"), "Accept");
}

TEST_F(DiscoveryTest, EveryReferenceInEveryDocumentResolves) {
  for (const char* workspace : {"root", "its1", "wds1"}) {
    auto index = hub.Get("/clusters/" + std::string(workspace) + "/openapi/v3");
    for (const auto& [path, entry] : Find(index.body, {"paths"})->items()) {
      auto document = hub.Get(StringAt(entry, {"serverRelativeURL"}));
      ASSERT_EQ(document.code, 200);
      const Json* schemas = Find(document.body, {"components", "schemas"});
      std::size_t at = 0;
      const std::string mark = "\"#/components/schemas/";
      while ((at = document.text.find(mark, at)) != std::string::npos) {
        at += mark.size();
        const std::string model = document.text.substr(at, document.text.find('"', at) - at);
        EXPECT_TRUE(schemas->contains(model)) << path << " " << model;
      }
    }
  }
}

TEST_F(DiscoveryTest, HealthAndVersion) {
  EXPECT_EQ(hub.Get("/healthz").text, "ok");
  EXPECT_NE(hub.Get("/readyz?verbose").text.find("[+]ping ok\n"), std::string::npos);
  EXPECT_EQ(StringAt(hub.Get("/version").body, {"major"}), "1");
}

}  // namespace
}  // namespace mailroom
