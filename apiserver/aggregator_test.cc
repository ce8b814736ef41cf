// Groups of a workspace's API that another server serves, with a real one behind TLS.
#include <latch>

#include "apiserver/test_extension.h"
#include "apiserver/worker_pool.h"

namespace mailroom {
namespace {

TEST_F(Extension, IsAskedInTheNameOfTheUserAndOfNobodyElse) {
  Begin();
  Request request;
  request.method = "POST";
  request.path = "/clusters/c" + kThings;
  request.query = "dryRun=All";
  request.body = R"({"kind":"Thing"})";
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  request.peer.address = "192.0.2.7:4711";
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"content-type", "application/json"},
           {"x-remote-user", "mallory"},
           {"x-remote-group", "system:masters"},
           {"x-remote-uid", "0"},
           {"x-remote-extra-scope", "all"},
           {"x_remote_user", "mallory"},
           {"x-forwarded-for", "198.51.100.1"},
           {"x-custom", "kept"}}) {
    request.headers.Add(name, value);
  }
  request.headers.Add("impersonate-user", "alice");
  request.headers.Add("impersonate-group", "system:masters");
  request.headers.Add("impersonate-uid", "4711");
  request.headers.Add("impersonate-extra-a%2fb", "x");
  script = [](const Request&, ScriptedConnection& connection) {
    connection.Reply(201, R"({"kind":"Thing","made":true})");
  };
  const auto answer = hub.Send(request);
  EXPECT_EQ(answer.code, 201) << answer.text;
  EXPECT_EQ(answer.text, R"({"kind":"Thing","made":true})");
  ASSERT_EQ(Asked().size(), 1u);
  const Request seen = Asked().front();
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, kThings) << "without the workspace";
  EXPECT_EQ(seen.query, "dryRun=All");
  EXPECT_EQ(seen.body, request.body);
  using Values = std::vector<std::string_view>;
  EXPECT_EQ(seen.headers.All("x-remote-user"), Values{"alice"});
  EXPECT_EQ(seen.headers.All("x-remote-uid"), Values{"4711"});
  EXPECT_EQ(seen.headers.All("x-remote-group"), (Values{"system:masters", "system:authenticated"}));
  EXPECT_EQ(seen.headers.All("x-remote-extra-scope"), Values{});
  EXPECT_EQ(seen.headers.All("x_remote_user"), Values{});
  EXPECT_EQ(seen.headers.All("x-remote-extra-a%2fb").size() +
                seen.headers.All("x-remote-extra-a%2Fb").size(), 1u);
  EXPECT_EQ(seen.headers.All("impersonate-user"), Values{});
  EXPECT_EQ(seen.headers.All("authorization"), Values{});
  EXPECT_EQ(seen.headers.Get("x-forwarded-for"), "198.51.100.1, 192.0.2.7");
  EXPECT_EQ(seen.headers.Get("x-custom"), "kept");
}

TEST_F(Extension, IsNotAskedForThoseWhoMayNot) {
  Begin();
  Request request;
  request.method = "GET";
  request.path = "/clusters/c" + kThings;
  request.peer.common_name = "bob";
  EXPECT_EQ(hub.Send(request).code, 403);
  EXPECT_TRUE(Asked().empty());
}

// As when it comes to be between the choice of the thread and the answer.
TEST_F(Extension, AnIoLoopDoesNotWaitForIt) {
  Begin();
  {
    const apiserver::NoWaiting loop;
    const auto answer = hub.Get("/clusters/c" + kThings);
    EXPECT_EQ(answer.code, 429) << answer.text;
    EXPECT_EQ(answer.headers.Get("retry-after"), "1");
  }
  EXPECT_TRUE(Asked().empty());
  EXPECT_EQ(hub.Get("/clusters/c" + kThings).code, 200);
}

