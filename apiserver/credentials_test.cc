// Credentials end when what they stand for ends, and each is good for one thing.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

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
  static constexpr std::string_view kSigner = "mailbox.kubestellar.io/syncer-client";
  JoinTokens() : hub(Options()) {
    hub.NewWorkspace("its1-mb-a", "mailbox");
    MakeToken("aaaaaa");
  }
  void MakeToken(const std::string& id) {
    auto data = [](std::string_view text) { return openapi::EncodeBase64(text); };
    const auto made = hub.Do("POST", "/api/v1/namespaces/kube-system/secrets",
                             {{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "bootstrap.kubernetes.io/token"},
                              {"metadata", {{"name", "bootstrap-token-" + id}}},
                              {"data", {{"token-id", data(id)}, {"token-secret", data("0123456789abcdef")},
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
  static Json Asked(const Json& metadata, const std::string& pem, const std::string& signer, const std::string& usage) {
    return {{"apiVersion", "certificates.k8s.io/v1"}, {"kind", "CertificateSigningRequest"}, {"metadata", metadata},
            {"spec", {{"request", openapi::EncodeBase64(pem)}, {"signerName", signer}, {"usages", {usage}}}}};
  }
  TestHub::Answer Post(const std::string& name, const std::string& mailbox, const std::string& organization,
                       const std::string& signer = std::string(kSigner), const std::string& usage = "client auth") {
    const std::string pem = *client::NewSigningRequest(*client::NewKey(), "system:syncer:" + mailbox, {organization});
    Request request;
    request.method = "POST";
    request.path = kRequests;
    request.body = DumpJson(Asked({{"name", name}}, pem, signer, usage));
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
  EXPECT_EQ(Post("server", "its1-mb-a", group, std::string(kSigner), "server auth").code, 403) << "would not be signed";
  EXPECT_EQ(Spent(), "");
  EXPECT_EQ(Post("own", "its1-mb-a", group).code, 201);
  EXPECT_EQ(Spent(), "own");
}

// A mailbox is that of an entry in an inventory; whatever else is called so gets no syncer.
TEST_F(JoinTokens, AreForMailboxesOfInventories) {
  EXPECT_EQ(hub.Do("DELETE", "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces/its1").code, 200);
  EXPECT_EQ(Post("own", "its1-mb-a", group).code, 403);
  hub.NewWorkspace("its1", "cluster");
  EXPECT_EQ(Post("own", "its1-mb-a", group).code, 403);
  EXPECT_EQ(Spent(), "");
}

TEST_F(JoinTokens, AreSpentOnce) {
  // On the request itself: whether it is answered yet does not matter.
  std::atomic<int> made = 0, refused = 0;
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 4; ++i) {
      askers.emplace_back([&, i] {
        for (int j = 0; j < 5; ++j) {
          const int code = Post("r" + std::to_string(i) + "-" + std::to_string(j), "its1-mb-a", group).code;
          ++(code == 201 ? made : refused);
          EXPECT_TRUE(code == 201 || code == 403) << code;
        }
      });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused, 19);
  EXPECT_EQ(Find(hub.Get(kRequests).body, {"items"})->size(), 1u);
  const std::string winner = Spent();
  ASSERT_TRUE(hub.server().StartControllers().ok());
  EXPECT_TRUE(Eventually([&] { return Signed(winner); })) << winner;
  EXPECT_EQ(Post("late", "its1-mb-a", group).code, 403);
}

// Who lost the answer asks again under the same name, and finds the request there.
TEST_F(JoinTokens, FindTheirRequestAgain) {
  ASSERT_EQ(Post("mine", "its1-mb-a", group).code, 201);
  EXPECT_EQ(Post("mine", "its1-mb-a", group).code, 403);
  Request request;
  request.method = "GET";
  request.path = kRequests + "/mine";
  request.headers.Add("authorization", "Bearer aaaaaa.0123456789abcdef");
  EXPECT_EQ(hub.Send(request).code, 200);
}

// A hub that stopped after the request was made answers it when it is back. One that the token was
// not spent on is not answered.
TEST_F(JoinTokens, AHubThatStoppedHalfWayGoesOn) {
  ASSERT_EQ(Post("first", "its1-mb-a", group).code, 201);
  Json other = hub.Get(kRequests + "/first").body;
  Set(other, {"metadata", "name"}, "other");
  storage::Txn txn;
  const ResourceKey key{Workspace("root"), {"certificates.k8s.io", "certificatesigningrequests"}, "", "other"};
  txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                            std::make_shared<const std::string>(Object::Encode(other))});
  ASSERT_TRUE(hub.server().dispatcher().hub().store.Commit(std::move(txn)).ok());
  ASSERT_TRUE(hub.server().StartControllers().ok());
  EXPECT_TRUE(Eventually([&] { return Signed("first"); }));
  hub.server().StopControllers();
  EXPECT_FALSE(Signed("other"));
  EXPECT_EQ(Spent(), "first");
}

TEST_F(JoinTokens, ASyncerWaitsForItsAnswers) {
  auto renew = [&] {
    const std::string pem = *client::NewSigningRequest(*client::NewKey(), "system:syncer:its1-mb-a", {group});
    Request request;
    request.method = "POST";
    request.path = "/clusters/its1-mb-a" + kRequests;
    request.body = DumpJson(Asked({{"generateName", "r-"}}, pem, std::string(kSigner), "client auth"));
    request.headers.Add("content-type", "application/json");
    request.peer.common_name = "system:syncer:its1-mb-a";
    request.peer.organizations = {group};
    return hub.Send(std::move(request));
  };
  for (std::size_t i = 0; i < limits::kRequestsOfOne; ++i) ASSERT_EQ(renew().code, 201);
  const auto refused = renew();
  EXPECT_EQ(refused.code, 429) << refused.text;
  ASSERT_TRUE(hub.server().StartControllers().ok());
  EXPECT_TRUE(Eventually([&] { return renew().code == 201; }));
}

// Until then somebody may decide, and the token be used.
TEST_F(JoinTokens, WhatIsUndecidedStaysADay) {
  ASSERT_EQ(Post("template", "its1-mb-a", group).code, 201);
  const Json made = hub.Get(kRequests + "/template").body;
  auto store = [&](const std::string& name, const std::string& user, std::chrono::hours age, const Json& status) {
    Json request = made;
    Set(request, {"metadata", "name"}, name);
    Set(request, {"metadata", "creationTimestamp"}, FormatTime(std::chrono::system_clock::now() - age));
    Set(request, {"spec", "username"}, user);
    if (!status.is_null()) request["status"] = status;
    storage::Txn txn;
    const ResourceKey key{Workspace("root"), {"certificates.k8s.io", "certificatesigningrequests"}, "", name};
    txn.operations.push_back({storage::Operation::Type::kPut, key.ToStoreKey(),
                              std::make_shared<const std::string>(Object::Encode(request))});
    ASSERT_TRUE(hub.server().dispatcher().hub().store.Commit(std::move(txn)).ok());
  };
  const std::string then = FormatTime(std::chrono::system_clock::now() - std::chrono::hours(2));
  store("undecided", "system:bootstrap:bbbbbb", std::chrono::hours(2), nullptr);
  store("old", "alice", std::chrono::hours(25), nullptr);
  store("denied", "alice", std::chrono::hours(2),
        {{"conditions", Json::array({{{"type", "Denied"}, {"status", "True"}, {"lastUpdateTime", then}}})}});
  const std::string unspent = "/api/v1/namespaces/kube-system/secrets/bootstrap-token-bbbbbb";
  MakeToken("bbbbbb");
  ASSERT_TRUE(hub.server().StartControllers().ok());
  EXPECT_TRUE(Eventually([&] {
    return Signed("template") && hub.Get(kRequests + "/old").code == 404 && hub.Get(kRequests + "/denied").code == 404;
  }));
  EXPECT_EQ(hub.Get(kRequests + "/undecided").code, 200);
  EXPECT_EQ(hub.Get(unspent).code, 200);
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
