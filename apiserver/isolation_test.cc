// Nobody sees or touches what is not theirs: a matrix of credentials and mailboxes over every road
// in, canaries, spoofed headers, tricks with paths, and watches whose rights end.
#include <gtest/gtest.h>

#include <set>

#include "apiserver/auth/user.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

constexpr int kMailboxes = 200;  // for the authorizer
constexpr int kAsked = 40;       // for whole requests

std::string MailboxName(int i) { return "its1-mb-" + std::to_string(i); }
const std::string kProxy = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/";

struct Probe {
  const char* method;
  const char* path;
  const char* query;
};
// One of every verb, on resources, subresources and other paths.
const Probe kProbes[] = {
    {"GET", "/api/v1/namespaces/default/secrets/canary", ""},
    {"GET", "/api/v1/namespaces/default/secrets", ""},
    {"GET", "/api/v1/namespaces/default/secrets", "watch=true&timeoutSeconds=1"},
    {"POST", "/api/v1/namespaces/default/secrets", ""},
    {"PUT", "/api/v1/namespaces/default/secrets/canary", ""},
    {"PATCH", "/api/v1/namespaces/default/secrets/canary", ""},
    {"DELETE", "/api/v1/namespaces/default/secrets/canary", ""},
    {"DELETE", "/api/v1/namespaces/default/secrets", ""},
    {"PUT", "/apis/apps/v1/namespaces/default/deployments/d/status", ""},
    {"POST", "/api/v1/namespaces/default/serviceaccounts/default/token", ""},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", ""},
    {"POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", ""},
    {"GET", "/apis", ""},
    {"GET", "/openapi/v3", ""},
    {"GET", "/nowhere", ""},
};

class Isolation : public testing::Test {
 protected:
  void MakeMailboxes(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = MailboxName(i);
      hub.NewWorkspace(name, "mailbox");
      ASSERT_EQ(hub.Do("POST", kProxy.substr(0, kProxy.size() - 1),
                       {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Mailbox"},
                        {"metadata", {{"name", name}}},
                        {"spec", {{"inventory", "its1"}, {"syncTargetName", "t"}, {"syncTargetUID", "u"},
                                  {"workspace", name}}}}).code, 201);
      ASSERT_EQ(hub.Do("POST", "/clusters/" + name + "/api/v1/namespaces/default/secrets",
                       {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "canary"}}},
                        {"stringData", {{"c", Canary(i)}}}}).code, 201);
    }
  }
  static std::string Canary(int i) { return "canary-of-" + std::to_string(i) + "-"; }

  static Request As(int syncer, const Probe& probe, const std::string& base) {
    Request request;
    request.method = probe.method;
    request.path = base + probe.path;
    request.query = probe.query;
    request.peer.common_name = std::string(apiserver::kSyncerPrefix) + MailboxName(syncer);
    request.peer.organizations = {std::string(apiserver::kSyncers)};
    return request;
  }

  TestHub hub;
};

TEST_F(Isolation, OnlyTheDiagonalOfTheMatrixIsOpen) {
  MakeMailboxes(kAsked);
  const std::size_t probes = std::size(kProbes);
  std::size_t allowed = 0, asked = 0;
  for (int i = 0; i < kAsked; ++i) {
    for (int j = 0; j < kAsked; ++j) {
      // Each pair meets one probe on each road; every probe meets hundreds of pairs.
      const Probe& probe = kProbes[static_cast<std::size_t>(i * 7 + j * 13) % probes];
      for (const std::string& base : {"/clusters/" + MailboxName(j), kProxy + MailboxName(j) + "/proxy"}) {
        const auto answer = hub.Send(As(i, probe, base));
        ++asked;
        if (i != j) {
          ASSERT_EQ(answer.code, 403) << i << " " << j << " " << probe.method << base << probe.path;
        } else if (answer.code != 403) {
          ++allowed;
        }
      }
    }
  }
  EXPECT_EQ(asked, 2u * kAsked * kAsked);
  EXPECT_GT(allowed, 0u);
}

TEST_F(Isolation, TheAuthorizerKnowsNoExceptionFromTheMatrix) {
  const apiserver::Authorizer& authorizer = hub.server().dispatcher().hub().authorizer;
  std::vector<apiserver::User> users;
  std::vector<std::string> names;
  for (int i = 0; i < kMailboxes; ++i) {
    names.push_back(MailboxName(i));
    users.push_back({std::string(apiserver::kSyncerPrefix) + names.back(),
                     {std::string(apiserver::kSyncers), "system:authenticated"}});
    users.back().home = names.back();
  }
  const char* verbs[] = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
                         "impersonate", "escalate", "bind", "approve", "*"};
  for (int i = 0; i < kMailboxes; ++i) {
    for (int j = 0; j < kMailboxes; ++j) {
      for (const char* verb : verbs) {
        apiserver::Attributes asked;
        asked.workspace = names[static_cast<std::size_t>(j)];
        asked.verb = verb;
        asked.resource = "secrets";
        asked.ns = "default";
        asked.name = "canary";
        const bool allowed = authorizer.Decide(users[static_cast<std::size_t>(i)], asked).allowed;
        const bool reads = verb == std::string_view("get") || verb == std::string_view("list") ||
                           verb == std::string_view("watch");
        ASSERT_EQ(allowed, i == j && reads) << i << j << verb;
      }
    }
  }
}