TEST_F(Extension, ANameThatIsNoHeaderIsNotPassedOn) {
  Begin();
  Request request;
  request.method = "GET";
  request.path = "/clusters/c" + kThings;
  request.peer.common_name = "admin\r\nX-Remote-Group: others";
  request.peer.organizations = {"system:masters"};
  EXPECT_EQ(hub.Send(request).code, 503);
  EXPECT_TRUE(Asked().empty());
}

TEST_F(Extension, WatchesFlowAsTheyCome) {
  Begin();
  std::latch first_seen(1);
  script = [&](const Request& request, ScriptedConnection& connection) {
    EXPECT_EQ(request.query, "watch=true");
    connection.Head(200, "Content-Type: application/json\r\n");
    connection.Chunk("{\"type\":\"ADDED\"}\n");
    first_seen.wait();
    connection.Chunk("{\"type\":\"DELETED\"}\n");
    connection.End();
  };
  TestWatch watch(hub, "/clusters/c" + kThings + "?watch=true");
  EXPECT_EQ(watch.code(), 200);
  EXPECT_EQ(StringAt(watch.Next(), {"type"}), "ADDED");
  first_seen.count_down();
  EXPECT_EQ(StringAt(watch.Next(), {"type"}), "DELETED");
  EXPECT_TRUE(watch.Next().is_null());
  EXPECT_TRUE(watch.ended());
}

TEST_F(Extension, ALongAnswerComesWhole) {
  Begin();
  const std::string line(64 * 1024 - 1, 'x');
  constexpr int kLines = 80;
  script = [&](const Request&, ScriptedConnection& connection) {
    connection.Head(200);
    for (int i = 0; i < kLines; ++i) connection.Chunk(line + "\n");
    connection.End();
  };
  Request request;
  request.method = "GET";
  request.path = "/clusters/c" + kThings;
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  Response response = hub.server().dispatcher().Handle(request);
  ASSERT_NE(response.stream, nullptr);
  std::atomic<bool> ready{true};
  response.stream->OnReady([&] { ready = true; });
  std::size_t bytes = 0;
  bool ended = false;
  EXPECT_TRUE(Eventually([&] {
    if (!ready.exchange(false)) return false;
    for (auto state = Stream::State::kMore; state == Stream::State::kMore;) {
      std::vector<SharedBytes> pieces;
      state = response.stream->Pull(pieces, 128 * 1024);
      for (const SharedBytes& piece : pieces) bytes += piece->size();
      ended = state == Stream::State::kEnd;
    }
    return ended;
  }));
  response.stream->Cancel();  // nobody says ready from here on
  EXPECT_EQ(bytes, kLines * (line.size() + 1));
}

TEST_F(Extension, IsJudgedBeforeItIsAsked) {
  Make(kServices, ApiService());
  ASSERT_TRUE(Becomes("ServiceNotFound"));
  EXPECT_EQ(StringAt(Available(), {"message"}), "service/ext in \"default\" is not present");
  const auto refused = hub.Get("/clusters/c" + kThings);
  EXPECT_EQ(refused.code, 503);
  EXPECT_EQ(refused.text, "service unavailable\n");
  healthy = false;
  MakeService();
  ASSERT_TRUE(Becomes("FailedDiscoveryCheck")) << Available();
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + kGroup + "/v1";
  // A probe that a loaded machine keeps too long fails in other words.
  EXPECT_TRUE(Eventually([&] {
    return StringAt(Available(), {"message"}) ==
           "failing or missing response from " + url + ": bad status from " + url + ": 500";
  })) << Available();
  healthy = true;
  ASSERT_TRUE(Becomes("Passed")) << Available();
  EXPECT_EQ(StringAt(Available(), {"status"}), "True");
  EXPECT_EQ(hub.Get("/clusters/c" + kThings).code, 200);
  EXPECT_TRUE(Asked().size() == 1u);
}

