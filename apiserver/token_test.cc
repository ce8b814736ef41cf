// Tokens and certificates: service accounts, bootstrap tokens, signing requests.
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <chrono>
#include <thread>

#include "apiserver/auth/jwt.h"
#include "apiserver/auth/user.h"
#include "apiserver/client/certificate_request.h"
#include "apiserver/pki.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "storage/object/openssl.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

using apiserver::TokenKeys;

Request Ask(const std::string& method, const std::string& path, const Json& body = nullptr) {
  Request request;
  request.method = method;
  request.path = path;
  if (!body.is_null()) {
    request.body = DumpJson(body);
    request.headers.Add("content-type", "application/json");
  }
  return request;
}

class Tokens : public testing::Test {
 protected:
  Tokens() {
    hub.NewWorkspace("c1", "cluster");
    hub.NewWorkspace("c2", "cluster");
    for (const char* ws : {"c1", "c2"}) {
      EXPECT_EQ(hub.Do("POST", Base(ws) + "/serviceaccounts",
                       {{"apiVersion", "v1"}, {"kind", "ServiceAccount"},
                        {"metadata", {{"name", "robot"}}}}).code, 201);
      EXPECT_EQ(hub.Do("POST", "/clusters/" + std::string(ws) +
                                   "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
                       {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "RoleBinding"},
                        {"metadata", {{"name", "robot"}}},
                        {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "edit"}}},
                        {"subjects", Json::array({{{"kind", "ServiceAccount"}, {"name", "robot"}}})}}).code, 201);
    }
  }
  static std::string Base(const std::string& ws) {
    return "/clusters/" + ws + "/api/v1/namespaces/default";
  }
  TestHub::Answer RequestToken(const std::string& ws, const Json& spec = Json::object()) {
    return hub.Do("POST", Base(ws) + "/serviceaccounts/robot/token",
                  {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", spec}});
  }
  std::string Token(const std::string& ws, const Json& spec = Json::object()) {
    const auto answer = RequestToken(ws, spec);
    EXPECT_EQ(answer.code, 201) << answer.text;
    return StringAt(answer.body, {"status", "token"});
  }
  TestHub::Answer With(const std::string& token, const std::string& path) {
    Request request = Ask("GET", path);
    request.headers.Add("authorization", "Bearer " + token);
    return hub.Send(std::move(request));
  }
  // The claims of a token, to be changed and signed by somebody else.
  static Json Claims(const std::string& token) {
    const std::size_t first = token.find('.');
    std::string text;
    apiserver::DecodeUrl64(token.substr(first + 1, token.rfind('.') - first - 1), text);
    return *ParseJson(text);
  }
  TestHub hub;
};

TEST_F(Tokens, ATokenIsItsAccountInItsWorkspaceOnly) {
  const std::string token = Token("c1");
  EXPECT_EQ(With(token, Base("c1") + "/configmaps").code, 200);
  EXPECT_EQ(With(token, Base("c1") + "/serviceaccounts/robot").code, 200);
  EXPECT_EQ(With(token, "/clusters/c1/apis").code, 200);
  // c2 has a robot of the same name with the same rights: another one.
  for (const std::string& path : {Base("c2") + "/configmaps", std::string("/clusters/c2/apis"),
                                  std::string("/api/v1/namespaces/default/configmaps"),
                                  std::string("/clusters/*/api/v1/configmaps"),
                                  std::string("/clusters/wds1/api/v1/configmaps"),
                                  std::string("/clusters/none/api/v1/configmaps")}) {
    EXPECT_EQ(With(token, path).code, 403) << path;
  }
  const Json claims = Claims(token);
  EXPECT_EQ(StringAt(claims, {"iss"}), "https://hub.test/clusters/c1");
  EXPECT_EQ(StringAt(claims, {"sub"}), "system:serviceaccount:default:robot");
  EXPECT_EQ(IntAt(claims, {"exp"}) - IntAt(claims, {"iat"}), 3600);
}

TEST_F(Tokens, WhatDoesNotHoldIsUnauthorized) {
  const std::string token = Token("c1");
  const std::string path = Base("c1") + "/configmaps";
  const Json claims = Claims(token);
  std::vector<std::string> bad = {
      "", "x", "a.b", "a.b.c", "..", token.substr(0, token.size() - 4), token + "AAAA",
      // An algorithm of the token's own choosing.
      apiserver::EncodeUrl64(R"({"alg":"none"})") + "." + apiserver::EncodeUrl64(DumpJson(claims)) + ".",
      apiserver::EncodeUrl64(R"({"alg":"HS256"})") + token.substr(token.find('.'))};
  // Signed by somebody else.
  auto forger = TokenKeys::Load(*apiserver::NewPrivateKey(), {});
  ASSERT_TRUE(forger.ok());
  bad.push_back(forger->Sign(claims));
  // The signature of one token under the claims of another.
  Json other = claims;
  other["sub"] = "system:serviceaccount:default:admin";
  bad.push_back(token.substr(0, token.find('.') + 1) + apiserver::EncodeUrl64(DumpJson(other)) +
                token.substr(token.rfind('.')));
  // Meant for somebody else.
  bad.push_back(Token("c1", {{"audiences", {"https://elsewhere"}}}));
  for (const std::string& text : bad) {
    const auto answer = With(text, path);
    EXPECT_EQ(answer.code, 401) << text;
    EXPECT_EQ(StringAt(answer.body, {"reason"}), "Unauthorized");
    EXPECT_EQ(With(text, "/healthz").code, 401) << "never anonymous";
  }
  Request basic = Ask("GET", path);
  basic.headers.Add("authorization", "Basic YTpi");
  EXPECT_EQ(hub.Send(basic).code, 401);
}

TEST_F(Tokens, DieWithWhatTheyAreBoundTo) {
  const std::string path = Base("c1") + "/configmaps";
  const auto secret = hub.Do("POST", Base("c1") + "/secrets",
                             {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "tie"}}}});
  const std::string bound = Token("c1", {{"boundObjectRef", {{"kind", "Secret"}, {"apiVersion", "v1"}, {"name", "tie"}}}});
  const std::string free = Token("c1");
  EXPECT_EQ(With(bound, path).code, 200);
  EXPECT_EQ(RequestToken("c1", {{"boundObjectRef", {{"kind", "Secret"}, {"apiVersion", "v1"}, {"name", "none"}}}}).code, 404);
  EXPECT_EQ(RequestToken("c1", {{"boundObjectRef", {{"kind", "Secret"}, {"apiVersion", "v1"}, {"name", "tie"}, {"uid", "x"}}}}).code, 409);
  EXPECT_EQ(RequestToken("c1", {{"boundObjectRef", {{"kind", "ConfigMap"}, {"apiVersion", "v1"}, {"name", "tie"}}}}).code, 400);
  EXPECT_EQ(RequestToken("c1", {{"boundObjectRef", nullptr}, {"audiences", nullptr}}).code, 201);
  EXPECT_EQ(RequestToken("c1", {{"expirationSeconds", 60}}).code, 422);
  hub.Do("DELETE", Base("c1") + "/secrets/tie");
  EXPECT_EQ(With(bound, path).code, 401);
  EXPECT_EQ(With(free, path).code, 200);
  hub.Do("DELETE", Base("c1") + "/serviceaccounts/robot");
  EXPECT_EQ(With(free, path).code, 401);
  hub.Do("POST", Base("c1") + "/serviceaccounts",
         {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "robot"}}}});
  EXPECT_EQ(With(free, path).code, 401) << "a new account of the old name";
}

