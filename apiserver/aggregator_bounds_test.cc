// What another server may not do to this one, to its clients, or for those who may not.
#include <latch>

#include "apiserver/test_extension.h"
#include "storage/object/limits.h"

namespace mailroom {
namespace {

Request Asking(const std::string& path, const std::string& user = "admin") {
  Request request;
  request.method = "GET";
  request.path = "/clusters/c" + path;
  request.peer.common_name = user;
  if (user == "admin") request.peer.organizations = {"system:masters"};
  return request;
}

// A list of so many resources, each said in few bytes.
std::string ManyResources(int count) {
  std::string list = R"({"kind":"APIResourceList","resources":[{"name":"a"})";
  for (int i = 1; i < count; ++i) list += R"(,{"name":"a"})";
  return list + "]}";
}

TEST_F(Extension, DiscoveryIsMadeOnceForAll) {
  Begin();
  for (const char* accept :
       {"application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}) {
    Request request = Asking("/apis");
    request.headers.Add("accept", accept);
    const Response first = hub.server().dispatcher().Handle(request);
    const Response second = hub.server().dispatcher().Handle(request);
    ASSERT_EQ(first.code, 200);
    ASSERT_FALSE(first.body.empty());
    EXPECT_EQ(first.body, second.body) << "the same bytes, not equal ones";
    EXPECT_TRUE(ParseJson(first.BodyText()).ok()) << first.BodyText();
    const std::string etag(first.headers.Get("etag"));
    if (etag.empty()) continue;
    request.headers.Add("if-none-match", etag);
    EXPECT_EQ(hub.server().dispatcher().Handle(request).code, 304);
    ASSERT_EQ(hub.Do("PATCH", "/clusters/c" + kServices + "/v1.ext.example.com",
                     {{"spec", {{"groupPriorityMinimum", 19000}}}},
                     "application/merge-patch+json").code, 200);
    const Response changed = hub.server().dispatcher().Handle(request);
    EXPECT_EQ(changed.code, 200);
    EXPECT_NE(changed.headers.Get("etag"), etag);
  }
}

TEST_F(Extension, WhatItSaysOfItselfIsBounded) {
  // Much longer as discovery shows it than as it is said.
  resources = ManyResources(70'000);
  ASSERT_LT(resources.size(), limits::kAggregatedDocumentBytes);
  MakeService();
  Make(kServices, ApiService());
  ASSERT_TRUE(Becomes("DiscoveryTooLong")) << Available();
  EXPECT_EQ(StringAt(Available(), {"status"}), "False");
  EXPECT_NE(StringAt(Available(), {"message"}).find("ext.example.com/v1"), std::string::npos)
      << Available();
  EXPECT_EQ(hub.Get("/clusters/c" + kThings).code, 503);
  EXPECT_LT(DumpJson(Aggregated()).size(), limits::kAggregatedDocumentBytes);
}

TEST_F(Extension, WhatIsTooLongIsNotRead) {
  resources = std::string(limits::kAggregatedDocumentBytes + 1, ' ') + kResources;
  MakeService();
  Make(kServices, ApiService());
  ASSERT_TRUE(Becomes("FailedDiscoveryCheck")) << Available();
}

TEST_F(Extension, SoManyActAndNoMore) {
  const auto name = [](std::size_t i) {
    return std::to_string(1000 + i) + ".example.com";  // in the order they are made
  };
  for (std::size_t i = 0; i <= limits::kAggregatedApis; ++i) {
    Json api = ApiService();
    api["metadata"]["name"] = "v1." + name(i);
    api["spec"]["group"] = name(i);
    Make(kServices, api);
  }
  const auto reason = [&](std::size_t i) {
    const Json object = hub.Get("/clusters/c" + kServices + "/v1." + name(i)).body;
    const Json* conditions = Find(object, {"status", "conditions"});
    return conditions == nullptr ? "" : StringAt(conditions->front(), {"reason"});
  };
  EXPECT_TRUE(Eventually([&] { return reason(limits::kAggregatedApis) == "TooManyAPIServices"; }));
  EXPECT_TRUE(Eventually([&] { return reason(0) == "ServiceNotFound"; }));
  EXPECT_EQ(hub.Get("/clusters/c/apis/" + name(0) + "/v1/things").code, 503);
  EXPECT_EQ(hub.Get("/clusters/c/apis/" + name(limits::kAggregatedApis) + "/v1/things").code, 404);
}

// A client would take its credentials there.
TEST_F(Extension, RedirectsNobody) {
  Begin();
  script = [](const Request& request, ScriptedConnection& connection) {
    const bool moved = request.query.empty();
    connection.Head(moved ? 302 : 300, moved ? "Location: https://elsewhere.example.com/\r\n" : "");
    connection.End();
  };
  const auto refused = hub.Get("/clusters/c" + kThings);
  EXPECT_EQ(refused.code, 502);
  EXPECT_EQ(refused.text,
            "the backend attempted to redirect this request, which is not permitted");
  EXPECT_EQ(refused.headers.Get("location"), "");
  EXPECT_EQ(hub.Get("/clusters/c" + kThings + "?choices=1").code, 300);
}

class Deep : public Extension {
 protected:
  // Somebody whom the workspace knows, with a right in one namespace.
  void Admit(const std::string& user, const std::vector<std::string>& things) {
    const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    const std::string api = "rbac.authorization.k8s.io/v1";
    Make(rbac + "/roles",
         {{"apiVersion", api}, {"kind", "Role"}, {"metadata", {{"name", user}}},
          {"rules", Json::array({{{"verbs", {"get", "watch"}}, {"apiGroups", {"ext.example.com"}},
                                  {"resources", things}}})}});
    Make(rbac + "/rolebindings",
         {{"apiVersion", api}, {"kind", "RoleBinding"}, {"metadata", {{"name", user}}},
          {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Role"}, {"name", user}}},
          {"subjects", Json::array({{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"},
                                     {"name", user}}})}});
  }
};

TEST_F(Deep, PathsAreAuthorisedByWhatTheyLieIn) {
  Begin();
  Admit("bob", {"things/proxy"});
  const std::string elsewhere = kGroup + "/v1/namespaces/prod/things";
  for (const std::string& path :
       {elsewhere + "/a/proxy/x", elsewhere + "/a/proxy/x/y/z", kThings + "/a/status/x",
        kGroup + "/v1/things/a/b/c/d/e", kGroup + "/v1/proxy/namespaces/default/things/a/x"}) {
    EXPECT_EQ(hub.Send(Asking(path, "bob")).code, 403) << path;
  }
  EXPECT_TRUE(Asked().empty());
  EXPECT_EQ(hub.Send(Asking(kThings + "/a/proxy/x/y/z", "bob")).code, 200);
  ASSERT_EQ(Asked().size(), 1u);
  EXPECT_EQ(Asked().back().path, kThings + "/a/proxy/x/y/z") << "all of it is passed on";
}

TEST_F(Deep, ThereIsNothingInWhatIsServedHere) {
  const std::string in = "/api/v1/namespaces/default";
  Make(in + "/configmaps", ConfigMap("m"));
  for (const std::string& path :
       {in + "/configmaps/m/a", in + "/configmaps/m/a/b/c/d", in + "/status/x",
        std::string("/apis/apps/v1/namespaces/default/deployments/d/status/x"),
        std::string("/api/v1/proxy/namespaces/default/pods/p/x"),
        std::string("/apis/none.example.com/v1/namespaces/default/a/b/c/d/e")}) {
    EXPECT_EQ(hub.Send(Asking(path)).code, 404) << path;
    Request write = Asking(path);
    write.method = "PUT";
    EXPECT_EQ(hub.Send(write).code, 404) << path;
  }
  EXPECT_EQ(hub.Send(Asking(in + "/pods/p/proxy/x/y")).code, 405) << "a node would answer";
  Request write = Asking("/api/v1/watch/namespaces/default/configmaps");
  write.method = "POST";
  write.body = DumpJson(ConfigMap("n"));
  write.headers.Add("content-type", "application/json");
  EXPECT_EQ(hub.Send(write).code, 405);
  EXPECT_EQ(hub.Get("/clusters/c" + in + "/configmaps/n").code, 404);
}

TEST_F(Deep, AWatchInThePathStaysThere) {
  Begin();
  Admit("bob", {"things"});
  const std::string path = kGroup + "/v1/watch/namespaces/default/things";
  EXPECT_EQ(hub.Send(Asking(path, "bob")).code, 200);
  ASSERT_EQ(Asked().size(), 1u);
  EXPECT_EQ(Asked().back().path, path);
}

TEST_F(Extension, IsToldTheAddressOfTheClientAlone) {
  Begin();
  for (const auto& [address, told] : std::vector<std::pair<std::string, std::string>>{
           {"192.0.2.7:4711", "192.0.2.7"}, {"[2001:db8::7]:4711", "2001:db8::7"},
           {"2001:db8::7", "2001:db8::7"}, {"192.0.2.7", "192.0.2.7"}}) {
    Request request = Asking(kThings);
    request.peer.address = address;
    EXPECT_EQ(hub.Send(request).code, 200);
    EXPECT_EQ(Asked().back().headers.Get("x-forwarded-for"), told);
  }
}

// Draws the body until it is over; how that was.
Stream::State Drawn(Stream& stream, std::string& text) {
  std::atomic<bool> ready{true};
  stream.OnReady([&] { ready = true; });
  Stream::State state = Stream::State::kIdle;
  EXPECT_TRUE(Eventually([&] {
    if (!ready.exchange(false)) return false;
    do {
      std::vector<SharedBytes> pieces;
      state = stream.Pull(pieces, 128 * 1024);
      for (const SharedBytes& piece : pieces) text += *piece;
    } while (state == Stream::State::kMore);
    return state != Stream::State::kIdle;
  }));
  stream.Cancel();
  return state;
}

TEST_F(Extension, ABodyThatBreaksOffIsNotWhole) {
  Begin();
  const std::string line(64 * 1024, 'x');
  constexpr std::size_t kLines = 2 * limits::kAggregatedPendingBytes / (64 * 1024);
  for (const bool watch : {false, true}) {
    script = [&](const Request&, ScriptedConnection& connection) {
      connection.Head(200);
      for (std::size_t i = 0; i < kLines; ++i) connection.Chunk(line);
      connection.Break();
    };
    Request request = Asking(kThings);
    if (watch) request.query = "watch=true";
    const Response response = hub.server().dispatcher().Handle(request);
    ASSERT_NE(response.stream, nullptr);
    EXPECT_EQ(response.stream->document(), !watch);
    std::string text;
    EXPECT_EQ(Drawn(*response.stream, text), Stream::State::kAborted);
    EXPECT_EQ(text.size(), kLines * line.size());
  }
}

}  // namespace
}  // namespace mailroom
