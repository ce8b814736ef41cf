// One name, several identities: a service account is somebody in its own workspace only, and
// nobody becomes more than they are by a like-named one, by a label or by a front proxy.
#include <gtest/gtest.h>

#include <set>

#include "apiserver/auth/homes.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kAccount = "system:serviceaccount:default:ci";

class Identity : public testing::Test {
 protected:
  // The host, when it is asked, allows everything.
  Identity() : hub(Options(told, host_groups)) {
    hub.NewWorkspace("c1", "cluster");
    for (const std::string ws : {"root", "c1", "wds1"}) {
      EXPECT_EQ(hub.Do("POST", At(ws) + "/api/v1/namespaces/default/serviceaccounts",
                       {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "ci"}}}})
                    .code, 201) << ws;
    }
  }
  static apiserver::Server::Options Options(std::set<std::string>& told,
                                            std::vector<std::string>& host_groups) {
    apiserver::Server::Options options;
    options.delegate = [&](const apiserver::User& user, const apiserver::Attributes&) {
      told.insert(user.home + "/" + user.name);
      host_groups = user.host_groups;
      return true;
    };
    return options;
  }
  static std::string At(const std::string& ws) { return "/clusters/" + ws; }

  void Bind(const std::string& ws, const std::string& name, const Json& subject) {
    const auto made = hub.Do(
        "POST", At(ws) + kRbac + "/clusterrolebindings",
        {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRoleBinding"},
         {"metadata", {{"name", name}}},
         {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "cluster-admin"}}},
         {"subjects", Json::array({subject})}});
    ASSERT_EQ(made.code, 201) << made.text;
  }
  void BindAccount(const std::string& ws) {
    Bind(ws, "ci", {{"kind", "ServiceAccount"}, {"name", "ci"}, {"namespace", "default"}});
    Bind(ws, "ci-group", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Group"},
                          {"name", "system:serviceaccounts:default"}});
  }
  Request Ask(const std::string& path) {
    Request request;
    request.method = "GET";
    request.path = path;
    return request;
  }
  // The answer to root's, c1's or wds1's account.
  int As(const std::string& home, const std::string& path) {
    const auto asked = hub.Do("POST", At(home) + "/api/v1/namespaces/default/serviceaccounts/ci/token",
                              {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
    EXPECT_EQ(asked.code, 201) << asked.text;
    Request request = Ask(path);
    request.headers.Add("authorization", "Bearer " + StringAt(asked.body, {"status", "token"}));
    return hub.Send(request).code;
  }
  int Proxied(const std::string& user, const std::vector<std::string>& groups, const std::string& path) {
    Request request = Ask(path);
    request.peer.front_proxy = true;
    request.headers.Add("x-remote-user", user);
    for (const std::string& group : groups) request.headers.Add("x-remote-group", group);
    return hub.Send(request).code;
  }
  std::set<std::string> told;  // whom the host was asked about
  std::vector<std::string> host_groups;  // of the last of them
  TestHub hub;
};

TEST_F(Identity, RootsAccountIsNobodyElses) {
  BindAccount("root");
  EXPECT_EQ(As("root", "/api/v1/secrets"), 200);
  for (const char* home : {"c1", "wds1"}) {
    for (const char* path : {"/api/v1/secrets", "/clusters/root/api/v1/secrets", "/apis", "/.well-known/openid-configuration",
                             "/apis/mailbox.kubestellar.io/v1alpha1/workspaces"}) {
      EXPECT_EQ(As(home, path), 403) << home << path;
    }
  }
}

TEST_F(Identity, RootsAccountIsNotThatOfAWorkspace) {
  BindAccount("c1");
  EXPECT_EQ(As("c1", At("c1") + "/api/v1/secrets"), 200);
  for (const char* home : {"root", "wds1"}) {
    EXPECT_EQ(As(home, At("c1") + "/api/v1/secrets"), 403) << home;
    EXPECT_EQ(As(home, At("c1") + "/apis"), 403) << home;
  }
  EXPECT_EQ(As("root", "/apis"), 200) << "at home it may look around";
  // Nor is a certificate of such a name.
  Request request = Ask(At("c1") + "/api/v1/secrets");
  request.peer.common_name = kAccount;
  EXPECT_EQ(hub.Send(request).code, 403);
}

TEST_F(Identity, TheHostsAccountIsNotRoots) {
  BindAccount("root");
  BindAccount("c1");
  const std::vector<std::string> groups = {"system:serviceaccounts", "system:serviceaccounts:default"};
  EXPECT_EQ(Proxied(kAccount, groups, "/api/v1/secrets"), 403);
  EXPECT_EQ(Proxied(kAccount, groups, At("c1") + "/api/v1/secrets"), 403);
  EXPECT_EQ(Proxied("mallory", groups, "/api/v1/secrets"), 403) << "a group is claimed as easily";
  EXPECT_EQ(Proxied("mallory", groups, At("c1") + "/api/v1/secrets"), 403);
  EXPECT_EQ(Proxied(kAccount, groups, "/apis/mailbox.kubestellar.io/v1alpha1"), 200)
      << "controllers of the host look for what there is to collect";
  // Nor are bootstrap tokens.
  Bind("root", "token", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "system:bootstrap:abcdef"}});
  Bind("root", "tokens", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Group"}, {"name", "system:bootstrappers"}});
  EXPECT_EQ(Proxied("system:bootstrap:abcdef", {"system:bootstrappers"}, "/api/v1/secrets"), 403);
  // Users of the host are users of root.
  Bind("root", "alice", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "alice"}});
  Bind("c1", "devs", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Group"}, {"name", "devs"}});
  EXPECT_EQ(Proxied("alice", {}, "/api/v1/secrets"), 200);
  EXPECT_EQ(Proxied("alice", {"devs"}, At("c1") + "/api/v1/secrets"), 200);
}

