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
  Overseen() { hub.NewWorkspace("c1", "cluster"); }
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
  request.peer.until = until(std::chrono::seconds(5));
  Response response = hub.server().dispatcher().Handle(request);
  ASSERT_EQ(response.code, 200);
  const std::string text = End(response);
  EXPECT_NE(text.find("\"code\":401"), std::string::npos) << text;
  std::vector<SharedBytes> pieces;
  EXPECT_NE(endless.stream->Pull(pieces, 1 << 20), Stream::State::kEnd);
  endless.stream->Cancel();
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
