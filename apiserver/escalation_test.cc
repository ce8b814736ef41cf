// Nobody grants more than they hold, by whatever way: rules, labels that others aggregate, bindings,
// grants of workspaces.
#include <gtest/gtest.h>

#include <algorithm>

#include "apiserver/auth/uncovered.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kGroup = "rbac.authorization.k8s.io";
const std::string kAccesses = "/apis/mailbox.kubestellar.io/v1alpha1/workspaceaccesses";
const std::string kWorkspaces = "/apis/mailbox.kubestellar.io/v1alpha1/workspaces";

Json Rule(const std::vector<std::string>& verbs, const std::string& group, const std::string& resource) {
  return {{"verbs", verbs}, {"apiGroups", {group}}, {"resources", {resource}}};
}

class Escalation : public testing::Test {
 protected:
  Escalation() { hub.NewWorkspace("c1", "cluster"); }

  TestHub::Answer As(const std::string& user, const std::string& method, const std::string& path,
                     const Json& body, const std::string& type = "application/json") {
    Request request;
    request.method = method;
    request.path = path;
    request.peer.common_name = user;
    request.body = DumpJson(body);
    request.headers.Add("content-type", type);
    return hub.Send(std::move(request));
  }
  TestHub::Answer Patch(const std::string& user, const std::string& path, const Json& patch) {
    return As(user, "PATCH", path, patch, "application/merge-patch+json");
  }
  // A role of that workspace ("" for root) and, when `user` is given, its binding to them.
  void Role(const std::string& ws, const std::string& name, const Json& rules, const std::string& user = "") {
    const auto made = hub.Do("POST", ws + kRbac + "/clusterroles",
                             {{"apiVersion", kGroup + "/v1"}, {"kind", "ClusterRole"},
                              {"metadata", {{"name", name}}}, {"rules", rules}});
    ASSERT_EQ(made.code, 201) << made.text;
    if (!user.empty()) Bind(ws, name, user);
  }
  void Bind(const std::string& ws, const std::string& role, const std::string& user, const std::string& ns = "") {
    const std::string path = ns.empty() ? "/clusterrolebindings" : "/namespaces/" + ns + "/rolebindings";
    const auto made = hub.Do("POST", ws + kRbac + path, Binding(role + "-" + user, role, user, ns));
    ASSERT_EQ(made.code, 201) << made.text;
  }
  static Json Binding(const std::string& name, const std::string& role, const std::string& user, const std::string& ns) {
    return {{"apiVersion", kGroup + "/v1"}, {"kind", ns.empty() ? "ClusterRoleBinding" : "RoleBinding"},
            {"metadata", {{"name", name}}},
            {"roleRef", {{"apiGroup", kGroup}, {"kind", "ClusterRole"}, {"name", role}}},
            {"subjects", Json::array({{{"apiGroup", kGroup}, {"kind", "User"}, {"name", user}}})}};
  }
  TestHub hub;
  const std::string c1 = "/clusters/c1";
  const std::string roles = c1 + kRbac + "/clusterroles";
};

// A label can put a role's rules into another role, so it is as good as the rules.
TEST_F(Escalation, ALabelGrantsTheRulesItIsPutOn) {
  Role(c1, "writer", Json::array({Rule({"*"}, kGroup, "clusterroles"), Rule({"get"}, "", "configmaps")}), "alice");
  Role(c1, "small", Json::array({Rule({"get"}, "", "configmaps")}));
  const Json label = {{"metadata", {{"labels", {{kGroup + "/aggregate-to-view", "true"}}}}}};
  Role(c1, "others", Json::array({Rule({"get"}, "", "secrets")}));
  // `*` covers escalate, so the writer is given plain verbs.
  hub.Do("PATCH", roles + "/writer",
         {{"rules", Json::array({Rule({"get", "create", "update", "patch"}, kGroup, "clusterroles"),
                                 Rule({"get"}, "", "configmaps")})}}, "application/merge-patch+json");
  for (const char* role : {"cluster-admin", "others"}) {
    const auto denied = Patch("alice", roles + "/" + role, label);
    EXPECT_EQ(denied.code, 403) << denied.text;
    EXPECT_NE(denied.text.find("attempting to grant RBAC permissions not currently held"), std::string::npos);
    const Json annotated = {{"metadata", {{"annotations", {{"a", "b"}}}}}};
    EXPECT_EQ(Patch("alice", roles + "/" + role, annotated).code, 403) << "as kube-apiserver has it";
  }
  EXPECT_EQ(Patch("alice", roles + "/small", label).code, 200) << "these she holds";
  // What garbage collection writes grants nothing.
  const Json owned = {{"metadata", {{"finalizers", {"example.com/x"}},
                                    {"ownerReferences", Json::array({{{"apiVersion", "v1"}, {"kind", "ConfigMap"},
                                                                      {"name", "o"}, {"uid", "u"}}})}}}};
  EXPECT_EQ(Patch("alice", roles + "/others", owned).code, 200);
  EXPECT_EQ(Patch("alice", roles + "/others", Json::object()).code, 200) << "nor does nothing at all";
  Role(c1, "escalator", Json::array({Rule({"escalate"}, kGroup, "clusterroles")}), "alice");
  EXPECT_EQ(Patch("alice", roles + "/others", label).code, 200);
}

