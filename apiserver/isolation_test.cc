// Nobody sees or touches what is not theirs: canaries, spoofed headers, tricks with paths. The
// matrix of credentials and mailboxes is in isolation_matrix_test.cc.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "apiserver/audit.h"
#include "apiserver/test_mailboxes.h"
#include "storage/object/json_path.h"
#include "storage/object/log.h"

namespace mailroom {
namespace {

const std::string kProxy = kMailboxes + "/";

class Isolation : public testing::Test {
 protected:
  TestHub hub;
};

// Plants each mailbox's canary in bodies, names and labels, and takes in all a stranger gets to
// hear: answers, headers, watches, the log, the metrics; and what is recorded about others.
TEST(Canaries, StayAtHome) {
  constexpr int kFew = 12;
  const std::string record = (std::filesystem::temp_directory_path() /
                              ("mailroom-canaries-" + std::to_string(::getpid()))).string();
  apiserver::Server::Options options;
  auto policy = apiserver::AuditPolicy::Parse(
      "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]\n");
  auto log = apiserver::AuditLog::Open({.path = record});
  ASSERT_TRUE(policy.ok() && log.ok());
  options.audit = std::make_shared<apiserver::Audit>(std::move(*policy), std::move(*log), Clock::Real());
  testing::internal::CaptureStderr();
  SetLogLevel(Level::kDebug);
  std::string seen, metrics;
  {
    TestHub hub(options);
    options.audit.reset();
    MakeMailboxes(hub, kFew);
    for (int i = 0; i < kFew; ++i) {
      Json map = ConfigMap(Canary(i), {{"c", Canary(i)}});
      Set(map, {"metadata", "labels"}, {{"c", Canary(i)}});
      ASSERT_EQ(hub.Do("POST", PlainRoad(i) + "/api/v1/namespaces/default/configmaps", map).code, 201);
      // An error that quotes it.
      map["data"][Canary(i) + "/"] = "x";
      EXPECT_NE(hub.Do("PUT", PlainRoad(i) + "/api/v1/namespaces/default/configmaps/" + Canary(i), map)
                    .text.find(Canary(i)), std::string::npos);
    }
    auto hear = [&](Request request, int least) {
      const std::string what = request.method + " " + request.path;
      const auto answer = hub.Send(std::move(request));
      EXPECT_GE(answer.code, least) << what;
      seen += answer.text;
      for (const auto& [name, value] : answer.headers.fields()) seen += value;
    };
    for (int j = 1; j < kFew; ++j) {
      for (const Probe& probe : kProbes) {
        for (const std::string& road : {PlainRoad(j), ProxyRoad(j), PlainRoad(0) + PlainRoad(j),
                                        std::string("/clusters/*"), std::string("/clusters/root"), std::string()}) {
          hear(AsSyncer(0, At(road, probe)), 400);
          // A user of root may look around there and ask about themselves.
          const bool root = road.empty() || road == "/clusters/root";
          hear(AsProxied(0, At(road, probe)), root ? 200 : 400);
        }
      }
    }
    // At home: lists, and a watch while others write.
    for (const char* path : {"/api/v1/secrets", "/api/v1/configmaps"}) {
      const auto own = hub.Send(AsSyncer(0, At(PlainRoad(0), {"GET", path, "", true})));
      EXPECT_EQ(own.code, 200);
      EXPECT_NE(own.text.find(path == std::string_view("/api/v1/configmaps") ? Canary(0) : "canary"),
                std::string::npos);
      for (int j = 1; j < kFew; ++j) EXPECT_EQ(own.text.find(Canary(j)), std::string::npos);
    }
    TestWatch watch(hub, PlainRoad(0) + "/api/v1/configmaps?watch=true&resourceVersion=0");
    hub.Do("POST", PlainRoad(1) + "/api/v1/namespaces/default/configmaps", ConfigMap(Canary(1) + "2"));
    hub.Do("POST", PlainRoad(0) + "/api/v1/namespaces/default/configmaps", ConfigMap("mine"));
    std::vector<std::string> names;
    while (names.empty() || names.back() != "mine") {
      const Json event = watch.Next();
      ASSERT_FALSE(event.is_null());
      names.push_back(StringAt(event, {"object", "metadata", "name"}));
    }
    EXPECT_EQ(names, (std::vector<std::string>{Canary(0), "mine"}));
    metrics = hub.Get("/metrics").text;
  }
  SetLogLevel(Level::kInfo);
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_EQ(seen.find("canary-of-"), std::string::npos);
  EXPECT_EQ(logged.find("canary-of-"), std::string::npos) << logged;
  EXPECT_NE(metrics.find("mailroom_answers_total"), std::string::npos);
  EXPECT_EQ(metrics.find("canary"), std::string::npos);
  EXPECT_EQ(metrics.find("its1-mb"), std::string::npos) << "series do not name workspaces";

  // Every recorded line that holds a canary is about that canary's workspace.
  std::ifstream in(record);
  std::size_t held = 0;
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find("canary-of-");
    if (at == std::string::npos) continue;
    ++held;
    const int owner = std::stoi(line.substr(at + 10));
    EXPECT_NE(line.find("\"mailbox.kubestellar.io/workspace\":\"" + MailboxName(owner) + "\""),
              std::string::npos) << line;
    for (int i = 0; i < kFew; ++i) {
      if (i != owner) {
        EXPECT_EQ(line.find(Canary(i)), std::string::npos) << line;
      }
    }
  }
  EXPECT_GE(held, 2u * kFew);
  std::filesystem::remove(record);
}

TEST_F(Isolation, PathsThatTrickAreRefused) {
  MakeMailboxes(hub, 2);
  const std::string a = MailboxName(0), b = MailboxName(1);
  const std::string rest = "/api/v1/namespaces/default/secrets/canary";
  const std::string text = "";  // no Status but the router's line
  struct Trick {
    std::string path;
    int code;
    std::string reason;
  };
  const std::vector<Trick> tricks = {
      {"/clusters/" + a + "/../" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "/%2e%2e/" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "/%2E%2E/" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "/.%2e/" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%2F..%2F" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%2f" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "/./../" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "/..%5c" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "/..\\" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%00" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%" + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%zz" + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%252e%252e/" + b + rest, 400, "BadRequest"},
      {"/clusters/ITS1-MB-0" + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%20" + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%0a" + rest, 400, "BadRequest"},
      {"/clusters/" + a + "%C0%AE%C0%AE/" + b + rest, 400, "BadRequest"},
      {"/clusters/%D0%B0" + rest, 400, "BadRequest"},
      {"/clusters/its1%E2%80%90mb-1" + rest, 400, "BadRequest"},
      {"/clusters/%EF%BD%89ts1-mb-1" + rest, 400, "BadRequest"},
      {"/clusters/../" + b + rest, 400, "BadRequest"},
      {"/clusters/" + a + ";" + rest, 400, "BadRequest"},
      {"/clusters/**" + rest, 400, "BadRequest"},
      {"/clusters", 400, "BadRequest"},
      {kProxy + a + "/proxy/../../" + b + "/proxy" + rest, 400, "BadRequest"},
      {kProxy + a + "%2F..%2F" + b + "/proxy" + rest, 400, "BadRequest"},
      {kProxy + "..%2fx/proxy" + rest, 400, "BadRequest"},
      // Empty segments are nobody's.
      {"//clusters//" + b + rest, 404, "NotFound"},
      {"/clusters/" + b + "/" + rest, 404, "NotFound"},
      {"/clusters/" + rest, 404, "NotFound"},
      {"/clusters/" + a + ";/" + rest, 404, "NotFound"},
      {kProxy + "/proxy" + rest, 404, "NotFound"},
      // Root's, which a syncer has no part in.
      {"/Clusters/" + a + rest, 403, "Forbidden"},
      {"/CLUSTERS/" + b + rest, 403, "Forbidden"},
      {"/clusters/%2A" + rest, 403, "Forbidden"},
      {"/clusters/" + b + rest, 403, "Forbidden"},
      {"/%63lusters/" + b + rest, 403, "Forbidden"},
      {"/clusters/%69ts1-mb-1" + rest, 403, "Forbidden"},
      {kProxy + b + "/proxy" + rest, 403, "Forbidden"},
      {kProxy + b + "/%70roxy" + rest, 403, "Forbidden"},
      {kProxy + "root/proxy" + rest, 404, "NotFound"},
      // The syncer's own mailbox, where there is no such path.
      {"/clusters/" + a + "/clusters/" + b + rest, 404, text},
      {kProxy + a + "/proxy/clusters/" + b + rest, 404, text},
      {kProxy + a + "/proxy" + kProxy + b + "/proxy" + rest, 404, text},
      {"/clusters/" + a + kProxy + b + "/proxy" + rest, 404, text},
  };
  for (const Trick& trick : tricks) {
    const auto answer = hub.Send(AsSyncer(0, At(trick.path, {"GET", "", "", false})));
    EXPECT_EQ(answer.code, trick.code) << trick.path << answer.text;
    EXPECT_EQ(answer.text.find("canary-of-1"), std::string::npos) << trick.path;
    if (trick.reason.empty()) {
      EXPECT_EQ(answer.text, "404 page not found\n") << trick.path;
      continue;
    }
    EXPECT_EQ(StringAt(answer.body, {"kind"}), "Status") << trick.path << answer.text;
    EXPECT_EQ(StringAt(answer.body, {"reason"}), trick.reason) << trick.path << answer.text;
    EXPECT_EQ(IntAt(answer.body, {"code"}), trick.code) << trick.path;
  }
}

TEST_F(Isolation, HeadersAreBelievedFromAFrontProxyOnly) {
  const std::vector<std::pair<std::string, std::string>> spoofs[] = {
      {{"x-remote-user", "admin"}, {"x-remote-group", "system:masters"}},
      {{"X-Remote-User", "admin"}, {"X-Remote-Group", "system:masters"}},
      {{"x_remote_user", "admin"}, {"x_remote_group", "system:masters"}},
      {{"x-remote-user", "admin"}, {"x-remote-user", "other"}, {"x-remote-group", "system:masters"}},
      {{"x-remote-user", "system:mailroom"}, {"x-remote-uid", "0"}},
      {{"x-forwarded-user", "admin"}}, {{"x-remote-extra-a", "b"}}, {{"remote-user", "admin"}},
      {{"x-remote-user", ""}, {"x-remote-group", "system:masters"}},
      {{"x-remote-group", "system:masters"}},
      {{"x-remote-user ", "admin"}, {"x-remote-group ", "system:masters"}},
      {{"x-remote-user", "admin"}, {"impersonate-user", "admin"}, {"impersonate-group", "system:masters"}},
      {{"x-remote-user", "system:syncer:its1-mb-0"}, {"x-remote-group", "system:mailroom:syncers"}},
      {{"x-remote-user", "system:serviceaccount:kube-system:default"}, {"x-remote-group", "system:serviceaccounts"}},
      {{"x-remote-user", "admin"}, {"x-forwarded-client-cert", "Subject=\"CN=admin,O=system:masters\""}},
      {{"x-ssl-client-cn", "admin"}, {"ssl-client-subject-dn", "CN=admin,O=system:masters"}},
      {{"x-remote-user", "admin"}, {"x-forwarded-for", "127.0.0.1"}, {"x-real-ip", "127.0.0.1"}}};
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
  proxied.headers.Add("impersonate-user", "admin");
  proxied.headers.Add("impersonate-group", "system:masters");
  EXPECT_EQ(hub.Send(proxied).code, 403) << "nor lets anybody pose as one";
  // A proxy whose certificate is no longer good (or was never) is not asked whom it speaks for.
  Request expired = proxied;
  expired.peer.front_proxy = false;
  expired.peer.certificate_rejected = true;
  EXPECT_EQ(hub.Send(expired).code, 401);
  expired.headers.Add("authorization", "Bearer x");
  EXPECT_EQ(hub.Send(expired).code, 401);
}

TEST_F(Isolation, TheProxySubresourceIsTheMailboxForThoseWhoMay) {
  MakeMailboxes(hub, 2);
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
  const std::string proxy = kMailboxes + "/" + MailboxName(0) + "/proxy";
  EXPECT_NE(code("GET", proxy + "/api/v1/namespaces/default/secrets/canary").text.find("canary"), std::string::npos);
  EXPECT_EQ(code("GET", proxy + "/apis").code, 200);
  EXPECT_EQ(code("POST", proxy + "/api/v1/namespaces/default/configmaps", ConfigMap("x")).code, 201);
  EXPECT_EQ(code("DELETE", proxy + "/api/v1/namespaces/default/configmaps/x").code, 403);
  EXPECT_EQ(code("GET", "/clusters/root" + proxy + "/api/v1/namespaces").code, 200);
  EXPECT_EQ(code("GET", "/clusters/" + MailboxName(0) + "/api/v1/namespaces").code, 403);
  const auto denied = code("GET", kMailboxes + "/" + MailboxName(1) + "/proxy/api/v1/namespaces");
  EXPECT_EQ(denied.code, 403);
  EXPECT_EQ(StringAt(denied.body, {"message"}),
            "mailboxes.mailbox.kubestellar.io \"its1-mb-1\" is forbidden: User \"alice\" cannot get resource "
            "\"mailboxes/proxy\" in API group \"mailbox.kubestellar.io\" at the cluster scope");
  EXPECT_EQ(hub.Get(kProxy + "none/proxy/api/v1/namespaces").code, 404);
  EXPECT_EQ(hub.Get(kProxy + "wds1/proxy/api/v1/namespaces").code, 404) << "mailboxes only";
}

// Whoever may write Mailbox objects must not be let into other workspaces by their names.
TEST_F(Isolation, AMailboxObjectOpensNoOtherWorkspace) {
  auto make = [&](const std::string& name, const std::string& workspace) {
    return hub.Do("POST", kMailboxes,
                  {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Mailbox"}, {"metadata", {{"name", name}}},
                   {"spec", {{"inventory", "its1"}, {"syncTargetName", "t"}, {"syncTargetUID", "u"},
                             {"workspace", workspace}}}});
  };
  for (const char* name : {"wds1", "its1", "root"}) {
    ASSERT_EQ(make(name, name).code, 201);
    EXPECT_EQ(hub.Get(kProxy + name + "/proxy/api/v1/namespaces").code, 404) << name;
  }
  const auto other = make("its1-mb-x", "wds1");
  EXPECT_EQ(other.code, 422) << other.text;
  EXPECT_NE(other.text.find("spec.workspace"), std::string::npos) << other.text;
  // One made by hand is a mailbox.
  hub.NewWorkspace("handmade", "mailbox");
  ASSERT_EQ(make("handmade", "handmade").code, 201);
  EXPECT_EQ(hub.Get(kProxy + "handmade/proxy/api/v1/namespaces").code, 200);
}

}  // namespace
}  // namespace mailroom
