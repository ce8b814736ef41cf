// Credentials end when what they stand for ends, and each is good for one thing.
#include <gtest/gtest.h>

#include "apiserver/auth/jwt.h"
#include "apiserver/auth/service_account_tokens.h"
#include "apiserver/client/certificate_request.h"
#include "apiserver/pki.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kBase = "/clusters/c1/api/v1/namespaces/default";
const std::string kRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

class Later final : public Clock {
 public:
  explicit Later(std::chrono::seconds by) : by_(by) {}
  std::chrono::system_clock::time_point Now() const override { return Real().Now() + by_; }
  std::chrono::steady_clock::time_point Monotonic() const override { return Real().Monotonic() + by_; }

 private:
  const std::chrono::seconds by_;
};

class Credentials : public testing::Test {
 protected:
  Credentials() : key(*apiserver::NewPrivateKey()), hub(Options(key)) {
    hub.NewWorkspace("c1", "cluster");
    Make("robot", {});
    const auto bound = hub.Do(
        "POST", "/clusters/c1/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "RoleBinding"}, {"metadata", {{"name", "robot"}}},
         {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "edit"}}},
         {"subjects", Json::array({{{"kind", "ServiceAccount"}, {"name", "robot"}}})}});
    EXPECT_EQ(bound.code, 201) << bound.text;
  }
  static apiserver::Server::Options Options(const std::string& key) {
    apiserver::Server::Options options;
    options.identity.token_key_pem = key;
    return options;
  }
  void Make(const std::string& account, const std::vector<std::string>& finalizers) {
    EXPECT_EQ(hub.Do("POST", kBase + "/serviceaccounts",
                     {{"apiVersion", "v1"}, {"kind", "ServiceAccount"},
                      {"metadata", {{"name", account}, {"finalizers", finalizers}}}}).code, 201);
  }
  std::string Token(const std::string& account) {
    const auto asked = hub.Do("POST", kBase + "/serviceaccounts/" + account + "/token",
                              {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
    EXPECT_EQ(asked.code, 201) << asked.text;
    return StringAt(asked.body, {"status", "token"});
  }
  // The token in a Secret of the old kind, once it is there.
  std::string Kept(const std::string& secret) {
    std::string token;
    EXPECT_TRUE(Eventually([&] {
      token = openapi::DecodeBase64(StringAt(hub.Get(kBase + "/secrets/" + secret).body, {"data", "token"})).value_or("");
      return !token.empty();
    }));
    return token;
  }
  void MakeSecret(const std::string& name, const std::string& account) {
    const auto made = hub.Do("POST", kBase + "/secrets",
                             {{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "kubernetes.io/service-account-token"},
                              {"metadata", {{"name", name}, {"annotations", {{"kubernetes.io/service-account.name", account}}}}}});
    ASSERT_EQ(made.code, 201) << made.text;
  }
  int With(const std::string& token, bool bad_certificate = false) {
    Request request;
    request.method = "GET";
    request.path = kBase + "/configmaps";
    request.peer.certificate_rejected = bad_certificate;
    if (!token.empty()) request.headers.Add("authorization", "Bearer " + token);
    return hub.Send(std::move(request)).code;
  }
  // Whether the token will hold then, if nothing changes.
  bool Holds(const std::string& token, std::chrono::seconds later) {
    const Later clock(later);
    const apiserver::ServiceAccountTokens tokens(*apiserver::TokenKeys::Load(key, {}), "https://hub.test",
                                                 hub.server().dispatcher().hub().store, clock);
    return tokens.Verify(token, {}).ok();
  }
  const std::string key;
  TestHub hub;
};

TEST_F(Credentials, AnAccountThatGoesKeepsItsTokensForAMinute) {
  Make("leaving", {"example.com/wait"});
  const std::string token = Token("leaving");
  EXPECT_TRUE(Holds(token, limits::kDeletedTokenGrace * 2)) << "while it is there";
  hub.Do("DELETE", kBase + "/serviceaccounts/leaving");
  ASSERT_EQ(hub.Get(kBase + "/serviceaccounts/leaving").code, 200) << "it waits for its finalizer";
  EXPECT_TRUE(Holds(token, std::chrono::seconds(0)));
  EXPECT_FALSE(Holds(token, limits::kDeletedTokenGrace * 2));
}

TEST_F(Credentials, ASecretsTokenIsTheOneInIt) {
  MakeSecret("old-way", "robot");
  const std::string token = Kept("old-way");
  EXPECT_EQ(With(token), 200);
  // Cleared, it is filled anew; the old one is good no more.
  hub.Do("PATCH", kBase + "/secrets/old-way", {{"data", {{"token", nullptr}}}}, "application/merge-patch+json");
  EXPECT_EQ(With(token), 401);
  std::string second;
  ASSERT_TRUE(Eventually([&] {
    second = Kept("old-way");
    return second != token;
  }));
  EXPECT_EQ(With(second), 200);
  EXPECT_EQ(With(token), 401);
}

TEST_F(Credentials, ASecretGoesWithItsAccount) {
  Make("other", {});
  MakeSecret("of-robot", "robot");
  MakeSecret("of-other", "other");
  Kept("of-robot");
  Kept("of-other");
  hub.Do("DELETE", kBase + "/serviceaccounts/robot");
  EXPECT_TRUE(Eventually([&] { return hub.Get(kBase + "/secrets/of-robot").code == 404; }));
  EXPECT_EQ(hub.Get(kBase + "/secrets/of-other").code, 200);
}

TEST_F(Credentials, TheFirstThatHoldsDecides) {
  const std::string token = Token("robot");
  EXPECT_EQ(With(token, true), 200) << "the certificate was of no use, the token is";
  EXPECT_EQ(With("rubbish", true), 401);
  EXPECT_EQ(With("", true), 401) << "never anonymous";
}

class JoinTokens : public testing::Test {
 protected:
  JoinTokens() : hub(Options()) {
    hub.NewWorkspace("its1-mb-a", "mailbox");
    auto data = [](std::string_view text) { return openapi::EncodeBase64(text); };
    const auto made = hub.Do("POST", "/api/v1/namespaces/kube-system/secrets",
                             {{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "bootstrap.kubernetes.io/token"},
                              {"metadata", {{"name", "bootstrap-token-aaaaaa"}}},
                              {"data", {{"token-id", data("aaaaaa")}, {"token-secret", data("0123456789abcdef")},
                                        {"usage-bootstrap-authentication", data("true")},
                                        {"mailbox", data("its1-mb-a")}}}});
    EXPECT_EQ(made.code, 201) << made.text;
  }
  // The registrar answers when the test says so.
  static apiserver::Server::Options Options() {
    apiserver::Server::Options options;
    options.controllers = false;
    return options;
  }
  TestHub::Answer Post(const std::string& name, const std::string& mailbox, const std::string& organization,
                       const std::string& signer = "mailbox.kubestellar.io/syncer-client") {
    const std::string pem = *client::NewSigningRequest(*client::NewKey(), "system:syncer:" + mailbox, {organization});
    Request request;
    request.method = "POST";
    request.path = kRequests;
    request.body = DumpJson({{"apiVersion", "certificates.k8s.io/v1"}, {"kind", "CertificateSigningRequest"},
                             {"metadata", {{"name", name}}},
                             {"spec", {{"request", openapi::EncodeBase64(pem)}, {"signerName", signer},
                                       {"usages", {"client auth"}}}}});
    request.headers.Add("content-type", "application/json");
    request.headers.Add("authorization", "Bearer aaaaaa.0123456789abcdef");
    return hub.Send(std::move(request));
  }
  bool Signed(const std::string& name) {
    return !StringAt(hub.Get(kRequests + "/" + name).body, {"status", "certificate"}).empty();
  }
  std::string Spent() {
    const Json secret = hub.Get("/api/v1/namespaces/kube-system/secrets/bootstrap-token-aaaaaa").body;
    return openapi::DecodeBase64(StringAt(secret, {"data", "spent"})).value_or("");
  }
  TestHub hub;
  const std::string group{apiserver::kSyncers};
};

TEST_F(JoinTokens, AskForTheirOwnMailboxOnly) {
  hub.NewWorkspace("its1-mb-b", "mailbox");
  const auto denied = Post("foreign", "its1-mb-b", group);
  EXPECT_EQ(denied.code, 403) << denied.text;
  EXPECT_EQ(Post("master", "its1-mb-a", "system:masters").code, 403);
  EXPECT_EQ(Post("other", "its1-mb-a", group, "kubernetes.io/kube-apiserver-client").code, 403);
  EXPECT_EQ(Post("own", "its1-mb-a", group).code, 201);
}

TEST_F(JoinTokens, AreSpentOnce) {
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(Post(name, "its1-mb-a", group).code, 201);
  ASSERT_TRUE(hub.server().StartControllers().ok());
  ASSERT_TRUE(Eventually([&] { return Signed("a") || Signed("b") || Signed("c"); }));
  const std::string winner = Spent();
  EXPECT_TRUE(Eventually([&] { return Signed(winner); })) << winner;
  // What comes after is answered after the others were looked at.
  EXPECT_EQ(Post("d", "its1-mb-a", group).code, 403);
  EXPECT_EQ(Signed("a") + Signed("b") + Signed("c"), 1);
  hub.server().StopControllers();
  EXPECT_EQ(Signed("a") + Signed("b") + Signed("c"), 1);
}

// As a hub leaves it that stops between the two writes.
TEST_F(JoinTokens, AHubThatStoppedHalfWayGoesOn) {
  for (const char* name : {"first", "second"}) ASSERT_EQ(Post(name, "its1-mb-a", group).code, 201);
  hub.Do("PATCH", "/api/v1/namespaces/kube-system/secrets/bootstrap-token-aaaaaa",
         {{"data", {{"spent", openapi::EncodeBase64("second")}}}}, "application/merge-patch+json");
  ASSERT_TRUE(hub.server().StartControllers().ok());
  EXPECT_TRUE(Eventually([&] { return Signed("second"); }));
  hub.server().StopControllers();
  EXPECT_FALSE(Signed("first"));
  EXPECT_EQ(Spent(), "second");
}

// What the server is verified with may be another authority than the one that signs for clients.
TEST(TokenSecrets, TellWhatTheServerIsVerifiedWith) {
  TestHub hub("the server's authority");
  const std::string base = hub.NewWorkspace("c1", "cluster") + "/api/v1/namespaces/default";
  ASSERT_TRUE(Eventually([&] { return hub.Get(base + "/serviceaccounts/default").code == 200; }));
  const Json made = {{"apiVersion", "v1"}, {"kind", "Secret"},
                     {"type", "kubernetes.io/service-account-token"},
                     {"metadata", {{"name", "s"},
                                   {"annotations", {{"kubernetes.io/service-account.name", "default"}}}}}};
  ASSERT_EQ(hub.Do("POST", base + "/secrets", made).code, 201);
  const auto told = [&] {
    const Json secret = hub.Get(base + "/secrets/s").body;
    return openapi::DecodeBase64(StringAt(secret, {"data", "ca.crt"})).value_or("");
  };
  EXPECT_TRUE(Eventually([&] { return told() == "the server's authority"; })) << told();
  const std::string token = StringAt(hub.Get(base + "/secrets/s").body, {"data", "token"});
  EXPECT_FALSE(token.empty());
  hub.Do("PATCH", base + "/secrets/s", {{"data", {{"ca.crt", openapi::EncodeBase64("forged")}}}},
         "application/merge-patch+json");
  EXPECT_TRUE(Eventually([&] { return told() == "the server's authority"; })) << told();
  EXPECT_EQ(StringAt(hub.Get(base + "/secrets/s").body, {"data", "token"}), token);
}

}  // namespace
}  // namespace mailroom