TEST_F(Escalation, AggregatingIsForThoseWhoMayDoEverything) {
  Role(c1, "writer", Json::array({Rule({"get", "create", "update", "patch"}, kGroup, "clusterroles")}), "alice");
  const Json selectors = {{"clusterRoleSelectors", Json::array({{{"matchLabels", {{"a", "b"}}}}})}};
  auto role = [&](const std::string& name, const Json& aggregation) {
    Json out = {{"apiVersion", kGroup + "/v1"}, {"kind", "ClusterRole"}, {"metadata", {{"name", name}}}};
    if (!aggregation.is_null()) out["aggregationRule"] = aggregation;
    return out;
  };
  const auto denied = As("alice", "POST", roles, role("all", selectors));
  EXPECT_EQ(denied.code, 403);
  EXPECT_EQ(StringAt(denied.body, {"message"}),
            "clusterroles.rbac.authorization.k8s.io \"all\" is forbidden: must have cluster-admin privileges to use "
            "the aggregationRule");
  EXPECT_EQ(As("alice", "POST", roles, role("none", nullptr)).code, 201);
  EXPECT_EQ(Patch("alice", roles + "/none", {{"aggregationRule", selectors}}).code, 403);
  // One that has it is not touched either: not to tighten it, not to take it away.
  ASSERT_EQ(hub.Do("POST", roles, role("mine", selectors)).code, 201);
  EXPECT_EQ(Patch("alice", roles + "/mine", {{"aggregationRule", nullptr}}).code, 403);
  EXPECT_EQ(Patch("alice", roles + "/mine", {{"metadata", {{"labels", {{"x", "y"}}}}}}).code, 403);
  Bind(c1, "cluster-admin", "alice");
  EXPECT_EQ(As("alice", "POST", roles, role("all", selectors)).code, 201);
  EXPECT_EQ(Patch("alice", roles + "/mine", {{"aggregationRule", nullptr}}).code, 200);
}

// The right to escalate names roles that exist: what is created has no name to ask about yet.
TEST_F(Escalation, EscalateIsAskedAsKubernetesAsksIt) {
  Role(c1, "writer", Json::array({Rule({"create", "update", "patch", "get"}, kGroup, "clusterroles"),
                                  {{"verbs", {"escalate"}}, {"apiGroups", {kGroup}}, {"resources", {"clusterroles"}},
                                   {"resourceNames", {"named"}}}}), "alice");
  const Json named = {{"apiVersion", kGroup + "/v1"}, {"kind", "ClusterRole"}, {"metadata", {{"name", "named"}}},
                      {"rules", Json::array({Rule({"get"}, "", "secrets")})}};
  EXPECT_EQ(As("alice", "POST", roles, named).code, 403);
  Role(c1, "named", Json::array());
  EXPECT_EQ(As("alice", "PUT", roles + "/named", named).code, 200);
}

TEST_F(Escalation, BindHoldsWhereTheBindingIs) {
  Role(c1, "binder", Json::array({Rule({"create", "update", "patch", "get"}, kGroup, "rolebindings"),
                                  Rule({"create", "update", "patch", "get"}, kGroup, "clusterrolebindings"),
                                  Rule({"bind"}, kGroup, "clusterroles")}));
  Bind(c1, "binder", "alice", "default");
  auto bind = [&](const std::string& user, const std::string& ns) {
    const std::string path = ns.empty() ? "/clusterrolebindings" : "/namespaces/" + ns + "/rolebindings";
    return As(user, "POST", c1 + kRbac + path, Binding("by-" + user, "admin", "bob", ns)).code;
  };
  EXPECT_EQ(bind("alice", "default"), 201) << "bound there, a ClusterRole allows to bind there";
  EXPECT_EQ(bind("alice", "kube-system"), 403);
  EXPECT_EQ(bind("alice", ""), 403);
  // May write bindings everywhere, but bind only here.
  Role(c1, "bindings", Json::array({Rule({"create", "patch", "get"}, kGroup, "rolebindings"),
                                    Rule({"create", "patch", "get"}, kGroup, "clusterrolebindings")}), "carol");
  Role(c1, "binds", Json::array({Rule({"bind"}, kGroup, "clusterroles")}));
  Bind(c1, "binds", "carol", "default");
  EXPECT_EQ(bind("carol", "default"), 201);
  EXPECT_EQ(bind("carol", "kube-system"), 403);
  EXPECT_EQ(bind("carol", ""), 403);
  Bind(c1, "binds", "carol");
  EXPECT_EQ(bind("carol", ""), 201);
  EXPECT_EQ(bind("carol", "kube-system"), 201);
}

