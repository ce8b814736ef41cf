#include <gtest/gtest.h>

#include "apiserver/auth/user.h"
#include "apiserver/options.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

class Access : public testing::Test {
 protected:
  int Code(const std::string& user, const std::string& group, const std::string& method,
           const std::string& path) {
    Request request;
    request.method = method;
    request.path = path;
    request.peer.common_name = user;
    if (!group.empty()) request.peer.organizations = {group};
    return hub.Send(request).code;
  }
  TestHub hub;
};

TEST_F(Access, NobodyMayOnlyAskForHealthAndVersion) {
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version", "/livez/ping"}) {
    EXPECT_EQ(Code("", "", "GET", path), 200) << path;
  }
  for (const char* path : {"/", "/api", "/api/v1", "/apis", "/apis/apps/v1", "/openapi/v2", "/openapi/v3"}) {
    EXPECT_EQ(Code("", "", "GET", path), 403) << path;
    const bool root = std::string_view(path) == "/";
    EXPECT_EQ(Code("somebody", "", "GET", path), root ? 403 : 200) << path;
  }
  for (const char* path : {"/metrics", "/api/v1/namespaces", "/api/v1/namespaces/default/secrets/x",
                           "/apis/mailbox.kubestellar.io/v1alpha1/workspaces", "/clusters/wds1/apis",
                           "/clusters/wds1/metrics", "/clusters/wds1/api/v1/secrets", "/clusters/*/api/v1/secrets",
                           "/.well-known/openid-configuration", "/openid/v1/jwks", "/debug/pprof", "/logs", "/nowhere"}) {
    EXPECT_EQ(Code("", "", "GET", path), 403) << path;
    EXPECT_EQ(Code("somebody", "", "GET", path), 403) << path;
  }
  for (const char* path : {"/healthz", "/version"}) EXPECT_EQ(Code("", "", "POST", path), 403) << path;
}

// Nor may they find out what there is.
TEST_F(Access, NobodyLearnsWhichWorkspacesThereAre) {
  hub.NewWorkspace("cluster1", "cluster");
  hub.NewWorkspace("its1-mb1", "mailbox");
  const std::string mailboxes = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes";
  const auto made = hub.Do("POST", mailboxes,
                           {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Mailbox"},
                            {"metadata", {{"name", "its1-mb1"}}},
                            {"spec", {{"inventory", "its1"}, {"syncTargetName", "t"}, {"syncTargetUID", "u"}, {"workspace", "its1-mb1"}}}});
  ASSERT_EQ(hub.Get(mailboxes + "/its1-mb1").code, 200) << made.text;
  auto answer = [&](const std::string& method, const std::string& path, const std::string& name) {
    Request request;
    request.method = method;
    request.path = path;
    const auto got = hub.Send(request);
    std::string text = got.text;
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.replace(at, name.size(), "N");
    return std::to_string(got.code) + " " + std::string(got.headers.Get("content-type")) + " " + text;
  };
  for (const char* tail : {"", "/", "/healthz", "/livez/ping", "/livez/nosuch", "/healthz/a/b", "/readyz/x", "/version", "/version/x",
                           "/version/a/b", "/api", "/apis", "/apis/apps/v1", "/metrics", "/openapi/v3", "/openid/v1/jwks",
                           "/.well-known/openid-configuration", "/nowhere", "/api/v1/namespaces", "/api/v1/namespaces/default/secrets/x",
                           "/apis/x.io/v1/things", "/apis/mailbox.kubestellar.io/v1alpha1/workspaces"}) {
    for (const char* method : {"GET", "HEAD", "POST", "DELETE"}) {
      for (const auto& [here, nowhere] : {std::pair<std::string, std::string>{"cluster1", "nosuch12"}, {"its1-mb1", "its1-mb2"}}) {
        EXPECT_EQ(answer(method, "/clusters/" + here + tail, here), answer(method, "/clusters/" + nowhere + tail, nowhere))
            << method << tail;
        EXPECT_EQ(answer(method, mailboxes + "/" + here + "/proxy" + tail, here),
                  answer(method, mailboxes + "/" + nowhere + "/proxy" + tail, nowhere)) << method << tail;
      }
    }
  }
  EXPECT_EQ(Code("", "", "GET", "/version/x"), 403);
  EXPECT_EQ(Code("", "", "GET", "/livez/nosuch"), 404);
}