TEST_F(Tokens, KubeletsGetMoreThanTheyAskFor) {
  const auto pod = hub.Do("POST", Base("c1") + "/pods",
                          {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}}},
                           {"spec", {{"serviceAccountName", "robot"},
                                     {"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}});
  ASSERT_EQ(pod.code, 201) << pod.text;
  const Json ref = {{"kind", "Pod"}, {"apiVersion", "v1"}, {"name", "p"}};
  const auto asked = RequestToken("c1", {{"boundObjectRef", ref}, {"expirationSeconds", 3607}});
  EXPECT_EQ(IntAt(asked.body, {"spec", "expirationSeconds"}), 3607);
  const Json claims = Claims(StringAt(asked.body, {"status", "token"}));
  EXPECT_EQ(IntAt(claims, {"exp"}) - IntAt(claims, {"iat"}), 365 * 24 * 3600);
  EXPECT_EQ(IntAt(claims, {"kubernetes.io", "warnafter"}) - IntAt(claims, {"iat"}), 3607);
  EXPECT_LE(ParseTime(StringAt(asked.body, {"status", "expirationTimestamp"})), IntAt(claims, {"iat"}) + 3608);
  for (const Json& spec : {Json{{"boundObjectRef", ref}, {"expirationSeconds", 3600}}, Json{{"expirationSeconds", 3607}},
                           Json{{"boundObjectRef", ref}, {"expirationSeconds", 3607}, {"audiences", {"vault"}}}}) {
    const Json plain = Claims(Token("c1", spec));
    EXPECT_EQ(IntAt(plain, {"exp"}) - IntAt(plain, {"iat"}), IntAt(spec, {"expirationSeconds"})) << DumpJson(spec);
    EXPECT_EQ(Find(plain, {"kubernetes.io", "warnafter"}), nullptr);
  }
  auto named = [&](const char* member, const char* value) {
    return hub.Do("POST", Base("c1") + "/serviceaccounts/robot/token",
                  {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"metadata", {{member, value}}}});
  };
  EXPECT_EQ(StringAt(named("name", "other").body, {"message"}),
            "TokenRequest.authentication.k8s.io \"robot\" is invalid: metadata.name: Invalid value: \"other\": must "
            "match the service account name if specified");
  EXPECT_EQ(named("namespace", "other").code, 400);
  EXPECT_EQ(named("name", "robot").code, 201);
}

TEST_F(Tokens, ReviewsAndDiscoveryDocuments) {
  const std::string token = Token("c1");
  auto review = [&](const std::string& ws, const std::string& text, const Json& audiences) {
    Json spec = {{"token", text}};
    if (!audiences.is_null()) spec["audiences"] = audiences;
    return hub.Do("POST", "/clusters/" + ws + "/apis/authentication.k8s.io/v1/tokenreviews",
                  {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", spec}}).body;
  };
  const Json good = review("c1", token, nullptr);
  EXPECT_TRUE(BoolAt(good, {"status", "authenticated"})) << DumpJson(good);
  EXPECT_EQ(StringAt(good, {"status", "user", "username"}), "system:serviceaccount:default:robot");
  EXPECT_EQ(StringsAt(good, {"status", "user", "groups"}),
            (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}));
  EXPECT_FALSE(BoolAt(review("c2", token, nullptr), {"status", "authenticated"}));
  EXPECT_FALSE(BoolAt(review("c1", "rubbish", nullptr), {"status", "authenticated"}));
  EXPECT_FALSE(BoolAt(review("c1", token, {"elsewhere"}), {"status", "authenticated"}));
  const std::string vault = Token("c1", {{"audiences", {"vault"}}});
  EXPECT_EQ(StringsAt(review("c1", vault, {"vault", "x"}), {"status", "audiences"}), std::vector<std::string>{"vault"});
  EXPECT_EQ(StringAt(With(token, "/clusters/c1/.well-known/openid-configuration").body, {"jwks_uri"}),
            "https://hub.test/clusters/c1/openid/v1/jwks");
  const auto keys = With(token, "/clusters/c1/openid/v1/jwks");
  EXPECT_EQ(keys.headers.Get("content-type"), "application/jwk-set+json");
  EXPECT_EQ(StringAt((*Find(keys.body, {"keys"}))[0], {"alg"}), "ES256");
  EXPECT_EQ(hub.Send(Ask("GET", "/clusters/c1/openid/v1/jwks")).code, 403);
}

TEST_F(Tokens, ASecretOfTheRightTypeIsFilled) {
  hub.Do("POST", Base("c1") + "/secrets",
         {{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "kubernetes.io/service-account-token"},
          {"metadata", {{"name", "old-way"}, {"annotations", {{"kubernetes.io/service-account.name", "robot"}}}}}});
  std::string token;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (token.empty() && std::chrono::steady_clock::now() < end) {
    const Json secret = hub.Get(Base("c1") + "/secrets/old-way").body;
    token = openapi::DecodeBase64(StringAt(secret, {"data", "token"})).value_or("");
    std::this_thread::yield();
  }
  EXPECT_EQ(With(token, Base("c1") + "/configmaps").code, 200);
  hub.Do("DELETE", Base("c1") + "/secrets/old-way");
  EXPECT_EQ(With(token, Base("c1") + "/configmaps").code, 401);
}

TEST_F(Tokens, KeysRotate) {
  const std::string old_key = *apiserver::NewPrivateKey(), new_key = *apiserver::NewPrivateKey();
  const Json claims = {{"sub", "x"}};
  const std::string token = TokenKeys::Load(old_key, {})->Sign(claims);
  auto both = TokenKeys::Load(new_key, {old_key});
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE(both->Verify(token).ok());
  EXPECT_TRUE(both->Verify(both->Sign(claims)).ok());
  EXPECT_FALSE(TokenKeys::Load(new_key, {})->Verify(token).ok());
  EXPECT_EQ(Find(both->key_set(), {"keys"})->size(), 2u);
  EXPECT_FALSE(TokenKeys::Load("rubbish", {}).ok());
}

// A private key of the kind many hubs come from.
std::string NewRsaKey(unsigned bits = 2048) {
  const openssl::PrivateKey key(EVP_RSA_gen(bits));
  const openssl::Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return openssl::Text(bio.get());
}

std::string HeaderOf(const std::string& token) {
  std::string text;
  apiserver::DecodeUrl64(token.substr(0, token.find('.')), text);
  return text;
}

TEST(TokenKeysTest, RsaAndCurvesSignAndRotate) {
  const std::string rsa = NewRsaKey(), curve = *apiserver::NewPrivateKey();
  const Json claims = {{"sub", "x"}};
  auto old_keys = TokenKeys::Load(rsa, {});
  ASSERT_TRUE(old_keys.ok());
  const std::string token = old_keys->Sign(claims);
  EXPECT_NE(HeaderOf(token).find("\"alg\":\"RS256\""), std::string::npos);
  ASSERT_TRUE(old_keys->Verify(token).ok());
  EXPECT_EQ(*old_keys->Verify(token), claims);
  std::string bent = token;
  bent[bent.size() / 2] = bent[bent.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(old_keys->Verify(bent).ok());

  // To a curve, the old key still believed; the key decides the algorithm, not the token.
  auto both = TokenKeys::Load(curve, {rsa});
  ASSERT_TRUE(both.ok());
  EXPECT_NE(HeaderOf(both->Sign(claims)).find("\"alg\":\"ES256\""), std::string::npos);
  EXPECT_TRUE(both->Verify(both->Sign(claims)).ok());
  EXPECT_TRUE(both->Verify(token).ok());
  EXPECT_FALSE(TokenKeys::Load(curve, {})->Verify(token).ok());
  EXPECT_EQ(both->algorithms(), (std::vector<std::string>{"ES256", "RS256"}));
  for (const std::string& other : {std::string("ES256"), std::string("HS256"), std::string("none")}) {
    const std::string header = apiserver::EncodeUrl64(DumpJson({{"alg", other}}));
    EXPECT_FALSE(both->Verify(header + token.substr(token.find('.'))).ok()) << other;
  }
  EXPECT_FALSE(TokenKeys::Load(NewRsaKey(1024), {}).ok()) << "too short to be safe";
}

// A hub that moves from RSA to a curve: tokens of both hold, and strangers can verify both by the
// documents of the token's own workspace.
TEST(TokenKeysTest, AHubRotatesFromRsaToACurve) {
  const std::string rsa = NewRsaKey();
  for (const bool rotated : {false, true}) {
    apiserver::Server::Options options;
    options.identity.token_key_pem = rotated ? *apiserver::NewPrivateKey() : rsa;
    if (rotated) options.identity.believed_token_keys = {rsa};
    TestHub hub(options);
    hub.NewWorkspace("c1", "cluster");
    const std::string base = "/clusters/c1/api/v1/namespaces/default/serviceaccounts";
    hub.Do("POST", base, {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "robot"}}}});
    const auto asked = hub.Do("POST", base + "/robot/token",
                              {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
    const std::string token = StringAt(asked.body, {"status", "token"});
    const auto& tokens = hub.server().dispatcher().hub().tokens;
    EXPECT_TRUE(tokens.Verify(token, {}).ok());
    EXPECT_NE(HeaderOf(token).find(rotated ? "ES256" : "RS256"), std::string::npos);
    // What the old key signs for the account as it is now holds before and after.
    std::string text;
    const std::size_t first = token.find('.');
    ASSERT_TRUE(apiserver::DecodeUrl64(token.substr(first + 1, token.rfind('.') - first - 1), text));
    const std::string by_old_key = TokenKeys::Load(rsa, {})->Sign(*ParseJson(text));
    EXPECT_TRUE(tokens.Verify(by_old_key, {}).ok());

    const Json configuration = hub.Get("/clusters/c1/.well-known/openid-configuration").body;
    EXPECT_EQ(StringAt(configuration, {"issuer"}), "https://hub.test/clusters/c1");
    EXPECT_EQ(StringsAt(configuration, {"id_token_signing_alg_values_supported"}),
              rotated ? (std::vector<std::string>{"ES256", "RS256"}) : std::vector<std::string>{"RS256"});
    const Json keys = hub.Get("/clusters/c1/openid/v1/jwks").body;
    const Json& list = *Find(keys, {"keys"});
    ASSERT_EQ(list.size(), rotated ? 2u : 1u);
    const Json& last = list.back();
    EXPECT_EQ(StringAt(last, {"kty"}), "RSA");
    EXPECT_EQ(StringAt(last, {"alg"}), "RS256");
    EXPECT_EQ(StringAt(last, {"e"}), "AQAB");
    EXPECT_EQ(StringAt(last, {"n"}).size(), 342u) << "256 bytes, nothing in front of them";
    if (rotated) {
      EXPECT_EQ(StringAt(list.front(), {"crv"}), "P-256");
    }
  }
}

class Joining : public testing::Test {
 protected:
  Joining() {
    hub.NewWorkspace("its1-mb-a", "mailbox");
    hub.NewWorkspace("its1-mb-b", "mailbox");
  }
  void MakeToken(const std::string& ws, const std::string& id, const Json& more) {
    Json data = {{"token-id", openapi::EncodeBase64(id)},
                 {"token-secret", openapi::EncodeBase64("0123456789abcdef")},
                 {"usage-bootstrap-authentication", openapi::EncodeBase64("true")}};
    for (const auto& [key, value] : more.items()) data[key] = openapi::EncodeBase64(StringAt(more, {key}));
    const auto made = hub.Do("POST", "/clusters/" + ws + "/api/v1/namespaces/kube-system/secrets",
                             {{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "bootstrap.kubernetes.io/token"},
                              {"metadata", {{"name", "bootstrap-token-" + id}}}, {"data", data}});
    ASSERT_EQ(made.code, 201) << made.text;
  }
  static Request Bearer(Request request, const std::string& id) {
    request.headers.Add("authorization", "Bearer " + id + ".0123456789abcdef");
    return request;
  }
  static Request Csr(const std::string& ws, const std::string& common_name, const std::string& group,
                     const std::string& signer = "mailbox.kubestellar.io/syncer-client") {
    const std::string pem = *client::NewSigningRequest(*client::NewKey(), common_name, {group});
    return Ask("POST", "/clusters/" + ws + "/apis/certificates.k8s.io/v1/certificatesigningrequests",
               {{"apiVersion", "certificates.k8s.io/v1"}, {"kind", "CertificateSigningRequest"},
                {"metadata", {{"generateName", "csr-"}}},
                {"spec", {{"request", openapi::EncodeBase64(pem)}, {"signerName", signer},
                          {"usages", {"client auth", "digital signature"}}}}});
  }
  Json See(const std::string& ws, const Json& made) {
    return hub.Get("/clusters/" + ws + "/apis/certificates.k8s.io/v1/certificatesigningrequests/" +
                   StringAt(made, {"metadata", "name"})).body;
  }
  // The certificate once it is there, "" when it does not come while others do.
  std::string Certificate(const std::string& ws, const Json& made) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      const std::string text = StringAt(See(ws, made), {"status", "certificate"});
      if (!text.empty()) return *openapi::DecodeBase64(text);
      std::this_thread::yield();
    }
    return "";
  }
  TestHub hub;
  const std::string syncer_a = "system:syncer:its1-mb-a";
  const std::string group{apiserver::kSyncers};
};

