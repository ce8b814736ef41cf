#include "apiserver/request_info.h"

#include <gtest/gtest.h>

#include <chrono>

#include "test/support/thread_cpu.h"

namespace mailroom::apiserver {
namespace {

Result<RequestInfo> Parse(const char* method, const char* path, const char* query = "") {
  Request request;
  request.method = method;
  request.path = path;
  request.query = query;
  return ParseRequestInfo(request);
}

struct Case {
  const char* method;
  const char* path;
  const char* query;
  const char* want;  // workspace|verb|group|version|ns|resource|name|subresource
};

class RequestInfoPaths : public testing::TestWithParam<Case> {};

TEST_P(RequestInfoPaths, Reads) {
  const Case& c = GetParam();
  auto info = Parse(c.method, c.path, c.query);
  ASSERT_TRUE(info.ok()) << info.error().message();
  std::string got = info->all_workspaces ? "*" : info->workspace.name();
  if (!info->is_resource) {
    got += "|" + info->verb + "|" + info->path;
  } else {
    got += "|" + info->verb + "|" + info->group + "|" + info->version + "|" + info->ns + "|" +
           info->resource + "|" + info->name + "|" + info->subresource;
  }
  EXPECT_EQ(got, c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, RequestInfoPaths,
    testing::Values(
        Case{"GET", "/api/v1/pods", "", "root|list||v1||pods||"},
        Case{"GET", "/api/v1/pods", "watch=1", "root|watch||v1||pods||"},
        Case{"GET", "/api/v1/pods", "watch=false", "root|list||v1||pods||"},
        Case{"GET", "/clusters/wds1/api/v1/namespaces/a/pods/b", "", "wds1|get||v1|a|pods|b|"},
        Case{"HEAD", "/api/v1/namespaces/a/pods/b", "", "root|get||v1|a|pods|b|"},
        Case{"PUT", "/api/v1/namespaces/a/pods/b/status", "", "root|update||v1|a|pods|b|status"},
        Case{"GET", "/api/v1/namespaces/a", "", "root|get||v1||namespaces|a|"},
        Case{"PUT", "/api/v1/namespaces/a/finalize", "", "root|update||v1||namespaces|a|finalize"},
        Case{"PATCH", "/api/v1/namespaces/a/status", "", "root|patch||v1||namespaces|a|status"},
        Case{"POST", "/apis/apps/v1/namespaces/a/deployments", "",
             "root|create|apps|v1|a|deployments||"},
        Case{"DELETE", "/apis/apps/v1/namespaces/a/deployments", "",
             "root|deletecollection|apps|v1|a|deployments||"},
        Case{"DELETE", "/apis/apps/v1/namespaces/a/deployments/d", "",
             "root|delete|apps|v1|a|deployments|d|"},
        Case{"GET", "/clusters/*/apis/example.com/v1/widgets", "",
             "*|list|example.com|v1||widgets||"},
        Case{"GET", "/clusters/a/clusters/a/api/v1/nodes", "", "a|list||v1||nodes||"},
        Case{"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", "",
             "root|get|rbac.authorization.k8s.io|v1||clusterroles|system:node|"},
        Case{"GET", "/api", "", "root|get|/api"}, Case{"GET", "/apis/apps/v1/", "", "root|get|/apis/apps/v1"},
        Case{"GET", "/clusters/x/version", "", "x|get|/version"}, Case{"GET", "/", "", "root|get|/"},
        // What follows a subresource is no part of what is asked for.
        Case{"GET", "/api/v1/namespaces/a/pods/b/status/extra", "",
             "root|get||v1|a|pods|b|status"},
        Case{"GET", "/apis/g.example.com/v1/namespaces/a/things/b/proxy/c/d/e", "",
             "root|get|g.example.com|v1|a|things|b|proxy"},
        Case{"PUT", "/apis/g.example.com/v1/things/b/c/d/e/f/g", "",
             "root|update|g.example.com|v1||things|b|c"},
        Case{"PUT", "/api/v1/namespaces/a/finalize/b", "", "root|update||v1||namespaces|a|finalize"},
        Case{"GET", "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/m/proxy/api/v1/namespaces/a/pods/b",
             "", "m|get||v1|a|pods|b|"},
        // Verbs of old, before the resource.
        Case{"GET", "/api/v1/watch/namespaces/a/pods/b", "", "root|watch||v1|a|pods|b|"},
        Case{"POST", "/apis/g.example.com/v1/watch/things", "",
             "root|watch|g.example.com|v1||things||"},
        Case{"GET", "/apis/g.example.com/v1/proxy/namespaces/a/things/b/c/d", "",
             "root|proxy|g.example.com|v1|a|things|b|"}));

TEST(RequestInfo, SegmentsAreThoseOfThePath) {
  const auto info = Parse("GET", "/clusters/c/apis/g.example.com/v1/watch/namespaces/a/things");
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->path, "/apis/g.example.com/v1/watch/namespaces/a/things");
  EXPECT_EQ(info->segments.size(), 7u) << "what is passed on is what was asked for";
  EXPECT_EQ(info->path_verb, "watch");
}

TEST(RequestInfo, RefusesPathsThatCouldEscape) {
  for (const char* path :
       {"/clusters/%2e%2e/api/v1/pods", "/api/v1/namespaces/../pods", "/api/v1/namespaces/%2e%2e/pods",
        "/api/v1/namespaces/a%2Fb/pods", "/api/v1/pods/%00", "/clusters/A/api/v1/pods", "/clusters",
        "/clusters/a_b/api", "/api/v1/pods/%", "/api/v1/pods/a%5Cb"}) {
    EXPECT_FALSE(Parse("GET", path).ok()) << path;
  }
}

TEST(RequestInfo, TakesAWorkspaceThatIsNamedAFewTimes) {
  std::string prefix;
  for (int times = 1; times <= 4; ++times) {
    prefix += "/clusters/a";
    const auto info = Parse("GET", (prefix + "/clusters/b/api").c_str());
    ASSERT_TRUE(info.ok()) << prefix;
    EXPECT_EQ(info->workspace.name(), "a");
    EXPECT_EQ(info->path, "/clusters/b/api") << "another name is none of them";
  }
  EXPECT_FALSE(Parse("GET", (prefix + "/clusters/a/api").c_str()).ok());
  for (int i = 0; i < 20'000; ++i) prefix += "/clusters/a";
  const auto start = ThreadCpu();
  EXPECT_FALSE(Parse("GET", prefix.c_str()).ok());
  EXPECT_LT(ThreadCpu() - start, std::chrono::seconds(2));
}

TEST(Query, ReadsBooleansAndIntegersAsTheServerDoes) {
  Query query("a&b=0&c=FALSE&d=no&e=12&f=x&g=");
  EXPECT_TRUE(query.Bool("a"));
  EXPECT_FALSE(query.Bool("b"));
  EXPECT_FALSE(query.Bool("c"));
  EXPECT_TRUE(query.Bool("d"));
  EXPECT_FALSE(query.Bool("none"));
  EXPECT_EQ(*query.Int("e"), 12);
  EXPECT_EQ(*query.Int("none"), 0);
  EXPECT_FALSE(query.Int("f").ok());
  EXPECT_EQ(query.Int("g").error().message(), "strconv.ParseInt: parsing \"\": invalid syntax");
}

}  // namespace
}  // namespace mailroom::apiserver
