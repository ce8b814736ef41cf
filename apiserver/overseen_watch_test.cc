// An open watch ends with what it was opened by: the certificate, the right to act as another.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kRbac = "/clusters/c1/apis/rbac.authorization.k8s.io/v1";

class Overseen : public testing::Test {
 protected:
  Overseen() : Overseen(apiserver::Server::Options()) {}
  explicit Overseen(const apiserver::Server::Options& options) : hub(options) {
    hub.NewWorkspace("c1", "cluster");
  }
  void Bind(const std::string& name, const Json& rules, const std::string& user) {
    ASSERT_EQ(hub.Do("POST", kRbac + "/clusterroles",
                     {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRole"},
                      {"metadata", {{"name", name}}}, {"rules", rules}}).code, 201);
    ASSERT_EQ(hub.Do("POST", kRbac + "/clusterrolebindings",
                     {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRoleBinding"},
                      {"metadata", {{"name", name}}},
                      {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", name}}},
                      {"subjects", Json::array({{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"},
                                                 {"name", user}}})}}).code, 201);
  }
  Request Watch(const std::string& user) {
    Request request;
    request.method = "GET";
    request.path = "/clusters/c1/api/v1/namespaces/default/configmaps";
    request.query = "watch=true";
    request.peer.common_name = user;
    return request;
  }
  // What a watch says after its beginning, once it has ended.
  std::string End(Response& response) {
    std::string text;
    response.stream->OnReady([] {});
    const bool ended = Eventually([&] {
      std::vector<SharedBytes> pieces;
      const auto state = response.stream->Pull(pieces, 1 << 20);
      for (const SharedBytes& piece : pieces) text += std::string(*piece);
      return state == Stream::State::kEnd;
    });
    return ended ? text : "still open";
  }
  TestHub hub;
};

TEST_F(Overseen, AWatchEndsWithItsCertificate) {
  Bind("reads", Json::array({{{"verbs", {"list", "watch"}}, {"apiGroups", {""}}, {"resources", {"configmaps"}}}}), "alice");
  auto until = [](std::chrono::seconds from_now) {
    return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() + from_now);
  };
  Request request = Watch("alice");
  request.peer.until = until(std::chrono::seconds(-1));
  EXPECT_EQ(hub.Send(request).code, 401) << "never anonymous";
  request.peer.until = 253402300799;
  Response endless = hub.server().dispatcher().Handle(request);
  ASSERT_EQ(endless.code, 200) << "until the year 9999";
  endless.stream->OnReady([] {});
  request.peer.until = until(std::chrono::seconds(2));
  Response response = hub.server().dispatcher().Handle(request);
  ASSERT_EQ(response.code, 200);
  const std::string text = End(response);
  EXPECT_NE(text.find("\"code\":401"), std::string::npos) << text;
  std::vector<SharedBytes> pieces;
  EXPECT_NE(endless.stream->Pull(pieces, 1 << 20), Stream::State::kEnd);
  endless.stream->Cancel();
}

// What else was sent with it does not take the certificate's place.
TEST_F(Overseen, ATokenThatDidNotDecideKeepsNothingOpen) {
  Bind("reads", Json::array({{{"verbs", {"list", "watch"}}, {"apiGroups", {""}}, {"resources", {"configmaps"}}}}), "alice");
  Bind("robots", Json::array({{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}}}),
       "system:serviceaccount:default:robot");
  const std::string accounts = "/clusters/c1/api/v1/namespaces/default/serviceaccounts";
  hub.Do("POST", accounts, {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "robot"}}}});
  const auto token = hub.Do("POST", accounts + "/robot/token",
                            {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
  Request request = Watch("alice");
  request.headers.Add("authorization", "Bearer " + StringAt(token.body, {"status", "token"}));
  request.peer.until = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) + 2;
  Response response = hub.server().dispatcher().Handle(request);
  ASSERT_EQ(response.code, 200);
  const std::string text = End(response);
  EXPECT_NE(text.find("\"code\":401"), std::string::npos) << text;
}

TEST_F(Overseen, OnlyWhatDecidesIsKept) {
  auto kept = [&](const Request& request) {
    const Request part = hub.server().dispatcher().hub().authenticator.CredentialsOf(request);
    std::string names;
    for (const auto& [name, value] : part.headers.fields()) names += name + " ";
    return names;
  };
  Request request = Watch("alice");
  for (const char* name : {"authorization", "cookie", "x-remote-user", "x-remote-group", "x-remote-extra-a"}) {
    request.headers.Add(name, "x");
  }
  EXPECT_EQ(kept(request), "") << "the certificate";
  request.peer.front_proxy = true;
  EXPECT_EQ(kept(request), "x-remote-user x-remote-group x-remote-extra-a ");
  request.peer.certificate_rejected = true;
  EXPECT_EQ(kept(request), "authorization ");
  request.peer = {};
  EXPECT_EQ(kept(request), "authorization ");
  request.headers.Remove("authorization");
  EXPECT_EQ(kept(request), "");
}

class FewWatches : public Overseen {
 protected:
  FewWatches() : Overseen(Options()) {}
  static apiserver::Server::Options Options() {
    apiserver::Server::Options options;
    options.watches_per_user = 2;
    return options;
  }
};

TEST_F(FewWatches, AreThoseOfWhoSentThemWhoeverTheyActAs) {
  Bind("acts", Json::array({{{"verbs", {"impersonate"}}, {"apiGroups", {""}}, {"resources", {"users", "groups"}}}}), "bob");
  std::vector<Response> open;
  for (const char* as : {"u1", "u2", "u3"}) {
    Request request = Watch("bob");
    request.headers.Add("impersonate-user", as);
    request.headers.Add("impersonate-group", "system:masters");
    open.push_back(hub.server().dispatcher().Handle(request));
  }
  EXPECT_EQ(open[0].code, 200);
  EXPECT_EQ(open[1].code, 200);
  EXPECT_EQ(open[2].code, 429);
  open[0].stream.reset();
  Request request = Watch("bob");
  request.headers.Add("impersonate-user", "u4");
  request.headers.Add("impersonate-group", "system:masters");
  EXPECT_EQ(hub.server().dispatcher().Handle(request).code, 200) << "one has ended";
}

// Takes limits::kWatchRecheck.
TEST_F(Overseen, AWatchEndsWithTheRightToActAsAnother) {
  Bind("reads", Json::array({{{"verbs", {"list", "watch"}}, {"apiGroups", {""}}, {"resources", {"configmaps"}}}}), "alice");
  Bind("acts", Json::array({{{"verbs", {"impersonate"}}, {"apiGroups", {""}}, {"resources", {"users"}}}}), "bob");
  Request request = Watch("bob");
  request.headers.Add("impersonate-user", "alice");
  Response response = hub.server().dispatcher().Handle(request);
  ASSERT_EQ(response.code, 200);
  hub.Do("DELETE", kRbac + "/clusterrolebindings/acts");
  const std::string text = End(response);
  EXPECT_NE(text.find("cannot impersonate"), std::string::npos) << text;
}

}  // namespace
}  // namespace mailroom