// A grant of workspaces needs the rights in those workspaces, not their like in root.
TEST_F(Escalation, WorkspacesAreGrantedByThoseWhoHoldThem) {
  hub.NewWorkspace("c2", "cluster");
  Role("", "looker", Json::array({Rule({"get", "list"}, "", "secrets")}), "alice");
  Role("", "granter", Json::array({Rule({"get", "create", "patch"}, "mailbox.kubestellar.io", "workspaceaccesses"),
                                   Rule({"get", "patch"}, "mailbox.kubestellar.io", "workspaces")}), "alice");
  auto spec = [](const Json& names, bool across) {
    Json out = {{"subjects", Json::array({{{"apiGroup", kGroup}, {"kind", "User"}, {"name", "alice"}}})},
                {"workspaceNames", names}, {"role", "looker"}};
    if (across) out["acrossWorkspaces"] = true;
    return out;
  };
  auto grant = [&](const std::string& name, const Json& about) {
    return As("alice", "POST", kAccesses,
              {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "WorkspaceAccess"},
               {"metadata", {{"name", name}}}, {"spec", about}});
  };
  Json selected = spec({"c1"}, false);
  selected["workspaceSelector"] = {{"matchLabels", {{"a", "b"}}}};
  EXPECT_EQ(grant("every", spec({"*"}, false)).code, 403);
  EXPECT_EQ(grant("across", spec({"*"}, true)).code, 403);
  EXPECT_EQ(grant("selected", selected).code, 403);
  const auto denied = grant("one", spec({"c1"}, false));
  EXPECT_EQ(denied.code, 403);
  EXPECT_NE(denied.text.find("attempting to grant RBAC permissions not currently held"), std::string::npos) << denied.text;
  EXPECT_EQ(grant("root", spec({"root"}, false)).code, 201) << "there she holds them";
  const Json opened = {{"spec", {{"access", Json::array({{{"role", "looker"}, {"subjects", spec({}, false)["subjects"]}}})}}}};
  EXPECT_EQ(Patch("alice", kWorkspaces + "/c1", opened).code, 403);
  // Held in c1, granted in c1; the whole of the hub needs the right to bind.
  Role(c1, "looker", Json::array({Rule({"get", "list"}, "", "secrets")}), "alice");
  EXPECT_EQ(grant("one", spec({"c1"}, false)).code, 201);
  EXPECT_EQ(Patch("alice", kWorkspaces + "/c1", opened).code, 200);
  EXPECT_EQ(grant("two", spec({"c1", "c2"}, false)).code, 403);
  EXPECT_EQ(grant("selected", selected).code, 403);
  Role("", "binds", Json::array({{{"verbs", {"bind"}}, {"apiGroups", {kGroup}}, {"resources", {"clusterroles"}},
                                  {"resourceNames", {"looker"}}}}), "alice");
  EXPECT_EQ(grant("across", spec({"*"}, true)).code, 201);
  EXPECT_EQ(grant("selected", selected).code, 201);
}

std::vector<std::string> Many(const std::string& prefix, int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(prefix + std::to_string(i));
  return out;
}