TEST_F(Access, ARejectedCertificateOrTokenIsUnauthorized) {
  Request request;
  request.method = "GET";
  request.path = "/healthz";
  request.peer.certificate_rejected = true;
  EXPECT_EQ(hub.Send(request).code, 401);
  request.peer = {};
  request.headers.Add("authorization", "Bearer x");
  EXPECT_EQ(hub.Send(request).code, 401);
}

TEST_F(Access, ASyncerReachesItsMailboxAndNothingElse) {
  std::vector<std::string> mailboxes;
  for (int i = 0; i < 20; ++i) {
    mailboxes.push_back("its1-mb-" + std::to_string(i));
    hub.NewWorkspace(mailboxes.back(), "mailbox");
  }
  const std::string group(apiserver::kSyncers);
  for (const std::string& own : mailboxes) {
    const std::string user = std::string(apiserver::kSyncerPrefix) + own;
    for (const std::string& other : mailboxes) {
      const int want = own == other ? 200 : 403;
      EXPECT_EQ(Code(user, group, "GET", "/clusters/" + other + "/api/v1/namespaces"), want);
      EXPECT_EQ(Code(user, group, "GET", "/clusters/" + other + "/apis"), want);
    }
    for (const char* path : {"/clusters/root/api/v1/namespaces", "/api/v1/namespaces",
                             "/clusters/wds1/api/v1/namespaces", "/clusters/*/api/v1/namespaces"}) {
      EXPECT_EQ(Code(user, group, "GET", path), 403) << path;
    }
    const std::string base = "/clusters/" + own + "/api/v1/namespaces/default/configmaps";
    EXPECT_EQ(Code(user, group, "POST", base), 403);
    EXPECT_EQ(Code(user, group, "DELETE", base + "/x"), 403);
    EXPECT_EQ(Code(user, group, "PUT", base + "/x"), 403);
  }
  EXPECT_EQ(Code("system:syncer:" + mailboxes[0], "", "GET",
                 "/clusters/" + mailboxes[0] + "/api/v1/namespaces"), 403)
      << "the name without the group is nobody";
  EXPECT_EQ(Code("system:syncer:root", group, "GET", "/api/v1/namespaces"), 403);
}

TEST_F(Access, ForbiddenNamesWhatWasAsked) {
  Request request;
  request.method = "GET";
  request.path = "/clusters/wds1/api/v1/namespaces/n/secrets/s";
  request.peer.common_name = "eve";
  EXPECT_EQ(StringAt(hub.Send(request).body, {"message"}),
            "secrets \"s\" is forbidden: User \"eve\" cannot get resource \"secrets\" in API group "
            "\"\" in the namespace \"n\"");
  // What looks like HTML is written so that no browser takes it as such.
  request.path = "/clusters/wds1/<b>&";
  request.peer.common_name = "<eve>";
  const auto answer = hub.Send(request);
  EXPECT_EQ(StringAt(answer.body, {"message"}),
            "forbidden: User \"&lt;eve&gt;\" cannot get path \"/&lt;b&gt;&amp;\"");
  EXPECT_EQ(answer.headers.Get("x-content-type-options"), "nosniff");
}

TEST(ServeOptions, AreCheckedOnce) {
  auto good = apiserver::ParseOptions({"--data-dir", "d", "--listen=[::1]:0", "--tls-san", "a,b"});
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->syncer_certificate, std::chrono::hours(24));
  EXPECT_EQ(apiserver::ParseOptions({"--data-dir=d", "--syncer-certificate-duration=90m"})->syncer_certificate,
            std::chrono::minutes(90));
  EXPECT_EQ(good->host, "::1");
  EXPECT_EQ(good->port, 0);
  EXPECT_EQ(good->extra_sans, (std::vector<std::string>{"a", "b"}));
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {}, {"--data-dir"}, {"--data-dir", "d", "--listen", "x"}, {"--data-dir", "d", "--nope", "1"},
           {"--data-dir", "d", "--listen", "h:99999"}, {"--data-dir", "d", "--tls-cert-file", "c"},
           {"--data-dir", "d", "--log-level", "loud"}, {"--data-dir", "d", "--workers", "0"},
           {"--data-dir", "d", "--syncer-certificate-duration", "1"},
           {"--data-dir", "d", "--syncer-certificate-duration", "10ms"}, {"--data-dir", "d", "--controllers", "maybe"}}) {
    EXPECT_FALSE(apiserver::ParseOptions(bad).ok());
  }
}

}  // namespace
}  // namespace mailroom
