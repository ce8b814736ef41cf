// A workspace `c` with a Service behind which a real server stands, over TLS, for tests of API
// groups that another server serves.
#pragma once

#include <gtest/gtest.h>

#include <atomic>

#include "apiserver/aggregator.h"
#include "apiserver/client/scripted_server.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {

using client::ScriptedConnection;

inline const std::string kServices = "/apis/apiregistration.k8s.io/v1/apiservices";
inline const std::string kGroup = "/apis/ext.example.com";
inline const std::string kThings = kGroup + "/v1/namespaces/default/things";

inline const char* const kResources = R"({"kind":"APIResourceList","apiVersion":"v1",
  "groupVersion":"ext.example.com/v1","resources":[
  {"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","shortNames":["th"],
   "verbs":["get","list","watch"]},
  {"name":"things/status","singularName":"","namespaced":true,"kind":"Thing","verbs":["get"]}]})";

inline apiserver::KeyPair FrontAuthority() {
  static const auto* made =
      new apiserver::KeyPair(apiserver::NewAuthority("front-proxy-of-the-test").value());
  return *made;
}

inline apiserver::Server::Options HubOptions() {
  apiserver::Server::Options options;
  options.identity.front_proxy_authority = FrontAuthority();
  return options;
}

class Extension : public testing::Test {
 protected:
  explicit Extension(const apiserver::Server::Options& options = HubOptions())
      : hub(options),
        workspace(hub.NewWorkspace("c", "cluster")),
        certificates(client::MakeTestCertificates("ext.default.svc")),
        trusting(Trusting()),
        server([this](const Request& request,
                      ScriptedConnection& connection) { Answer(request, connection); },
               &trusting, /*require_client=*/true) {}

  // The server demands a certificate of the hub's front proxy.
  client::TestCertificates Trusting() {
    client::TestCertificates out = certificates;
    out.ca_pem = FrontAuthority().cert_pem;
    return out;
  }

  void Answer(const Request& request, ScriptedConnection& connection) {
    if (request.path == kGroup + "/v1") return connection.Reply(healthy ? 200 : 500, resources);
    if (request.path == "/openapi/v3") {
      return connection.Reply(200, R"({"paths":{"apis/ext.example.com/v1":{"serverRelativeURL":
          "/openapi/v3/apis/ext.example.com/v1?hash=ABC"}}})");
    }
    if (request.path == "/openapi/v2") {
      std::lock_guard lock(mutex);
      if (version2.empty()) return connection.Reply(404, "");
      const std::string etag = "\"" + version2_tag + "\"";
      if (request.headers.Get("if-none-match") == etag) {
        ++version2_spared;
        return connection.Write("HTTP/1.1 304 Not Modified\r\nETag: " + etag + "\r\n\r\n");
      }
      connection.Head(200, "ETag: " + etag + "\r\n");
      connection.Chunk(version2);
      return connection.End();
    }
    {
      std::lock_guard lock(mutex);
      asked.push_back(request);
    }
    if (script) return script(request, connection);
    connection.Reply(200, R"({"kind":"ThingList"})");
  }

  void Make(const std::string& path, const Json& object, const std::string& prefix = "/clusters/c") {
    const auto made = hub.Do("POST", prefix + path, object);
    ASSERT_EQ(made.code, 201) << made.text;
  }
  void MakeService() {
    Make("/api/v1/namespaces/default/services",
         {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "ext"}}},
          {"spec", {{"ports", Json::array({{{"port", 443}}})}}}});
    const Json subset = {{"addresses", Json::array({{{"ip", "127.0.0.1"}}})},
                         {"ports", Json::array({{{"port", server.port()}}})}};
    Make("/api/v1/namespaces/default/endpoints",
         {{"apiVersion", "v1"}, {"kind", "Endpoints"}, {"metadata", {{"name", "ext"}}},
          {"subsets", Json::array({subset})}});
  }
  Json ApiService(int priority = 2000) {
    return {{"apiVersion", "apiregistration.k8s.io/v1"},
            {"kind", "APIService"},
            {"metadata", {{"name", "v1.ext.example.com"}}},
            {"spec",
             {{"group", "ext.example.com"},
              {"version", "v1"},
              {"groupPriorityMinimum", priority},
              {"versionPriority", 10},
              {"caBundle", openapi::EncodeBase64(certificates.ca_pem)},
              {"service", {{"namespace", "default"}, {"name", "ext"}, {"port", 443}}}}}};
  }
  Json Available() {
    const Json object = hub.Get("/clusters/c" + kServices + "/v1.ext.example.com").body;
    const Json* conditions = Find(object, {"status", "conditions"});
    return conditions == nullptr || conditions->empty() ? Json() : conditions->front();
  }
  bool Becomes(const std::string& reason) {
    return Eventually([&] { return StringAt(Available(), {"reason"}) == reason; });
  }
  void Begin() {
    MakeService();
    Make(kServices, ApiService());
    ASSERT_TRUE(Becomes("Passed")) << Available();
  }
  std::vector<Request> Asked() {
    std::lock_guard lock(mutex);
    return asked;
  }
  // The aggregated group list.
  Json Aggregated() {
    return hub.GetAs("/clusters/c/apis",
                     "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").body;
  }

  TestHub hub;
  const std::string workspace;
  const client::TestCertificates certificates;
  const client::TestCertificates trusting;
  std::atomic<bool> healthy{true};
  std::string resources = kResources;  // what it says it serves; set before it is asked
  std::string version2, version2_tag;  // its OpenAPI v2 document, "": none; guarded by mutex
  int version2_spared = 0;             // how often it was known already; guarded by mutex
  std::function<void(const Request&, ScriptedConnection&)> script;
  std::mutex mutex;
  std::vector<Request> asked;
  client::ScriptedServer server;
};

}  // namespace mailroom