TEST_F(Extension, IsNotBelievedWithoutItsAuthority) {
  MakeService();
  Json wrong = ApiService();
  wrong["spec"]["caBundle"] =
      openapi::EncodeBase64(client::MakeTestCertificates("ext.default.svc").ca_pem);
  Make(kServices, wrong);
  ASSERT_TRUE(Becomes("FailedDiscoveryCheck")) << Available();
  const Json patch = {{"spec", {{"caBundle", nullptr}, {"insecureSkipTLSVerify", true}}}};
  const auto changed = hub.Do("PATCH", "/clusters/c" + kServices + "/v1.ext.example.com", patch,
                              "application/merge-patch+json");
  ASSERT_EQ(changed.code, 200) << changed.text;
  EXPECT_TRUE(Becomes("Passed")) << Available();
}

TEST_F(Extension, ShowsInDiscovery) {
  Begin();
  const Json group = hub.Get("/clusters/c" + kGroup).body;
  EXPECT_EQ(StringAt(group, {"kind"}), "APIGroup");
  EXPECT_EQ(StringAt(group, {"preferredVersion", "groupVersion"}), "ext.example.com/v1");
  std::vector<std::string> names;
  const Json legacy = hub.Get("/clusters/c/apis").body;
  for (const Json& each : *Find(legacy, {"groups"})) names.push_back(StringAt(each, {"name"}));
  EXPECT_EQ(std::count(names.begin(), names.end(), "ext.example.com"), 1);
  EXPECT_EQ(names.front() == "ext.example.com", false) << "its priority is low";
  // The list of its resources is its own.
  EXPECT_EQ(hub.Get("/clusters/c" + kGroup + "/v1").body, ParseJson(kResources).value());
  const Json document = Aggregated();
  const Json* items = Find(document, {"items"});
  ASSERT_NE(items, nullptr);
  Json found;
  for (const Json& item : *items) {
    if (StringAt(item, {"metadata", "name"}) == "ext.example.com") found = item;
  }
  EXPECT_EQ(found["versions"],
            Json::array({{{"version", "v1"},
                          {"freshness", "Current"},
                          {"resources",
                           Json::array({{{"resource", "things"},
                                         {"responseKind", {{"group", "ext.example.com"},
                                                           {"version", "v1"},
                                                           {"kind", "Thing"}}},
                                         {"scope", "Namespaced"},
                                         {"singularResource", "thing"},
                                         {"shortNames", {"th"}},
                                         {"verbs", {"get", "list", "watch"}},
                                         {"subresources",
                                          Json::array({{{"subresource", "status"},
                                                        {"responseKind",
                                                         {{"group", "ext.example.com"},
                                                          {"version", "v1"},
                                                          {"kind", "Thing"}}},
                                                        {"verbs", {"get"}}}})}}})}}}));
  EXPECT_EQ(StringAt(hub.Get("/clusters/c/openapi/v3").body,
                     {"paths", "apis/ext.example.com/v1", "serverRelativeURL"}),
            "/clusters/c/openapi/v3/apis/ext.example.com/v1?hash=ABC");
  EXPECT_EQ(hub.Get("/clusters/c/openapi/v3/apis/ext.example.com/v1?hash=ABC").code, 200);
  EXPECT_EQ(Asked().back().path, "/openapi/v3/apis/ext.example.com/v1");
}

TEST_F(Extension, IsStaleInDiscoveryWhileItIsAway) {
  Make(kServices, ApiService(/*priority=*/19000));
  ASSERT_TRUE(Becomes("ServiceNotFound"));
  const Json document = Aggregated();
  const Json first = Find(document, {"items"})->front();
  EXPECT_EQ(StringAt(first, {"metadata", "name"}), "ext.example.com") << "its priority is high";
  EXPECT_EQ(StringAt(first["versions"][0], {"freshness"}), "Stale");
  EXPECT_EQ(hub.Get("/clusters/c" + kGroup + "/v1").code, 503);
}

