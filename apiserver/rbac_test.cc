// Authorisation as clients see it: RBAC per workspace, root's grants, reviews, impersonation.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "apiserver/auth/user.h"
#include "apiserver/client/certificate_request.h"
#include "openapi/base64.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";

Json RoleRef(const std::string& kind, const std::string& name) {
  return {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
}
Json UserSubject(const std::string& name) {
  return {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", name}};
}
Json GroupSubject(const std::string& name) {
  return {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Group"}, {"name", name}};
}
Json RuleOf(std::vector<std::string> verbs, std::vector<std::string> groups,
            std::vector<std::string> resources) {
  return {{"verbs", verbs}, {"apiGroups", groups}, {"resources", resources}};
}

class Rights : public testing::Test {
 protected:
  Rights() { hub.NewWorkspace("c1", "cluster"); }

  TestHub::Answer As(const std::string& user, const std::vector<std::string>& groups,
                     const std::string& method, const std::string& path, const Json& body = nullptr,
                     const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    Request request;
    request.method = method;
    const std::size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    if (mark != std::string::npos) request.query = path.substr(mark + 1);
    request.peer.common_name = user;
    request.peer.organizations = groups;
    if (!body.is_null()) {
      request.body = DumpJson(body);
      request.headers.Add("content-type", "application/json");
    }
    for (const auto& [name, value] : headers) request.headers.Add(name, value);
    return hub.Send(std::move(request));
  }

  int Code(const std::string& user, const std::string& method, const std::string& path) {
    return As(user, {}, method, path).code;
  }

  void Make(const std::string& path, const std::string& kind, const std::string& name, Json object) {
    object["apiVersion"] = "rbac.authorization.k8s.io/v1";
    object["kind"] = kind;
    Set(object, {"metadata", "name"}, name);
    const auto made = hub.Do("POST", path, object);
    ASSERT_EQ(made.code, 201) << made.text;
  }

  void Grant(const std::string& name, const Json& spec) {
    const auto made = hub.Do(
        "POST", "/apis/mailbox.kubestellar.io/v1alpha1/workspaceaccesses",
        {{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "WorkspaceAccess"},
         {"metadata", {{"name", name}}}, {"spec", spec}});
    ASSERT_EQ(made.code, 201) << made.text;
  }

  TestHub hub;
  const std::string c1 = "/clusters/c1";
};

TEST_F(Rights, ARoleBindingOpensItsNamespaceOnly) {
  Make(c1 + kRbac + "/namespaces/default/roles", "Role", "reader",
       {{"rules", Json::array({RuleOf({"get", "list"}, {""}, {"configmaps"})})}});
  EXPECT_EQ(Code("alice", "GET", c1 + "/api/v1/namespaces/default/configmaps"), 403);
  Make(c1 + kRbac + "/namespaces/default/rolebindings", "RoleBinding", "alice-reads",
       {{"roleRef", RoleRef("Role", "reader")}, {"subjects", Json::array({UserSubject("alice")})}});
  EXPECT_EQ(Code("alice", "GET", c1 + "/api/v1/namespaces/default/configmaps"), 200);
  EXPECT_EQ(Code("alice", "GET", c1 + "/api/v1/namespaces/kube-system/configmaps"), 403);
  EXPECT_EQ(Code("alice", "GET", c1 + "/api/v1/configmaps"), 403);
  EXPECT_EQ(Code("alice", "DELETE", c1 + "/api/v1/namespaces/default/configmaps/x"), 403);
  EXPECT_EQ(Code("alice", "GET", c1 + "/api/v1/namespaces/default/secrets"), 403);
  EXPECT_EQ(Code("bob", "GET", c1 + "/api/v1/namespaces/default/configmaps"), 403);
  EXPECT_EQ(Code("alice", "GET", "/api/v1/namespaces/default/configmaps"), 403) << "root";
  EXPECT_EQ(Code("alice", "GET", c1 + "/apis"), 200) << "who may enter may look around";
  EXPECT_EQ(Code("bob", "GET", c1 + "/apis"), 403) << "a stranger may not";
  hub.Do("DELETE", c1 + kRbac + "/namespaces/default/rolebindings/alice-reads");
  EXPECT_EQ(Code("alice", "GET", c1 + "/api/v1/namespaces/default/configmaps"), 403);
}

TEST_F(Rights, ResourceNamesSubresourcesAndPaths) {
  Make(c1 + kRbac + "/clusterroles", "ClusterRole", "one",
       {{"rules", Json::array({{{"verbs", {"get", "list", "update"}}, {"apiGroups", {""}},
                                {"resources", {"configmaps"}}, {"resourceNames", {"mine"}}},
                               RuleOf({"patch"}, {"apps"}, {"*/scale"}),
                               {{"verbs", {"get"}}, {"nonResourceURLs", {"/metrics/*"}}}})}});
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "one",
       {{"roleRef", RoleRef("ClusterRole", "one")}, {"subjects", Json::array({GroupSubject("devs")})}});
  auto code = [&](const std::string& method, const std::string& path) {
    return As("carol", {"devs"}, method, c1 + path).code;
  };
  EXPECT_EQ(code("GET", "/api/v1/namespaces/default/configmaps/mine"), 404);
  EXPECT_EQ(code("GET", "/api/v1/namespaces/default/configmaps/other"), 403);
  EXPECT_EQ(code("GET", "/api/v1/namespaces/default/configmaps"), 403);
  EXPECT_EQ(code("GET", "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dmine"), 200);
  EXPECT_EQ(code("POST", "/api/v1/namespaces/default/configmaps"), 403);
  EXPECT_EQ(code("PATCH", "/apis/apps/v1/namespaces/default/deployments/d"), 403);
  EXPECT_NE(code("PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale"), 403);
  EXPECT_EQ(code("GET", "/metrics/x"), 404);
  EXPECT_EQ(code("GET", "/metricsx"), 403);
}

TEST_F(Rights, TheAnswerNamesAMissingRole) {
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "dangling",
       {{"roleRef", RoleRef("ClusterRole", "gone")}, {"subjects", Json::array({UserSubject("alice")})}});
  EXPECT_EQ(StringAt(As("alice", {}, "GET", c1 + "/api/v1/nodes").body, {"message"}),
            "nodes is forbidden: User \"alice\" cannot list resource \"nodes\" in API group \"\" at "
            "the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found");
}

TEST_F(Rights, BindingsArePayloadInWdsAndMailbox) {
  hub.NewWorkspace("its1-mb-1", "mailbox");
  for (const std::string ws : {"/clusters/wds1", "/clusters/its1-mb-1"}) {
    Make(ws + kRbac + "/clusterroles", "ClusterRole", "all",
         {{"rules", Json::array({RuleOf({"*"}, {"*"}, {"*"})})}});
    Make(ws + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "all",
         {{"roleRef", RoleRef("ClusterRole", "all")},
          {"subjects", Json::array({UserSubject("alice"), GroupSubject("system:authenticated"),
                                    GroupSubject("system:unauthenticated")})}});
    for (const char* user : {"alice", "bob", ""}) {
      EXPECT_EQ(Code(user, "GET", ws + "/api/v1/secrets"), 403) << user << ws;
      EXPECT_EQ(Code(user, "GET", ws + "/apis"), 403) << user << ws;
    }
  }
}

TEST_F(Rights, RootGrantsWholeWorkspaces) {
  hub.NewWorkspace("c2", "cluster");
  hub.Do("PATCH", "/apis/mailbox.kubestellar.io/v1alpha1/workspaces/c2",
         {{"metadata", {{"labels", {{"team", "blue"}}}}}}, "application/merge-patch+json");
  Grant("by-name", {{"subjects", Json::array({UserSubject("alice")})},
                    {"workspaceNames", {"wds1"}}, {"role", "edit"}});
  Grant("by-label", {{"subjects", Json::array({GroupSubject("blues")})},
                     {"workspaceSelector", {{"matchLabels", {{"team", "blue"}}}}}, {"role", "view"}});
  EXPECT_EQ(Code("alice", "GET", "/clusters/wds1/api/v1/namespaces/default/secrets"), 200);
  EXPECT_EQ(Code("alice", "GET", "/clusters/wds1/apis"), 200);
  EXPECT_EQ(Code("alice", "GET", "/clusters/wds1/apis/edge.kubestellar.io/v2alpha1/edgeplacements"), 200);
  EXPECT_EQ(Code("alice", "GET", "/clusters/wds1" + kRbac + "/clusterroles"), 403);
  for (const char* ws : {"c1", "c2", "root", "its1"}) {
    EXPECT_EQ(Code("alice", "GET", "/clusters/" + std::string(ws) + "/api/v1/configmaps"), 403) << ws;
  }
  auto blue = [&](const std::string& method, const std::string& path) {
    return As("dora", {"blues"}, method, path).code;
  };
  EXPECT_EQ(blue("GET", "/clusters/c2/api/v1/configmaps"), 200);
  EXPECT_EQ(blue("GET", "/clusters/c2/api/v1/secrets"), 403);
  EXPECT_EQ(blue("POST", "/clusters/c2/api/v1/namespaces/default/configmaps"), 403);
  EXPECT_EQ(blue("GET", "/clusters/c1/api/v1/configmaps"), 403);
  EXPECT_EQ(blue("GET", "/clusters/wds1/api/v1/configmaps"), 403);
}

TEST_F(Rights, AWorkspaceSaysItselfWhoMayEnter) {
  const std::string workspaces = "/apis/mailbox.kubestellar.io/v1alpha1/workspaces";
  auto workspace = [](const std::string& name, const Json& access) {
    return Json{{"apiVersion", "mailbox.kubestellar.io/v1alpha1"}, {"kind", "Workspace"},
                {"metadata", {{"name", name}}}, {"spec", {{"type", "wds"}, {"access", access}}}};
  };
  const Json robot = {{"kind", "ServiceAccount"}, {"name", "robot"}, {"namespace", "default"},
                      {"workspace", "c1"}};
  const auto made = hub.Do("POST", workspaces,
                           workspace("open", Json::array({{{"role", "edit"}, {"subjects", Json::array({UserSubject("alice"), robot})}},
                                                          {{"role", "view"}, {"subjects", Json::array({GroupSubject("blues")})}}})));
  ASSERT_EQ(made.code, 201) << made.text;
  const std::string maps = "/clusters/open/api/v1/namespaces/default/configmaps";
  EXPECT_EQ(As("alice", {}, "POST", maps, ConfigMap("a")).code, 201);
  EXPECT_EQ(Code("alice", "GET", "/clusters/open/apis"), 200) << "may look around";
  EXPECT_EQ(Code("alice", "GET", "/clusters/wds1/api/v1/namespaces/default/configmaps"), 403);
  EXPECT_EQ(Code("alice", "GET", "/clusters/*/api/v1/configmaps"), 403);
  EXPECT_EQ(As("dora", {"blues"}, "GET", maps).code, 200);
  EXPECT_EQ(As("dora", {"blues"}, "POST", maps, ConfigMap("b")).code, 403);
  EXPECT_EQ(Code("dora", "GET", maps), 403);
  hub.Do("POST", "/clusters/c1/api/v1/namespaces/default/serviceaccounts",
         {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "robot"}}}});
  const auto token = hub.Do("POST", "/clusters/c1/api/v1/namespaces/default/serviceaccounts/robot/token",
                            {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}});
  Request request;
  request.method = "GET";
  request.path = maps;
  request.headers.Add("authorization", "Bearer " + StringAt(token.body, {"status", "token"}));
  EXPECT_EQ(hub.Send(request).code, 200) << "an account of another workspace that was named";
  request.path = "/clusters/wds1/api/v1/namespaces/default/configmaps";
  EXPECT_EQ(hub.Send(request).code, 403);
  // What is taken away is gone with the next request.
  hub.Do("PATCH", workspaces + "/open", {{"spec", {{"access", nullptr}}}}, "application/merge-patch+json");
  EXPECT_EQ(Code("alice", "GET", maps), 403);
  // Whoever may make workspaces opens them with rights of their own only.
  Make(kRbac + "/clusterroles", "ClusterRole", "maker",
       {{"rules", Json::array({RuleOf({"*"}, {"mailbox.kubestellar.io"}, {"workspaces"}),
                               RuleOf({"get"}, {""}, {"configmaps"})})}});
  Make(kRbac + "/clusterroles", "ClusterRole", "looker",
       {{"rules", Json::array({RuleOf({"get"}, {""}, {"configmaps"})})}});
  Make(kRbac + "/clusterrolebindings", "ClusterRoleBinding", "maker",
       {{"roleRef", RoleRef("ClusterRole", "maker")}, {"subjects", Json::array({UserSubject("carl")})}});
  auto opens = [&](const std::string& name, const std::string& role) {
    return As("carl", {}, "POST", workspaces,
              workspace(name, Json::array({{{"role", role}, {"subjects", Json::array({UserSubject("carl")})}}})));
  };
  EXPECT_EQ(opens("mine", "looker").code, 201);
  const auto denied = opens("theirs", "cluster-admin");
  EXPECT_EQ(denied.code, 403);
  EXPECT_NE(denied.text.find("is attempting to grant RBAC permissions not currently held"), std::string::npos);
  EXPECT_EQ(opens("theirs", "none").code, 404);
  EXPECT_EQ(hub.Do("POST", workspaces, workspace("bad", Json::array({{{"role", "edit"}}}))).code, 422);
}