TEST_F(Identity, TheHostIsAskedAboutItsOwn) {
  const std::string mailboxes = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes";
  EXPECT_EQ(As("root", mailboxes), 403) << "root's account is not the host's of that name";
  EXPECT_EQ(As("c1", mailboxes), 403);
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(Proxied(kAccount, {"system:serviceaccounts"}, mailboxes), 200);
  EXPECT_EQ(Proxied("alice", {}, mailboxes), 200);
  EXPECT_EQ(told, (std::set<std::string>{":host/" + kAccount, "root/alice"}));
}

// Who may do everything there is told of as they are, to the host alone.
TEST_F(Identity, AMasterOfTheHostIsAMasterOnlyThere) {
  const std::vector<std::string> masters = {"system:masters"};
  EXPECT_EQ(Proxied("boss", masters, "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes"), 200);
  EXPECT_EQ(host_groups, masters);
  EXPECT_EQ(Proxied("boss", masters, "/api/v1/secrets"), 403);
  EXPECT_EQ(Proxied("boss", masters, At("c1") + "/api/v1/secrets"), 403);
}

// A token's name is asked about, and acted as, where it is somebody.
TEST_F(Identity, ABootstrapTokenIsReviewedAsItIsServed) {
  auto data = [](std::string_view text) { return openapi::EncodeBase64(text); };
  ASSERT_EQ(hub.Do("POST", At("c1") + "/api/v1/namespaces/kube-system/secrets",
                   {{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "bootstrap.kubernetes.io/token"},
                    {"metadata", {{"name", "bootstrap-token-abcdef"}}},
                    {"data", {{"token-id", data("abcdef")}, {"token-secret", data("0123456789abcdef")},
                              {"usage-bootstrap-authentication", data("true")}}}}).code, 201);
  const std::string name = "system:bootstrap:abcdef", secrets = At("c1") + "/api/v1/secrets";
  Bind("c1", "token", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", name}});
  Request request = Ask(secrets);
  request.headers.Add("authorization", "Bearer abcdef.0123456789abcdef");
  EXPECT_EQ(hub.Send(request).code, 200);
  const auto review = hub.Do("POST", At("c1") + "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                             {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"},
                              {"spec", {{"user", name}, {"resourceAttributes", {{"verb", "list"}, {"resource", "secrets"}}}}}});
  EXPECT_TRUE(BoolAt(review.body, {"status", "allowed"})) << review.text;
  request = Ask(secrets);
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  request.headers.Add("impersonate-user", name);
  EXPECT_EQ(hub.Send(request).code, 200);
  request.path = "/api/v1/secrets";
  EXPECT_EQ(hub.Send(request).code, 403) << "root's token of that name is another";
}

TEST(Homes, AreKeptApart) {
  apiserver::User user{"alice"};
  EXPECT_TRUE(apiserver::IsKnownToHost(user));
  EXPECT_TRUE(apiserver::IsKnownAt(user, "root") && apiserver::IsKnownAt(user, "c1"));
  user.name = kAccount;
  EXPECT_FALSE(apiserver::IsKnownToHost(user)) << "root's account is not the host's";
  EXPECT_TRUE(apiserver::IsKnownAt(user, "root"));
  EXPECT_FALSE(apiserver::IsKnownAt(user, "c1"));
  user.home = apiserver::kHostHome;
  EXPECT_TRUE(apiserver::IsKnownToHost(user) && apiserver::IsKnownAt(user, "root"));
  EXPECT_FALSE(apiserver::IsKnownAt(user, "c1"));
  user.home = "c1";
  EXPECT_FALSE(apiserver::IsKnownToHost(user) || apiserver::IsKnownAt(user, "root"));
  EXPECT_TRUE(apiserver::IsKnownAt(user, "c1"));
}

}  // namespace
}  // namespace mailroom