TEST_F(Joining, AJoinTokenBringsOneCertificateForItsMailbox) {
  MakeToken("root", "aaaaaa", {{"mailbox", "its1-mb-a"}});
  const auto foreign = hub.Send(Bearer(Csr("root", "system:syncer:its1-mb-b", group), "aaaaaa"));
  EXPECT_EQ(foreign.code, 403);
  const auto master = hub.Send(Bearer(Csr("root", syncer_a, "system:masters"), "aaaaaa"));
  EXPECT_EQ(master.code, 403);
  const auto made = hub.Send(Bearer(Csr("root", syncer_a, group), "aaaaaa"));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(StringAt(made.body, {"spec", "username"}), "system:bootstrap:aaaaaa");
  const std::string pem = Certificate("root", made.body);
  const auto facts = apiserver::ReadCertificate(pem);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->common_name, syncer_a);
  EXPECT_EQ(facts->organizations, std::vector<std::string>{group});
  EXPECT_LE(facts->not_after - std::chrono::system_clock::now(), std::chrono::hours(24));
  EXPECT_EQ(hub.Send(Bearer(Csr("root", syncer_a, group), "aaaaaa")).code, 403) << "spent";
  const std::string own = "/clusters/root/apis/certificates.k8s.io/v1/certificatesigningrequests/";
  EXPECT_EQ(hub.Send(Bearer(Ask("GET", own + StringAt(made.body, {"metadata", "name"})), "aaaaaa")).code, 200);
}