TEST_F(Rights, ReadingAllWorkspacesNeedsItsOwnGrant) {
  const Json subjects = Json::array({UserSubject("alice")});
  Grant("every", {{"subjects", subjects}, {"workspaceNames", {"*"}}, {"role", "view"}});
  EXPECT_EQ(Code("alice", "GET", "/clusters/c1/api/v1/configmaps"), 200);
  EXPECT_EQ(Code("alice", "GET", "/clusters/*/api/v1/configmaps"), 403);
  EXPECT_EQ(Code("alice", "GET", "/clusters/root/api/v1/configmaps"), 403);
  Grant("across", {{"subjects", subjects}, {"workspaceNames", {"c1"}}, {"role", "view"},
                   {"acrossWorkspaces", true}});
  EXPECT_EQ(Code("alice", "GET", "/clusters/*/api/v1/configmaps"), 403) << "only with *";
  Grant("across-all", {{"subjects", subjects}, {"workspaceNames", {"*"}}, {"role", "view"},
                       {"acrossWorkspaces", true}});
  EXPECT_EQ(Code("alice", "GET", "/clusters/*/api/v1/configmaps"), 200);
  EXPECT_EQ(Code("alice", "GET", "/clusters/*/api/v1/secrets"), 403);
}

TEST_F(Rights, NobodyGrantsMoreThanTheyHold) {
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "alice-admin",
       {{"roleRef", RoleRef("ClusterRole", "admin")}, {"subjects", Json::array({UserSubject("alice")})}});
  const std::string roles = c1 + kRbac + "/namespaces/default/roles";
  auto role = [](const std::string& name, const Json& rule) {
    return Json{{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "Role"},
                {"metadata", {{"name", name}}}, {"rules", Json::array({rule})}};
  };
  EXPECT_EQ(As("alice", {}, "POST", roles, role("a", RuleOf({"get"}, {""}, {"configmaps"}))).code, 201);
  const auto denied = As("alice", {}, "POST", roles,
                         role("b", RuleOf({"get", "watch"}, {"", "x.io"}, {"nodes", "configmaps"})));
  EXPECT_EQ(denied.code, 403);
  EXPECT_EQ(StringAt(denied.body, {"message"}),
            "roles.rbac.authorization.k8s.io \"b\" is forbidden: user \"alice\" "
            "(groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not "
            "currently held:\n{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\" \"watch\"]}\n"
            "{APIGroups:[\"x.io\"], Resources:[\"configmaps\"], Verbs:[\"get\" \"watch\"]}\n"
            "{APIGroups:[\"x.io\"], Resources:[\"nodes\"], Verbs:[\"get\" \"watch\"]}");
  const std::string bindings = c1 + kRbac + "/namespaces/default/rolebindings";
  auto binding = [](const std::string& name, const std::string& to) {
    return Json{{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", "RoleBinding"},
                {"metadata", {{"name", name}}}, {"roleRef", RoleRef("ClusterRole", to)},
                {"subjects", Json::array({UserSubject("bob")})}};
  };
  EXPECT_EQ(As("alice", {}, "POST", bindings, binding("view", "view")).code, 201);
  EXPECT_EQ(As("alice", {}, "POST", bindings, binding("root", "cluster-admin")).code, 403);
  EXPECT_EQ(As("alice", {}, "POST", bindings, binding("none", "nothing")).code, 404);
  Make(c1 + kRbac + "/clusterroles", "ClusterRole", "binder",
       {{"rules", Json::array({{{"verbs", {"bind"}}, {"apiGroups", {"rbac.authorization.k8s.io"}},
                                {"resources", {"clusterroles"}}, {"resourceNames", {"cluster-admin"}}},
                               RuleOf({"escalate"}, {"rbac.authorization.k8s.io"}, {"roles"})})}});
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "alice-binds",
       {{"roleRef", RoleRef("ClusterRole", "binder")}, {"subjects", Json::array({UserSubject("alice")})}});
  EXPECT_EQ(As("alice", {}, "POST", bindings, binding("root", "cluster-admin")).code, 201);
  EXPECT_EQ(As("alice", {}, "POST", roles, role("b", RuleOf({"*"}, {"*"}, {"*"}))).code, 201);
}

