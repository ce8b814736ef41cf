// Webhooks that are services of the workspace, wherever the workspace says these are; and who
// webhooks are told is asking.
#include <gtest/gtest.h>

#include <atomic>

#include "apiserver/admission/webhook_stand.h"
#include "test/support/test_hub.h"

namespace mailroom::admission {
namespace {

constexpr const char* kServices = "/api/v1/namespaces/default/services";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class ServiceWebhook : public testing::Test {
 protected:
  ServiceWebhook()
      : ws_(hub_.NewWorkspace("c1", "cluster")),
        certificates_(client::MakeTestCertificates("hook.default.svc")),
        server_(
            [this](const Request& request, client::ScriptedConnection& connection) {
              ++asked_;
              EXPECT_EQ(request.path, "/check");
              const auto review = ParseJson(request.body);
              connection.Reply(200, DumpJson({{"apiVersion", "admission.k8s.io/v1"},
                                              {"kind", "AdmissionReview"},
                                              {"response", {{"uid", (*review)["request"]["uid"]},
                                                            {"allowed", true}}}}));
            },
            &certificates_) {}

  void Make(const std::string& path, const Json& object) {
    const auto made = hub_.Do("POST", ws_ + path, object);
    ASSERT_EQ(made.code, 201) << made.text;
  }
  void MakeService(const Json& spec) {
    Make(kServices, {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "hook"}}},
                     {"spec", spec}});
  }
  void Configure(int port = 443) {
    Json hook = {{"name", "a.example.com"},
                 {"clientConfig",
                  {{"service", {{"namespace", "default"}, {"name", "hook"}, {"path", "/check"},
                                {"port", port}}},
                   {"caBundle", openapi::EncodeBase64(certificates_.ca_pem)}}},
                 {"rules", Json::array({{{"operations", {"*"}},
                                         {"apiGroups", {""}},
                                         {"apiVersions", {"v1"}},
                                         {"resources", {"configmaps"}}}})},
                 {"sideEffects", "None"},
                 {"admissionReviewVersions", {"v1"}},
                 {"timeoutSeconds", 30}};
    Make("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         WebhookConfiguration("ValidatingWebhookConfiguration", "v", Json::array({hook})));
  }
  TestHub::Answer Write() { return hub_.Do("POST", ws_ + kMaps, ConfigMap("a")); }
  void Fails(const std::string& why, int port = 443) {
    EXPECT_EQ(Write().body["message"],
              "Internal error occurred: failed calling webhook \"a.example.com\": failed to call "
              "webhook: Post \"https://hook.default.svc:" + std::to_string(port) +
                  "/check?timeout=30s\": " + why);
  }

  TestHub hub_;
  std::string ws_;
  std::atomic<int> asked_{0};
  const client::TestCertificates certificates_;
  client::ScriptedServer server_;
};

TEST_F(ServiceWebhook, IsFoundByEndpoints) {
  Configure();
  Fails("service \"hook\" not found");
  MakeService({{"ports", Json::array({{{"port", 443}}})}});
  Fails("no endpoints available for service \"hook\"");
  const Json subset = {{"addresses", Json::array({{{"ip", "127.0.0.1"}}})},
                       {"ports", Json::array({{{"port", server_.port()}}})}};
  Make("/api/v1/namespaces/default/endpoints",
       {{"apiVersion", "v1"}, {"kind", "Endpoints"}, {"metadata", {{"name", "hook"}}},
        {"subsets", Json::array({subset})}});
  EXPECT_EQ(Write().code, 201);
  EXPECT_EQ(asked_, 1);
}

TEST_F(ServiceWebhook, IsFoundByEndpointSlices) {
  Configure();
  const Json other = {{"name", "metrics"}, {"port", 80}};
  MakeService({{"ports", Json::array({other, {{"name", "hooks"}, {"port", 443}}})}});
  auto slice = [&](const std::string& name, const std::string& ip, bool ready) {
    return Json{{"apiVersion", "discovery.k8s.io/v1"},
                {"kind", "EndpointSlice"},
                {"metadata",
                 {{"name", name}, {"labels", {{"kubernetes.io/service-name", "hook"}}}}},
                {"addressType", "IPv4"},
                {"ports", Json::array({{{"name", "metrics"}, {"port", 1}},
                                       {{"name", "hooks"}, {"port", server_.port()}}})},
                {"endpoints", Json::array({{{"addresses", {ip}},
                                            {"conditions", {{"ready", ready}}}}})}};
  };
  const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
  Make(slices, slice("a-not-ready", "192.0.2.1", false));
  Fails("no endpoints available for service \"hook\"");
  Make(slices, slice("b-ready", "127.0.0.1", true));
  EXPECT_EQ(Write().code, 201);
  EXPECT_EQ(asked_, 1);
}

TEST_F(ServiceWebhook, IsFoundByAnExternalName) {
  Configure(server_.port());
  MakeService({{"type", "ExternalName"}, {"externalName", "localhost"}});
  EXPECT_EQ(Write().code, 201);
  EXPECT_EQ(asked_, 1);
}

TEST_F(ServiceWebhook, IsFoundByItsClusterAddress) {
  Configure(server_.port());
  MakeService({{"clusterIP", "127.0.0.1"},
               {"ports", Json::array({{{"port", server_.port()}}})}});
  EXPECT_EQ(Write().code, 201);
  EXPECT_EQ(asked_, 1);
}

TEST_F(ServiceWebhook, NeedsThePortItNames) {
  Configure(8443);
  MakeService({{"ports", Json::array({{{"port", 443}}})}});
  Fails("no service port 8443 found for service \"hook\"", 8443);
}

TEST(WebhookUser, IsToldWhole) {
  TestHub hub;
  const std::string ws = hub.NewWorkspace("c1", "cluster");
  WebhookStand stand([](const Json&) { return Json{{"allowed", true}}; });
  const Json configuration = WebhookConfiguration("ValidatingWebhookConfiguration", "v",
                                                  Json::array({stand.Hook("a.example.com")}));
  ASSERT_EQ(hub.Do("POST", ws + "/apis/admissionregistration.k8s.io/v1/"
                                "validatingwebhookconfigurations", configuration).code, 201);
  Request request;
  request.method = "POST";
  request.path = ws + kMaps;
  request.body = DumpJson(ConfigMap("a"));
  request.headers.Add("content-type", "application/json");
  request.headers.Add("impersonate-user", "alice");
  request.headers.Add("impersonate-uid", "4711");
  request.headers.Add("impersonate-group", "system:masters");
  request.headers.Add("impersonate-extra-scopes", "view");
  request.headers.Add("impersonate-extra-scopes", "edit");
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  const auto made = hub.Send(request);
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(stand.reviews().front()["request"]["userInfo"],
            (Json{{"username", "alice"},
                  {"uid", "4711"},
                  {"groups", {"system:masters", "system:authenticated"}},
                  {"extra", {{"scopes", {"view", "edit"}}}}}));
}

}  // namespace
}  // namespace mailroom::admission