TEST_F(Joining, AJoinTokenMayDoNothingElse) {
  MakeToken("its1", "bbbbbb", {{"mailbox", "its1-mb-a"}});
  for (const char* path : {"/clusters/its1/api/v1/secrets", "/clusters/its1/apis", "/clusters/its1-mb-a/api/v1/secrets",
                           "/clusters/its1/apis/certificates.k8s.io/v1/certificatesigningrequests",
                           "/clusters/its1/apis/edge.kubestellar.io/v2alpha1/synctargets"}) {
    EXPECT_GE(hub.Send(Bearer(Ask("GET", path), "bbbbbb")).code, 401) << path;
  }
  EXPECT_EQ(hub.Send(Bearer(Ask("GET", "/api/v1/namespaces"), "bbbbbb")).code, 401) << "a token of its1 is nobody in root";
  EXPECT_EQ(hub.Send(Bearer(Csr("root", syncer_a, group), "bbbbbb")).code, 401);
  const auto made = hub.Send(Bearer(Csr("its1", syncer_a, group), "bbbbbb"));
  EXPECT_FALSE(Certificate("its1", made.body).empty());
}

TEST_F(Joining, TokensEndAndAreForTheirUse) {
  MakeToken("root", "cccccc", {{"expiration", "2020-01-01T00:00:00Z"}});
  MakeToken("root", "dddddd", {{"usage-bootstrap-authentication", "false"}});
  MakeToken("root", "eeeeee", {{"auth-extra-groups", "system:masters"}});
  MakeToken("root", "ffffff", {{"auth-extra-groups", "system:bootstrappers:x"}});
  for (const char* id : {"cccccc", "dddddd", "eeeeee", "zzzzzz"}) {
    EXPECT_EQ(hub.Send(Bearer(Ask("GET", "/apis"), id)).code, 401) << id;
  }
  EXPECT_EQ(hub.Send(Bearer(Ask("GET", "/apis"), "ffffff")).code, 200);
  EXPECT_EQ(hub.Send(Bearer(Ask("GET", "/api/v1/secrets"), "ffffff")).code, 403);
  Request wrong = Ask("GET", "/apis");
  wrong.headers.Add("authorization", "Bearer ffffff.0123456789abcdeX");
  EXPECT_EQ(hub.Send(wrong).code, 401);
  // In a mailbox such a Secret is payload.
  MakeToken("its1-mb-a", "gggggg", {});
  EXPECT_EQ(hub.Send(Bearer(Ask("GET", "/clusters/its1-mb-a/apis"), "gggggg")).code, 401);
}