TEST_F(Rights, AggregatedRolesFollowTheirParts) {
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "alice-views",
       {{"roleRef", RoleRef("ClusterRole", "view")}, {"subjects", Json::array({UserSubject("alice")})}});
  EXPECT_EQ(Code("alice", "GET", c1 + "/apis/x.io/v1/things"), 403);
  Make(c1 + kRbac + "/clusterroles", "ClusterRole", "things-view",
       {{"metadata", {{"labels", {{"rbac.authorization.k8s.io/aggregate-to-view", "true"}}}}},
        {"rules", Json::array({RuleOf({"get", "list"}, {"x.io"}, {"things"})})}});
  EXPECT_EQ(Code("alice", "GET", c1 + "/apis/x.io/v1/things"), 404) << "allowed at once";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::string shown;
  while (shown.find("x.io") == std::string::npos && std::chrono::steady_clock::now() < deadline) {
    shown = hub.Get(c1 + kRbac + "/clusterroles/admin").text;
    std::this_thread::yield();
  }
  EXPECT_NE(shown.find("x.io"), std::string::npos) << "admin holds edit, which holds view";
}

// What only everybody who is nobody holds, such as where the issuer of tokens is to be verified.
TEST_F(Rights, AWorkspaceMayOpenPathsToEverybody) {
  auto nobody = [&](const std::string& path) { return Code("", "GET", path); };
  const std::string keys = "/openid/v1/jwks";
  EXPECT_EQ(nobody(c1 + keys), 403);
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "issuer",
       {{"roleRef", RoleRef("ClusterRole", "system:service-account-issuer-discovery")},
        {"subjects", Json::array({GroupSubject("system:unauthenticated")})}});
  EXPECT_EQ(nobody(c1 + keys), 200);
  EXPECT_EQ(nobody(c1 + "/.well-known/openid-configuration"), 200);
  EXPECT_EQ(nobody(c1 + "/apis"), 403);
  EXPECT_EQ(nobody(keys), 403) << "root says nothing of the kind";
  EXPECT_EQ(Code("alice", "GET", c1 + keys), 403) << "she is somebody";
  EXPECT_EQ(As("alice", {"system:unauthenticated"}, "GET", c1 + keys).code, 403) << "whatever she says";
}