TEST_F(Isolation, CanariesStayAtHome) {
  constexpr int kFew = 12;
  MakeMailboxes(kFew);
  const std::string mine = std::string(apiserver::kSyncerPrefix) + MailboxName(0);
  std::string seen;
  for (int j = 1; j < kFew; ++j) {
    for (const Probe& probe : kProbes) {
      for (const std::string& base : {"/clusters/" + MailboxName(j), kProxy + MailboxName(j) + "/proxy",
                                      "/clusters/" + MailboxName(0) + "/clusters/" + MailboxName(j),
                                      std::string("/clusters/*"), std::string("/clusters/root"), std::string()}) {
        const auto answer = hub.Send(As(0, probe, base));
        EXPECT_GE(answer.code, 400) << base << probe.path;
        seen += answer.text;
        for (const auto& [name, value] : answer.headers.fields()) seen += value;
      }
    }
  }
  EXPECT_EQ(seen.find("canary-of-"), std::string::npos);
  const auto own = hub.Send(As(0, {"GET", "/api/v1/secrets", ""}, "/clusters/" + MailboxName(0)));
  EXPECT_EQ(own.code, 200);
  EXPECT_EQ(own.text.find("canary-of-1"), std::string::npos);
  TestWatch admin(hub, "/clusters/" + MailboxName(0) + "/api/v1/secrets?watch=true&resourceVersion=0");
  hub.Do("POST", "/clusters/" + MailboxName(1) + "/api/v1/namespaces/default/secrets",
         {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "later"}}}, {"stringData", {{"c", Canary(1)}}}});
  hub.Do("POST", "/clusters/" + MailboxName(0) + "/api/v1/namespaces/default/secrets",
         {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "mine-later"}}}});
  std::vector<std::string> names;
  while (names.empty() || names.back() != "mine-later") {
    const Json event = admin.Next();
    ASSERT_FALSE(event.is_null());
    names.push_back(StringAt(event, {"object", "metadata", "name"}));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"canary", "mine-later"}));
}

TEST_F(Isolation, PathsThatTrickAreRefused) {
  MakeMailboxes(2);
  const std::string a = MailboxName(0), b = MailboxName(1);
  const std::string rest = "/api/v1/namespaces/default/secrets/canary";
  for (const std::string& path :
       {"/clusters/" + a + "/../" + b + rest, "/clusters/" + a + "/%2e%2e/" + b + rest,
        "/clusters/" + a + "/%2E%2E/" + b + rest, "/clusters/" + a + "%2F..%2F" + b + rest,
        "/clusters/" + a + "%2f" + b + rest, "/clusters/" + a + "/./../" + b + rest,
        "/clusters/" + a + "/..%5c" + b + rest, "/clusters/" + a + "%00" + b + rest,
        "/clusters/" + a + "/clusters/" + b + rest, "//clusters//" + b + rest, "/clusters/" + b + "/" + rest,
        "/Clusters/" + a + rest, "/clusters/ITS1-MB-0" + rest, "/clusters/" + a + "%20" + rest,
        "/clusters/" + a + "%C0%AE%C0%AE/" + b + rest, "/clusters/%D0%B0" + rest, "/clusters/" + rest,
        "/clusters/../" + b + rest, "/clusters/" + a + ";/" + rest, "/clusters/**" + rest, "/clusters/%2A" + rest,
        kProxy + a + "/proxy/../../" + b + "/proxy" + rest, kProxy + a + "%2F..%2F" + b + "/proxy" + rest,
        kProxy + a + "/proxy/clusters/" + b + rest, kProxy + a + "/proxy" + kProxy + b + "/proxy" + rest,
        kProxy + "root/proxy" + rest, "/clusters/" + a + kProxy + b + "/proxy" + rest,
        kProxy + "/proxy" + rest, kProxy + "..%2fx/proxy" + rest}) {
    Request request = As(0, {"GET", "", ""}, path);
    const auto answer = hub.Send(request);
    EXPECT_GE(answer.code, 400) << path << answer.text;
    EXPECT_LT(answer.code, 500) << path << answer.text;
    EXPECT_EQ(answer.text.find("canary-of-1"), std::string::npos) << path;
  }
}