TEST_F(Joining, ASyncerRenewsItsOwnOnly) {
  auto as = [&](Request request, const std::string& user) {
    request.peer.common_name = user;
    request.peer.organizations = {group};
    return hub.Send(std::move(request));
  };
  const auto other = as(Csr("its1-mb-a", "system:syncer:its1-mb-b", group), syncer_a);
  EXPECT_EQ(other.code, 403);
  const auto own = as(Csr("its1-mb-a", syncer_a, group), syncer_a);
  ASSERT_EQ(own.code, 201) << own.text;
  EXPECT_FALSE(Certificate("its1-mb-a", own.body).empty());
  EXPECT_EQ(as(Csr("its1-mb-b", syncer_a, group), syncer_a).code, 403);
}

TEST_F(Joining, AnApprovalWritesAllConditionsAndRemovesNoDecision) {
  hub.NewWorkspace("c1", "cluster");
  Request request = Csr("c1", "bob", "devs", "example.com/signer");
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  const Json made = hub.Send(std::move(request)).body;
  const std::string path = "/clusters/c1/apis/certificates.k8s.io/v1/certificatesigningrequests/" +
                           StringAt(made, {"metadata", "name"});
  auto patch = [&](const std::string& where, const std::string& type) {
    const Json condition = {{"type", type}, {"status", "True"}, {"reason", "test"}};
    return hub.Do("PATCH", path + where,
                  {{"status", {{"conditions", Json::array({condition})}}}},
                  "application/merge-patch+json");
  };
  const auto other = patch("/approval", "Noted");
  ASSERT_EQ(other.code, 200) << other.text;
  EXPECT_EQ(StringAt((*Find(other.body, {"status", "conditions"}))[0], {"type"}), "Noted");
  EXPECT_FALSE(StringAt((*Find(other.body, {"status", "conditions"}))[0], {"lastUpdateTime"}).empty());
  EXPECT_EQ(patch("/approval", "Approved").code, 200);
  EXPECT_EQ(patch("/approval", "Noted").code, 422) << "a decision stands";
  EXPECT_EQ(patch("/status", "Signed").code, 422) << "a signer takes none away, either";
  Json signing = hub.Get(path).body;
  for (Json& condition : signing["status"]["conditions"]) condition["reason"] = "changed";
  signing["status"]["conditions"].push_back({{"type", "Signed"}, {"status", "False"}});
  const auto signed_too = hub.Do("PUT", path + "/status", signing);
  ASSERT_EQ(signed_too.code, 200) << signed_too.text;
  const Json& conditions = *Find(signed_too.body, {"status", "conditions"});
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_EQ(StringAt(conditions[0], {"reason"}), "test");
  signing = signed_too.body;
  signing["status"]["conditions"].push_back({{"type", "Denied"}, {"status", "True"}});
  EXPECT_EQ(hub.Do("PUT", path + "/status", signing).code, 422) << "nor adds a decision";
}

