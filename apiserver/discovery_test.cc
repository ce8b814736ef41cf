#include "apiserver/discovery.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(DumpJson(*Find(hub.Get("/api").body, {"versions"})), "[\"v1\"]");
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