TEST_F(Isolation, HeadersAreBelievedFromAFrontProxyOnly) {
  const std::vector<std::pair<std::string, std::string>> spoofs[] = {
      {{"x-remote-user", "admin"}, {"x-remote-group", "system:masters"}},
      {{"X-Remote-User", "admin"}, {"X-Remote-Group", "system:masters"}},
      {{"x_remote_user", "admin"}, {"x_remote_group", "system:masters"}},
      {{"x-remote-user", "admin"}, {"x-remote-user", "other"}, {"x-remote-group", "system:masters"}},
      {{"x-remote-user", "system:mailroom"}, {"x-remote-uid", "0"}},
      {{"x-forwarded-user", "admin"}}, {{"x-remote-extra-a", "b"}}, {{"remote-user", "admin"}}};
  for (const auto& headers : spoofs) {
    for (const bool certified : {false, true}) {
      Request request;
      request.method = "GET";
      request.path = "/api/v1/secrets";
      if (certified) request.peer.common_name = "eve";
      for (const auto& [name, value] : headers) request.headers.Add(name, value);
      EXPECT_EQ(hub.Send(request).code, 403);
      request.headers.Add("authorization", "Bearer x");
      if (!certified) {
        EXPECT_EQ(hub.Send(request).code, 401);
      }
    }
  }
  Request proxied;
  proxied.method = "POST";
  proxied.path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  proxied.body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
  proxied.headers.Add("content-type", "application/json");
  proxied.peer.front_proxy = true;
  EXPECT_EQ(hub.Send(proxied).code, 403) << "the proxy itself is nobody";
  proxied.headers.Add("x-remote-user", "alice");
  proxied.headers.Add("x-remote-group", "devs");
  proxied.headers.Add("x-remote-group", "system:masters");
  proxied.headers.Add("x-remote-group", "system:mailroom:syncers");
  proxied.headers.Add("x-remote-extra-scopes%2fa", "s");
  const auto self = hub.Send(proxied);
  EXPECT_EQ(StringAt(self.body, {"status", "userInfo", "username"}), "alice") << self.text;
  EXPECT_EQ(StringsAt(self.body, {"status", "userInfo", "groups"}),
            (std::vector<std::string>{"devs", "system:authenticated"}));
  EXPECT_EQ(StringsAt(self.body, {"status", "userInfo", "extra", "scopes/a"}), std::vector<std::string>{"s"});
  proxied.method = "GET";
  proxied.path = "/api/v1/secrets";
  proxied.body.clear();
  EXPECT_EQ(hub.Send(proxied).code, 403) << "no proxy makes masters";
}

TEST_F(Isolation, TheProxySubresourceIsTheMailboxForThoseWhoMay) {
  MakeMailboxes(2);
  hub.Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
         {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRole"}, {"metadata", {{"name", "first"}}},
          {"rules", Json::array({{{"apiGroups", {"mailbox.kubestellar.io"}}, {"resources", {"mailboxes/proxy"}},
                                  {"resourceNames", {MailboxName(0)}}, {"verbs", {"get", "create"}}}})}});
  hub.Do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
         {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRoleBinding"}, {"metadata", {{"name", "first"}}},
          {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "first"}}},
          {"subjects", Json::array({{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "alice"}}})}});
  auto code = [&](const std::string& method, const std::string& path, const Json& body = nullptr) {
    Request request;
    request.method = method;
    request.path = path;
    request.peer.common_name = "alice";
    if (!body.is_null()) {
      request.body = DumpJson(body);
      request.headers.Add("content-type", "application/json");
    }
    return hub.Send(request);
  };
  const std::string proxy = kProxy + MailboxName(0) + "/proxy";
  EXPECT_NE(code("GET", proxy + "/api/v1/namespaces/default/secrets/canary").text.find("canary"), std::string::npos);
  EXPECT_EQ(code("GET", proxy + "/apis").code, 200);
  EXPECT_EQ(code("POST", proxy + "/api/v1/namespaces/default/configmaps", ConfigMap("x")).code, 201);
  EXPECT_EQ(code("DELETE", proxy + "/api/v1/namespaces/default/configmaps/x").code, 403);
  EXPECT_EQ(code("GET", "/clusters/root" + proxy + "/api/v1/namespaces").code, 200);
  EXPECT_EQ(code("GET", "/clusters/" + MailboxName(0) + "/api/v1/namespaces").code, 403);
  const auto denied = code("GET", kProxy + MailboxName(1) + "/proxy/api/v1/namespaces");
  EXPECT_EQ(denied.code, 403);
  EXPECT_EQ(StringAt(denied.body, {"message"}),
            "mailboxes.mailbox.kubestellar.io \"its1-mb-1\" is forbidden: User \"alice\" cannot get resource "
            "\"mailboxes/proxy\" in API group \"mailbox.kubestellar.io\" at the cluster scope");
  EXPECT_EQ(hub.Get(kProxy + "none/proxy/api/v1/namespaces").code, 404);
  EXPECT_EQ(hub.Get(kProxy + "wds1/proxy/api/v1/namespaces").code, 404) << "mailboxes only";
}

}  // namespace
}  // namespace mailroom