// Lists multiply: what takes kilobytes to write may spell out thousands of millions of rights.
TEST_F(Escalation, ARoleThatMultipliesIsRefused) {
  Role(c1, "writer", Json::array({Rule({"create"}, kGroup, "clusterroles"),
                                  {{"verbs", Many("v", 20)}, {"apiGroups", {"x.io"}}, {"resources", Many("r", 100)}}}), "alice");
  auto post = [&](const std::string& name, int verbs, int groups, int resources) {
    return As("alice", "POST", roles, {{"apiVersion", kGroup + "/v1"}, {"kind", "ClusterRole"}, {"metadata", {{"name", name}}},
                                       {"rules", Json::array({{{"verbs", Many("v", verbs)}, {"apiGroups", Many("g", groups)},
                                                               {"resources", Many("r", resources)}}})}});
  };
  const auto huge = post("huge", 1000, 1000, 1000);
  EXPECT_EQ(huge.code, 403);
  EXPECT_EQ(StringAt(huge.body, {"message"}),
            "clusterroles.rbac.authorization.k8s.io \"huge\" is forbidden: the rules spell out too many rights to be "
            "compared with those of user \"alice\"");
  // Of those that are looked at, a few are named.
  const std::string told = StringAt(post("large", 10, 20, 400).body, {"message"});
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), static_cast<int>(limits::kRulesTold) + 1) << told;
  EXPECT_NE(told.find("{APIGroups:[\"g0\"], Resources:[\"r0\"], Verbs:[\"v0\" \"v1\""), std::string::npos) << told;
  EXPECT_TRUE(told.ends_with("\nand others")) << told;
  // One verb may be as long as the body.
  const auto wide = As("alice", "POST", roles, {{"apiVersion", kGroup + "/v1"}, {"kind", "ClusterRole"}, {"metadata", {{"name", "wide"}}},
                                                {"rules", Json::array({{{"verbs", {std::string(1 << 20, 'v')}}, {"apiGroups", {"x.io"}},
                                                                        {"resources", Many("q", 100)}}})}});
  EXPECT_EQ(wide.code, 403);
  EXPECT_LT(wide.text.size(), std::size_t{3} << 20);
  Json held = {{"apiVersion", kGroup + "/v1"}, {"kind", "ClusterRole"}, {"metadata", {{"name", "held"}}},
               {"rules", Json::array({{{"verbs", Many("v", 20)}, {"apiGroups", {"x.io"}}, {"resources", Many("r", 100)}}})}};
  EXPECT_EQ(As("alice", "POST", roles, held).code, 201) << "these she holds";
}

TEST(Uncovered, IsWhatNoRuleThatIsHeldCovers) {
  using apiserver::Rules;
  using apiserver::Uncovered;
  const Rules held = {{{"get", "list"}, {"", "apps"}, {"pods", "*/scale"}, {}, {}},
                      {{"*"}, {"x.io"}, {"*"}, {}, {}},
                      {{"delete"}, {""}, {"pods"}, {"mine"}, {}},
                      {{"get"}, {}, {}, {}, {"/metrics", "/logs/*"}}};
  auto missing = [&](const apiserver::Rule& wanted) { return Uncovered(held, {wanted}).rules; };
  EXPECT_TRUE(missing({{"get"}, {""}, {"pods"}, {}, {}}).empty());
  EXPECT_TRUE(missing({{"get"}, {""}, {"pods"}, {"any"}, {}}).empty());
  EXPECT_TRUE(missing({{"list"}, {"apps"}, {"deployments/scale"}, {}, {}}).empty());
  EXPECT_TRUE(missing({{"*"}, {"x.io"}, {"*", "things/status"}, {"n"}, {}}).empty());
  EXPECT_TRUE(missing({{"delete"}, {""}, {"pods"}, {"mine"}, {}}).empty());
  EXPECT_TRUE(missing({{"get"}, {}, {}, {}, {"/metrics", "/logs/a", "/logs/*"}}).empty());
  EXPECT_TRUE(missing({{}, {"none"}, {"none"}, {}, {}}).empty()) << "grants nothing";
  EXPECT_EQ(missing({{"get", "delete", "delete"}, {""}, {"pods"}, {}, {}}), (Rules{{{"delete"}, {""}, {"pods"}, {}, {}}}));
  EXPECT_EQ(missing({{"delete"}, {""}, {"pods"}, {"mine", "yours"}, {}}), (Rules{{{"delete"}, {""}, {"pods"}, {"yours"}, {}}}));
  EXPECT_EQ(missing({{"*"}, {""}, {"pods"}, {}, {}}), (Rules{{{"*"}, {""}, {"pods"}, {}, {}}}));
  EXPECT_EQ(missing({{"get"}, {""}, {"pods/log"}, {}, {}}), (Rules{{{"get"}, {""}, {"pods/log"}, {}, {}}}));
  EXPECT_EQ(missing({{"get"}, {}, {}, {}, {"/metrics/x", "/logs"}}),
            (Rules{{{"get"}, {}, {}, {}, {"/metrics/x"}}, {{"get"}, {}, {}, {}, {"/logs"}}}));
  // Rights to one resource are told together, wherever they were asked for.
  EXPECT_EQ(Uncovered(held, {{{"a"}, {"y"}, {"r"}, {}, {}}, {{"b", "a"}, {"y"}, {"r"}, {}, {}}}).rules,
            (Rules{{{"a", "b"}, {"y"}, {"r"}, {}, {}}}));
  // Many rules that are held make as much work as many that are granted.
  const Rules many(3000, {Many("v", 100), {"*"}, {"*"}, {}, {}});
  EXPECT_TRUE(Uncovered(many, {{Many("v", 100), {"g"}, Many("r", 100), {}, {}}}).too_many);
}

}  // namespace
}  // namespace mailroom