TEST_F(Extension, IsPayloadWhereNothingIsLive) {
  hub.NewWorkspace("w", "wds");
  Make(kServices, ApiService(), "/clusters/w");
  EXPECT_EQ(hub.Get("/clusters/w" + kThings).code, 404);
  EXPECT_EQ(hub.Get("/clusters/w" + kGroup).code, 404);
}

TEST_F(Extension, WhatIsServedHereStaysHere) {
  Json apps = {{"spec", ApiService().at("spec")}};
  apps["spec"]["group"] = "apps";
  MakeService();
  const auto led = hub.Do("PATCH", "/clusters/c" + kServices + "/v1.apps", apps,
                          "application/merge-patch+json");
  EXPECT_EQ(StringAt(led.body, {"spec", "service", "name"}), "ext") << led.text;
  EXPECT_EQ(StringAt(hub.Get("/clusters/c/apis/apps/v1/deployments").body, {"kind"}),
            "DeploymentList");
}

TEST_F(Extension, LocalOnesAreAlwaysAvailable) {
  Json local = ApiService();
  local["spec"].erase("service");
  local["spec"].erase("caBundle");
  Make(kServices, local);
  ASSERT_TRUE(Becomes("Local"));
  EXPECT_EQ(StringAt(Available(), {"message"}), "Local APIServices are always available");
  EXPECT_EQ(hub.Get("/clusters/c" + kThings).code, 404);
}

class Unwelcome : public Extension {
 protected:
  static apiserver::Server::Options Strict() {
    auto options = HubOptions();
    options.webhook_addresses.refuse_loopback = true;
    return options;
  }
  Unwelcome() : Extension(Strict()) {}
};

TEST_F(Unwelcome, AddressesAreNotConnectedTo) {
  MakeService();
  Make(kServices, ApiService());
  ASSERT_TRUE(Becomes("FailedDiscoveryCheck")) << Available();
  EXPECT_NE(StringAt(Available(), {"message"}).find("connecting to this address is not allowed"),
            std::string::npos)
      << Available();
  EXPECT_EQ(server.connections(), 0);
}

// What believes one workspace's front proxy must not believe another's.
TEST(FrontProxy, NamesTheWorkspace) {
  apiserver::FrontProxy proxy(FrontAuthority(), "the clients' CA");
  for (const char* name : {"a", "b"}) {
    const Workspace workspace(name);
    const auto pair = proxy.CertificateFor(workspace);
    ASSERT_TRUE(pair.ok());
    const std::string cn = apiserver::ReadCertificate(pair->cert_pem)->common_name;
    EXPECT_EQ(cn, "mailroom-aggregator:" + workspace.name());
    EXPECT_TRUE(apiserver::IssuedBy(FrontAuthority(), pair->cert_pem));
    EXPECT_EQ(proxy.CertificateFor(workspace)->cert_pem, pair->cert_pem) << "made once";
    const Json trust = proxy.TrustOf(workspace);
    EXPECT_EQ(StringAt(trust, {"requestheader-allowed-names"}), "[\"" + cn + "\"]");
    EXPECT_EQ(StringAt(trust, {"requestheader-client-ca-file"}), FrontAuthority().cert_pem);
    EXPECT_EQ(StringAt(trust, {"client-ca-file"}), "the clients' CA");
  }
}

// Whoever waits for another server must not hold up a loop.
TEST_F(Extension, IsNeverAskedFromALoop) {
  Begin();
  Request request;
  request.method = "GET";
  for (const std::string& path : {"/clusters/c" + kThings, "/clusters/c" + kGroup + "/v1",
                                 std::string("/%63lusters/c/apis/ext%2Eexample.com/v1/things")}) {
    request.path = path;
    EXPECT_EQ(hub.server().dispatcher().PaceOf(request), apiserver::Pace::kMayWait) << path;
  }
  request.path = "/clusters/c/apis/apps/v1/namespaces/default/deployments/a";
  EXPECT_EQ(hub.server().dispatcher().PaceOf(request), apiserver::Pace::kAtOnce);
}

}  // namespace
}  // namespace mailroom
