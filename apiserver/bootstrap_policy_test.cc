// What every workspace with live policy starts with comes back when the hub starts.
#include "apiserver/auth/bootstrap_policy.h"

#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kRbac = "/clusters/c1/apis/rbac.authorization.k8s.io/v1";
const std::string kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

class Policy : public testing::Test {
 protected:
  Policy() { hub.NewWorkspace("c1", "cluster"); }
  // Policy is restored before the controllers start, which would write roles meanwhile.
  static apiserver::Server::Options Starting() {
    apiserver::Server::Options options;
    options.controllers = false;
    return options;
  }
  // As a start does.
  void Restore() {
    const auto& known = hub.server().dispatcher().hub();
    ASSERT_TRUE(apiserver::RestoreBootstrapPolicy(known.store, Workspace("c1"), "2026-01-01T00:00:00Z").ok());
  }
  void Patch(const std::string& path, const Json& patch) {
    const auto done = hub.Do("PATCH", kRbac + path, patch, "application/merge-patch+json");
    ASSERT_EQ(done.code, 200) << done.text;
  }
  Json Get(const std::string& path) { return hub.Get(kRbac + path).body; }
  TestHub hub{Starting()};
};

TEST_F(Policy, AStartAddsWhatIsMissingAndKeepsTheRest) {
  const Json extra = {{"verbs", {"get"}}, {"apiGroups", {"x.io"}}, {"resources", {"things"}}};
  const Json other = {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "alice"}};
  Patch("/clusterroles/system:discovery", {{"rules", Json::array({extra})}});
  Patch("/clusterrolebindings/system:discovery", {{"subjects", Json::array({other})}});
  Patch("/clusterroles/view", {{"aggregationRule", {{"clusterRoleSelectors", Json::array({{{"matchLabels", {{"x", "y"}}}}})}}}});
  Patch("/clusterroles/cluster-admin", {{"rules", Json::array()},
                                        {"metadata", {{"annotations", {{kAutoUpdate, "false"}}}}}});
  Patch("/clusterroles/edit", {{"metadata", {{"labels", nullptr}}}});
  Patch("/namespaces/kube-system/roles/extension-apiserver-authentication-reader", {{"rules", Json::array()}});
  hub.Do("DELETE", kRbac + "/clusterroles/system:basic-user");
  const std::string uid = StringAt(Get("/clusterroles/system:discovery"), {"metadata", "uid"});
  Restore();
  const Json role = Get("/clusterroles/system:discovery");
  EXPECT_EQ(Find(role, {"rules"})->front(), extra) << "what was added stays";
  EXPECT_NE(DumpJson(role).find("/openapi/*"), std::string::npos) << DumpJson(role);
  EXPECT_EQ(StringAt(role, {"metadata", "uid"}), uid);
  const Json binding = Get("/clusterrolebindings/system:discovery");
  EXPECT_EQ(Find(binding, {"subjects"})->size(), 2u) << DumpJson(binding);
  EXPECT_NE(DumpJson(binding).find("system:authenticated"), std::string::npos);
  EXPECT_EQ(Find(Get("/clusterroles/view"), {"aggregationRule", "clusterRoleSelectors"})->size(), 2u);
  EXPECT_TRUE(Find(Get("/clusterroles/cluster-admin"), {"rules"})->empty()) << "kept from it by its annotation";
  EXPECT_EQ(StringAt(Get("/clusterroles/edit"), {"metadata", "labels", "rbac.authorization.k8s.io/aggregate-to-admin"}), "true");
  EXPECT_FALSE(Find(Get("/namespaces/kube-system/roles/extension-apiserver-authentication-reader"), {"rules"})->empty());
  EXPECT_EQ(hub.Get(kRbac + "/clusterroles/system:basic-user").code, 200);
}

TEST_F(Policy, AStartThatFindsItWholeWritesNothing) {
  auto revision = [&] { return StringAt(hub.Get(kRbac + "/clusterroles").body, {"metadata", "resourceVersion"}); };
  Restore();
  const std::string before = revision();
  Restore();
  EXPECT_EQ(revision(), before);
}

// Somebody bound everybody to everything under a name that is not looked at twice.
TEST_F(Policy, ABindingIsBoundToItsOwnRole) {
  hub.Do("DELETE", kRbac + "/clusterrolebindings/system:basic-user");
  ASSERT_EQ(hub.Do("POST", kRbac + "/clusterrolebindings",
                   {{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "ClusterRoleBinding"},
                    {"metadata", {{"name", "system:basic-user"}}},
                    {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "cluster-admin"}}},
                    {"subjects", Json::array({{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", "eve"}}})}})
                .code, 201);
  Restore();
  const Json binding = Get("/clusterrolebindings/system:basic-user");
  EXPECT_EQ(StringAt(binding, {"roleRef", "name"}), "system:basic-user");
  EXPECT_EQ(DumpJson(binding).find("eve"), std::string::npos);
}

}  // namespace
}  // namespace mailroom
