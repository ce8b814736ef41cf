// Who is believed, and what a rule of a role allows: as tables.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include "apiserver/auth/jwt.h"
#include "apiserver/pki.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kDefault = "/clusters/c1/api/v1/namespaces/default";

apiserver::Server::Options SignedWith(const std::string& key) {
  apiserver::Server::Options options;
  options.identity.token_key_pem = key;
  return options;
}

Json ClaimsOf(const std::string& token) {
  const std::size_t first = token.find('.');
  std::string text;
  apiserver::DecodeUrl64(token.substr(first + 1, token.rfind('.') - first - 1), text);
  return ParseJson(text).value();
}

// Tokens that the server itself might have signed.
class SignedTokens : public testing::Test {
 protected:
  SignedTokens() {
    hub.NewWorkspace("c1", "cluster");
    hub.Do("POST", kDefault + "/serviceaccounts", {{"metadata", {{"name", "robot"}}}});
    const auto asked = hub.Do("POST", kDefault + "/serviceaccounts/robot/token", Json::object());
    EXPECT_EQ(asked.code, 201) << asked.text;
    claims = ClaimsOf(StringAt(asked.body, {"status", "token"}));
  }
  std::string Sign(const Json& changes) {
    Json all = claims;
    all.merge_patch(changes);
    return apiserver::TokenKeys::Load(key, {})->Sign(all);
  }
  int Code(const std::string& token) {
    Request request;
    request.method = "GET";
    request.path = "/clusters/c1/apis";
    request.headers.Add("authorization", "Bearer " + token);
    return hub.Send(std::move(request)).code;
  }
  Json Review(const std::string& token) {
    const auto answer = hub.Do("POST", "/clusters/c1/apis/authentication.k8s.io/v1/tokenreviews",
                               {{"spec", {{"token", token}}}});
    EXPECT_EQ(answer.code, 201) << answer.text;
    return answer.body["status"];
  }

  const std::string key = apiserver::NewPrivateKey().value();
  TestHub hub{SignedWith(key)};
  Json claims;
};

TEST_F(SignedTokens, HoldInTheirTimeForTheirAudienceAndAccount) {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  EXPECT_NE(Code(Sign(Json::object())), 401) << "unchanged";
  EXPECT_EQ(Review(Sign(Json::object()))["authenticated"], true);
  const std::pair<const char*, Json> cases[] = {
      {"expired", {{"exp", now - 60}}},
      {"without an end", {{"exp", nullptr}}},
      {"not yet", {{"nbf", now + 3600}}},
      {"for others", {{"aud", Json::array({"https://elsewhere"})}}},
      {"of another workspace", {{"iss", "https://hub.test/clusters/c2"}}},
      {"of another account", {{"sub", "system:serviceaccount:default:other"}}},
      {"of an account replaced since", {{"kubernetes.io", {{"serviceaccount", {{"uid", "x"}}}}}}},
      {"of an account that never was", {{"kubernetes.io", {{"serviceaccount", {{"name", "y"}}}}}}},
  };
  for (const auto& [what, changes] : cases) {
    const std::string token = Sign(changes);
    EXPECT_EQ(Code(token), 401) << what;
    const Json review = Review(token);
    EXPECT_NE(review.value("authenticated", false), true) << what << review;
    EXPECT_FALSE(review.contains("user") && review["user"].contains("username")) << review;
  }
}

// A rule of a ClusterRole, and what it says to one question each.
struct Truth {
  const char *verbs, *groups, *resources, *names;  // JSON lists
  const char *verb, *group, *resource, *subresource, *name;
  bool allowed;
};

class RuleTable : public testing::Test {
 protected:
  RuleTable() {
    hub.NewWorkspace("c1", "cluster");
    const Json user = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "u"}};
    hub.Do("POST", rbac + "/clusterroles", {{"metadata", {{"name", "r"}}}});
    const auto bound = hub.Do("POST", rbac + "/clusterrolebindings",
                              {{"metadata", {{"name", "r"}}},
                               {"roleRef",
                                {{"apiGroup", "rbac.authorization.k8s.io"},
                                 {"kind", "ClusterRole"},
                                 {"name", "r"}}},
                               {"subjects", Json::array({user})}});
    EXPECT_EQ(bound.code, 201) << bound.text;
  }
  bool Allows(const Json& rule, const Json& asked) {
    const auto set = hub.Do("PATCH", rbac + "/clusterroles/r", {{"rules", Json::array({rule})}},
                            "application/merge-patch+json");
    EXPECT_EQ(set.code, 200) << set.text;
    Json spec = asked;
    spec["user"] = "u";
    const auto answer =
        hub.Do("POST", "/clusters/c1/apis/authorization.k8s.io/v1/subjectaccessreviews",
               {{"spec", spec}});
    EXPECT_EQ(answer.code, 201) << answer.text;
    return BoolAt(answer.body, {"status", "allowed"});
  }
  TestHub hub;
  const std::string rbac = "/clusters/c1/apis/rbac.authorization.k8s.io/v1";
};