TEST_F(Joining, RootSignsWhatItsAdministratorApproves) {
  auto approve = [&](const std::string& ws, const Json& made) {
    Json object = made;
    object["status"]["conditions"] = Json::array({{{"type", "Approved"}, {"status", "True"}, {"reason", "ok"}}});
    return hub.Do("PUT", "/clusters/" + ws + "/apis/certificates.k8s.io/v1/certificatesigningrequests/" +
                             StringAt(made, {"metadata", "name"}) + "/approval", object);
  };
  auto admin = [&](Request request) {
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    return hub.Send(std::move(request)).body;
  };
  const std::string signer = "kubernetes.io/kube-apiserver-client";
  hub.NewWorkspace("c1", "cluster");
  const Json tenant_user = admin(Csr("c1", "bob", "devs", signer));
  for (const char* ws : {"c1", "root"}) {
    EXPECT_EQ(IntAt(admin(Csr(ws, "admin", "system:masters", signer)), {"code"}), 403) << ws;
  }
  const Json user = admin(Csr("root", "alice", "devs", signer));
  EXPECT_EQ(approve("c1", tenant_user).code, 200);
  const auto approved = approve("root", user);
  ASSERT_EQ(approved.code, 200) << approved.text;
  const auto facts = apiserver::ReadCertificate(Certificate("root", user));
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->common_name, "alice");
  EXPECT_EQ(Find(See("c1", tenant_user), {"status", "certificate"}), nullptr);
}

}  // namespace
}  // namespace mailroom