TEST_F(Rights, AccessReviewsAnswer) {
  Make(c1 + kRbac + "/namespaces/default/rolebindings", "RoleBinding", "alice-edits",
       {{"roleRef", RoleRef("ClusterRole", "edit")}, {"subjects", Json::array({UserSubject("alice")})}});
  auto review = [&](const std::string& kind, const std::string& path, const Json& spec,
                    const std::string& user) {
    return As(user, {}, "POST", c1 + path,
              {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", kind}, {"spec", spec}});
  };
  const std::string api = "/apis/authorization.k8s.io/v1";
  auto can = [&](const std::string& verb, const std::string& resource, const std::string& ns) {
    auto answer = review("SelfSubjectAccessReview", api + "/selfsubjectaccessreviews",
                         {{"resourceAttributes", {{"verb", verb}, {"resource", resource}, {"namespace", ns}}}},
                         "alice");
    EXPECT_EQ(answer.code, 201) << answer.text;
    return answer.body;
  };
  EXPECT_TRUE(BoolAt(can("create", "configmaps", "default"), {"status", "allowed"}));
  EXPECT_EQ(StringAt(can("create", "configmaps", "default"), {"status", "reason"}),
            "RBAC: allowed by RoleBinding \"alice-edits/default\" of ClusterRole \"edit\" to User \"alice\"");
  EXPECT_FALSE(BoolAt(can("create", "configmaps", "kube-system"), {"status", "allowed"}));
  EXPECT_FALSE(BoolAt(can("*", "*", "default"), {"status", "allowed"}));
  const Json spec = {{"user", "alice"},
                     {"resourceAttributes", {{"verb", "list"}, {"resource", "pods"}, {"namespace", "default"}}}};
  EXPECT_EQ(review("SubjectAccessReview", api + "/subjectaccessreviews", spec, "alice").code, 403);
  auto subject = hub.Do("POST", c1 + api + "/subjectaccessreviews",
                        {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", spec}});
  EXPECT_TRUE(BoolAt(subject.body, {"status", "allowed"})) << subject.text;
  auto local = hub.Do("POST", c1 + api + "/namespaces/default/localsubjectaccessreviews",
                      {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "LocalSubjectAccessReview"}, {"spec", spec}});
  EXPECT_TRUE(BoolAt(local.body, {"status", "allowed"})) << local.text;
  EXPECT_EQ(hub.Do("POST", c1 + api + "/namespaces/kube-system/localsubjectaccessreviews",
                   {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "LocalSubjectAccessReview"}, {"spec", spec}}).code, 422);
  EXPECT_EQ(hub.Do("POST", c1 + api + "/subjectaccessreviews",
                   {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", Json::object()}}).code, 422);
  auto rules = review("SelfSubjectRulesReview", api + "/selfsubjectrulesreviews", {{"namespace", "default"}}, "alice");
  EXPECT_EQ(rules.code, 201) << rules.text;
  EXPECT_GT(Find(rules.body, {"status", "resourceRules"})->size(), 5u);
  EXPECT_FALSE(Find(rules.body, {"status", "nonResourceRules"})->empty());
  auto self = As("alice", {"devs"}, "POST", c1 + "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                 {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}});
  EXPECT_EQ(StringAt(self.body, {"status", "userInfo", "username"}), "alice") << self.text;
  EXPECT_EQ(StringsAt(self.body, {"status", "userInfo", "groups"}),
            (std::vector<std::string>{"devs", "system:authenticated"}));
}

TEST_F(Rights, ReviewsAreRefusedInKubernetesWords) {
  struct Case {
    const char *resource, *body, *message;
  };
  const Case cases[] = {
      {"selfsubjectaccessreviews", R"({"spec": {}})",
       ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: "
       "exactly one of nonResourceAttributes or resourceAttributes must be specified"},
      {"subjectaccessreviews", R"({"metadata": {"name": "x"}, "spec": {"resourceAttributes": {}}})",
       ".authorization.k8s.io \"\" is invalid: [spec.user: Invalid value: \"\": at least one of user or "
       "group must be specified, metadata: Invalid value: {\"name\":\"x\"}: must be empty]"},
      {"subjectaccessreviews",
       R"({"spec": {"user": "u", "resourceAttributes": {"fieldSelector": {}, "labelSelector": {"rawSelector": "a=b",
           "requirements": [{"key": "a", "operator": "In"}, {"key": "a", "operator": "Exists", "values": ["x"]}]}}}})",
       ".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes.fieldSelector.requirements: "
       "Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required, "
       "spec.resourceAttributes.labelSelector.rawSelector: Invalid value: \"a=b\": may not specified at the same time as "
       "requirements, spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when "
       "`operator` is 'In' or 'NotIn', spec.resourceAttributes.labelSelector.requirements[1].values: Forbidden: may not be "
       "specified when `operator` is 'Exists' or 'DoesNotExist']"},
      {"namespaces/default/localsubjectaccessreviews",
       R"({"metadata": {"name": "x"}, "spec": {"user": "u", "nonResourceAttributes": {"path": "/a", "verb": "get"}}})",
       ".authorization.k8s.io \"\" is invalid: [metadata: Invalid value: {\"name\":\"x\"}: must be "
       "empty except for namespace, spec.nonResourceAttributes: Invalid value: {\"Path\":\"/a\",\"Verb\":\"get\"}: "
       "disallowed on this kind of request]"},
      {"namespaces/default/localsubjectaccessreviews",
       R"({"spec": {"user": "u", "resourceAttributes": {"namespace": "other", "verb": "get", "resource": "pods"}}})",
       ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: "
       "\"other\": must match metadata.namespace"},
      {"namespaces/default/localsubjectaccessreviews", R"({"metadata": {"namespace": "other"}, "spec": {}})",
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"selfsubjectrulesreviews", R"({"spec": {}})", "no namespace on request"},
  };
  for (const Case& each : cases) {
    const auto answer = hub.Do("POST", c1 + "/apis/authorization.k8s.io/v1/" + each.resource, *ParseJson(each.body));
    EXPECT_EQ(StringAt(answer.body, {"message"}), each.message);
  }
  const auto rules = hub.Do("POST", c1 + "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                            {{"metadata", {{"name", "x"}}}, {"spec", {{"namespace", "default"}}}});
  EXPECT_EQ(rules.code, 201) << "a name is no matter there";
  EXPECT_EQ(*Find(rules.body, {"spec"}), Json::object());
}

TEST_F(Rights, ImpersonationNeedsTheRight) {
  const std::string maps = c1 + "/api/v1/namespaces/default/configmaps";
  Make(c1 + kRbac + "/namespaces/default/rolebindings", "RoleBinding", "alice-edits",
       {{"roleRef", RoleRef("ClusterRole", "edit")}, {"subjects", Json::array({UserSubject("alice")})}});
  auto code = [&](const std::string& user, const std::vector<std::string>& groups,
                  const std::vector<std::pair<std::string, std::string>>& headers) {
    return As(user, groups, "GET", maps, nullptr, headers).code;
  };
  const std::vector<std::string> masters = {"system:masters"};
  EXPECT_EQ(code("admin", masters, {{"impersonate-user", "alice"}}), 200);
  EXPECT_EQ(code("admin", masters, {{"impersonate-user", "bob"}}), 403);
  EXPECT_EQ(code("admin", masters, {{"impersonate-user", "bob"}, {"impersonate-group", "system:masters"}}), 200);
  EXPECT_EQ(code("admin", masters, {{"impersonate-group", "system:masters"}}), 400);
  EXPECT_EQ(code("admin", masters, {{"impersonate-uid", "7"}}), 400);
  const auto denied = As("bob", {}, "GET", maps, nullptr, {{"impersonate-user", "alice"}});
  EXPECT_EQ(denied.code, 403);
  EXPECT_EQ(StringAt(denied.body, {"message"}),
            "users \"alice\" is forbidden: User \"bob\" cannot impersonate resource \"users\" in API "
            "group \"\" at the cluster scope");
  Make(c1 + kRbac + "/clusterroles", "ClusterRole", "acts-as-alice",
       {{"rules", Json::array({{{"verbs", {"impersonate"}}, {"apiGroups", {""}}, {"resources", {"users"}},
                                {"resourceNames", {"alice"}}}})}});
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "bob-acts",
       {{"roleRef", RoleRef("ClusterRole", "acts-as-alice")}, {"subjects", Json::array({UserSubject("bob")})}});
  EXPECT_EQ(code("bob", {}, {{"impersonate-user", "alice"}}), 200);
  EXPECT_EQ(code("bob", {}, {{"impersonate-user", "carol"}}), 403);
  EXPECT_EQ(code("bob", {}, {{"impersonate-user", "alice"}, {"impersonate-group", "system:masters"}}), 403);
  EXPECT_EQ(code("bob", {}, {{"impersonate-user", "alice"}, {"impersonate-uid", "7"}}), 403);
  EXPECT_EQ(code("bob", {}, {{"impersonate-user", "alice"}, {"impersonate-extra-a", "b"}}), 403);
  EXPECT_EQ(As("bob", {}, "GET", "/clusters/wds1/api/v1/configmaps", nullptr,
               {{"impersonate-user", "alice"}}).code, 403) << "the right holds where it was given";
  auto self = As("admin", masters, "POST", c1 + "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                 {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}},
                 {{"impersonate-user", "system:serviceaccount:ns:sa"}, {"impersonate-group", "system:masters"},
                  {"impersonate-uid", "u1"}, {"impersonate-extra-scopes%2fa", "x"}});
  EXPECT_EQ(StringAt(self.body, {"status", "userInfo", "uid"}), "u1") << self.text;
  EXPECT_EQ(StringsAt(self.body, {"status", "userInfo", "extra", "scopes/a"}), std::vector<std::string>{"x"});
}

TEST_F(Rights, AnApprovalTakesTheSignersLeaveEvenIfItChangesNothing) {
  const std::string requests = c1 + "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const std::string pem = *client::NewSigningRequest(*client::NewKey(), "bob", {"devs"});
  const auto made = hub.Do("POST", requests,
                           {{"metadata", {{"name", "r"}}},
                            {"spec", {{"request", openapi::EncodeBase64(pem)},
                                      {"signerName", "example.com/signer"},
                                      {"usages", {"client auth"}}}}});
  ASSERT_EQ(made.code, 201) << made.text;
  Make(c1 + kRbac + "/clusterroles", "ClusterRole", "decide",
       {{"rules", Json::array({RuleOf({"update"}, {"certificates.k8s.io"},
                                      {"certificatesigningrequests/approval",
                                       "certificatesigningrequests/status"})})}});
  Make(c1 + kRbac + "/clusterrolebindings", "ClusterRoleBinding", "decide",
       {{"roleRef", RoleRef("ClusterRole", "decide")},
        {"subjects", Json::array({UserSubject("carol")})}});
  EXPECT_EQ(StringAt(As("carol", {}, "PUT", requests + "/r/approval", made.body).body, {"message"}),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted to "
            "approve requests with signerName \"example.com/signer\"");
  const auto same = As("carol", {}, "PUT", requests + "/r/status", made.body);
  EXPECT_EQ(same.code, 200) << same.text;
  Json signed_too = same.body;
  signed_too["status"]["certificate"] = "eA==";
  EXPECT_EQ(As("carol", {}, "PUT", requests + "/r/status", signed_too).code, 403);
}

}  // namespace
}  // namespace mailroom