TEST_F(RuleTable, OfResources) {
  const char *kAll = R"(["*"])", *kGet = R"(["get"])", *kApps = R"(["apps"])", *kNone = "[]";
  const char *kScales = R"(["*/scale"])", *kDeploys = R"(["deployments"])";
  const char *kStatus = R"(["deployments/status"])", *kMine = R"(["mine"])";
  const char* kSome = R"(["get","list","create","deletecollection"])";
  const Truth rows[] = {
      {kGet, kApps, kDeploys, kNone, "get", "apps", "deployments", "", "x", true},
      {kGet, kApps, kDeploys, kNone, "list", "apps", "deployments", "", "", false},
      {kGet, kApps, kDeploys, kNone, "get", "", "deployments", "", "x", false},
      {kGet, kApps, kDeploys, kNone, "get", "apps", "replicasets", "", "x", false},
      {kGet, kApps, kDeploys, kNone, "get", "apps", "deployments", "status", "x", false},
      {kGet, kApps, kStatus, kNone, "get", "apps", "deployments", "status", "x", true},
      {kGet, kApps, kStatus, kNone, "get", "apps", "deployments", "", "x", false},
      {kGet, kApps, kScales, kNone, "get", "apps", "replicasets", "scale", "x", true},
      {kGet, kApps, kScales, kNone, "get", "apps", "replicasets", "status", "x", false},
      {kGet, kApps, kScales, kNone, "get", "apps", "replicasets", "", "x", false},
      {kAll, kApps, kAll, kNone, "escalate", "apps", "anything", "status", "", true},
      {kAll, kApps, kAll, kNone, "get", "batch", "jobs", "", "", false},
      {kAll, kAll, kAll, kNone, "impersonate", "", "users", "", "root", true},
      {kSome, kApps, kDeploys, kMine, "get", "apps", "deployments", "", "mine", true},
      {kSome, kApps, kDeploys, kMine, "get", "apps", "deployments", "", "yours", false},
      {kSome, kApps, kDeploys, kMine, "list", "apps", "deployments", "", "", false},
      {kSome, kApps, kDeploys, kMine, "create", "apps", "deployments", "", "", false},
      {kSome, kApps, kDeploys, kMine, "deletecollection", "apps", "deployments", "", "", false},
      {kSome, kApps, kDeploys, kMine, "list", "apps", "deployments", "", "mine", true},
  };
  for (const Truth& row : rows) {
    Json rule = {{"verbs", *ParseJson(row.verbs)},
                 {"apiGroups", *ParseJson(row.groups)},
                 {"resources", *ParseJson(row.resources)}};
    if (row.names != kNone) rule["resourceNames"] = *ParseJson(row.names);
    const Json asked = {{"verb", row.verb},         {"group", row.group},
                        {"resource", row.resource}, {"subresource", row.subresource},
                        {"name", row.name},         {"namespace", "default"}};
    EXPECT_EQ(Allows(rule, {{"resourceAttributes", asked}}), row.allowed) << rule << asked;
  }
}

TEST_F(RuleTable, OfPaths) {
  struct Row {
    const char *url, *path;
    bool allowed;
  };
  const Row rows[] = {
      {"/logs", "/logs", true},       {"/logs", "/logs/", false}, {"/logs", "/logs/a", false},
      {"/logs/*", "/logs/a/b", true}, {"/logs/*", "/logs", false}, {"/logs*", "/logsbook", true},
      {"*", "/anything", true},       {"/a/*/b", "/a/x/b", false},
  };
  for (const Row& row : rows) {
    const Json rule = {{"verbs", {"get"}}, {"nonResourceURLs", {row.url}}};
    const Json asked = {{"nonResourceAttributes", {{"verb", "get"}, {"path", row.path}}}};
    EXPECT_EQ(Allows(rule, asked), row.allowed) << row.url << " " << row.path;
    const Json other = {{"nonResourceAttributes", {{"verb", "post"}, {"path", row.path}}}};
    EXPECT_FALSE(Allows(rule, other)) << row.url << " " << row.path;
  }
}

// Of all that is wrong with a request the same is told first as by the original.
TEST(Refusals, ComeOneAfterTheOther) {
  TestHub hub;
  const std::string maps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
  ASSERT_EQ(hub.Do("POST", maps, ConfigMap("taken")).code, 201);
  Request request;
  request.method = "PUT";
  request.path = "/clusters/wds1/nowhere";
  request.query = "dryRun=Some";
  request.body = "{";
  request.headers.Set("accept", "text/html");
  request.headers.Set("content-type", "text/plain");
  request.headers.Set("authorization", "Bearer x");
  request.headers.Set("impersonate-user", "alice");
  struct Step {
    int code;
    const char* told;  // part of the answer
    std::function<void()> mend;
  };
  const Step steps[] = {
      {401, "Unauthorized", [&] {
         request.headers.Remove("authorization");
         request.peer.common_name = "eve";
       }},
      {403, "User \\\"eve\\\" cannot impersonate resource \\\"users\\\"",
       [&] { request.headers.Remove("impersonate-user"); }},
      {403, "User \\\"eve\\\" cannot put path \\\"/nowhere\\\"",
       [&] { request.peer.organizations = {"system:masters"}; }},
      {404, "404 page not found", [&] { request.path = maps; }},
      {405, "MethodNotAllowed", [&] { request.method = "POST"; }},
      {406, "NotAcceptable", [&] { request.headers.Set("accept", "application/json"); }},
      {415, "UnsupportedMediaType", [&] { request.headers.Set("content-type", "application/json"); }},
      {422, "CreateOptions", [&] { request.query.clear(); }},
      {400, "BadRequest", [&] { request.body = R"({"metadata":{"name":"A"}})"; }},
      {422, "metadata.name", [&] { request.body = R"({"metadata":{"name":"taken"}})"; }},
      {409, "AlreadyExists", [&] { request.body = R"({"metadata":{"name":"free"}})"; }},
      {201, "free", [] {}},
  };
  for (const Step& step : steps) {
    const auto answer = hub.Send(request);
    EXPECT_EQ(answer.code, step.code) << answer.text;
    EXPECT_NE(answer.text.find(step.told), std::string::npos) << answer.text;
    step.mend();
  }
}

}  // namespace
}  // namespace mailroom
