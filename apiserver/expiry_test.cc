// What goes by age, and when.
#include "apiserver/expiry.h"

#include <gtest/gtest.h>

#include "apiserver/client/certificate_request.h"
#include "apiserver/pki.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kNamespaces = "/clusters/c/api/v1/namespaces";

TEST(Expiry, KnowsWhenObjectsGo) {
  const auto due = [](const GroupResource& resource, const Json& tree) {
    return apiserver::ExpiryOf(resource, *Object::Make(tree, Revision(1)));
  };
  const GroupResource events{"", "events"}, secrets{"", "secrets"};
  const GroupResource requests{"certificates.k8s.io", "certificatesigningrequests"};
  const std::int64_t noon = ParseTime("2030-01-01T12:00:00Z");
  Json event = {{"apiVersion", "v1"}, {"kind", "Event"},
                {"metadata", {{"name", "e"}, {"namespace", "n"},
                              {"creationTimestamp", "2030-01-01T11:00:00Z"}}},
                {"lastTimestamp", "2030-01-01T12:00:00Z"}};
  EXPECT_EQ(due(events, event), noon + 3600);
  EXPECT_EQ(due({"example.com", "events"}, event), std::nullopt) << "somebody's own kind";
  Json request = {{"apiVersion", "certificates.k8s.io/v1"}, {"kind", "CertificateSigningRequest"},
                  {"metadata", {{"name", "r"}, {"creationTimestamp", "2030-01-01T12:00:00Z"}}}};
  EXPECT_EQ(due(requests, request), noon + 86400);
  Set(request, {"status", "conditions"},
      Json::array({{{"type", "Denied"}, {"lastUpdateTime", "2030-01-01T12:00:00Z"}}}));
  EXPECT_EQ(due(requests, request), noon + 3600);
  EXPECT_EQ(due({"example.com", "requests"}, request), std::nullopt);
  const auto decided = [&](const std::vector<std::string>& types, const std::string& certificate) {
    Json conditions = Json::array();
    for (const std::string& type : types) {
      conditions.push_back({{"type", type}, {"lastUpdateTime", "2030-01-02T12:00:00Z"}});
    }
    Set(request, {"status"}, {{"conditions", conditions}, {"certificate", openapi::EncodeBase64(certificate)}});
    return due(requests, request);
  };
  const std::int64_t next = noon + 86400;
  EXPECT_EQ(decided({"Approved"}, ""), next + 86400) << "its signer has a day";
  EXPECT_EQ(decided({"Approved"}, "no certificate"), next + 3600);
  EXPECT_EQ(decided({"Approved", "Failed"}, ""), next + 3600);
  EXPECT_EQ(decided({"Noticed"}, ""), std::nullopt) << "somebody else's word";
  const auto authority = apiserver::NewAuthority("test", std::chrono::hours(1));
  ASSERT_TRUE(authority.ok());
  const auto end = apiserver::ReadCertificate(authority->cert_pem)->not_after;
  EXPECT_EQ(decided({"Approved"}, authority->cert_pem),
            std::chrono::duration_cast<std::chrono::seconds>(end.time_since_epoch()).count())
      << "its certificate is over before";
  Json token = {{"apiVersion", "v1"}, {"kind", "Secret"},
                {"metadata", {{"name", "bootstrap-token-abcdef"}, {"namespace", "kube-system"}}},
                {"data", {{"expiration", "MjAzMC0wMS0wMVQxMjowMDowMFo="}}}};
  EXPECT_EQ(due(secrets, token), noon);
  EXPECT_EQ(due({"example.com", "secrets"}, token), std::nullopt);
  EXPECT_EQ(due({"", "configmaps"}, ConfigMap("x")), std::nullopt);
}

TEST(Expiry, WhatIsOverGoes) {
  TestHub hub;
  hub.NewWorkspace("c", "cluster");
  const std::string events = kNamespaces + "/default/events";
  Json event = {{"apiVersion", "v1"}, {"kind", "Event"}, {"metadata", {{"name", "young"}}},
                {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", "default"}}},
                {"reason", "R"}, {"message", "m"}, {"type", "Normal"}};
  ASSERT_EQ(hub.Do("POST", events, event).code, 201);
  const std::string secrets = kNamespaces + "/kube-system/secrets";
  auto old = hub.Do("POST", secrets,
                    {{"apiVersion", "v1"}, {"kind", "Secret"},
                     {"type", "bootstrap.kubernetes.io/token"},
                     {"metadata", {{"name", "bootstrap-token-abcdef"}}},
                     {"stringData", {{"token-id", "abcdef"}, {"token-secret", "0123456789abcdef"},
                                     {"expiration", "2020-01-01T00:00:00Z"}}}});
  ASSERT_EQ(old.code, 201) << old.text;
  EXPECT_TRUE(Eventually([&] { return hub.Get(secrets + "/bootstrap-token-abcdef").code == 404; }));
  const std::string requests = "/clusters/c/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const auto key = client::NewKey();
  ASSERT_TRUE(key.ok());
  const std::string pem = *client::NewSigningRequest(*key, "somebody", {});
  for (const char* name : {"waits", "refused"}) {
    const auto made = hub.Do("POST", requests,
                             {{"apiVersion", "certificates.k8s.io/v1"}, {"kind", "CertificateSigningRequest"},
                              {"metadata", {{"name", name}}},
                              {"spec", {{"request", openapi::EncodeBase64(pem)}, {"signerName", "example.com/own"},
                                        {"usages", {"client auth"}}}}});
    ASSERT_EQ(made.code, 201) << made.text;
  }
  Json request = hub.Get(requests + "/refused").body;
  Set(request, {"status", "conditions"},
      Json::array({{{"type", "Denied"}, {"status", "True"}, {"lastUpdateTime", "2020-01-01T00:00:00Z"}}}));
  const auto denied = hub.Do("PUT", requests + "/refused/approval", request);
  ASSERT_EQ(denied.code, 200) << denied.text;
  EXPECT_TRUE(Eventually([&] { return hub.Get(requests + "/refused").code == 404; }));
  EXPECT_EQ(hub.Get(requests + "/waits").code, 200);
  EXPECT_EQ(hub.Get(events + "/young").code, 200);
}

}  // namespace
}  // namespace mailroom
