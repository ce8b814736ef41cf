#include "translator/what.h"

#include <gtest/gtest.h>

#include "translator/test_objects.h"

namespace mailroom::translator {
namespace {

Clause ParseClause(const std::string& yaml) {
  const Placement placement =
      ParseBindingPolicy({{"spec", {{"downsync", Json::array({Yaml(yaml)})}}}});
  EXPECT_TRUE(placement.errors.empty()) << yaml;
  return placement.clauses.empty() ? Clause{} : placement.clauses.front();
}

TEST(What, Predicates) {
  const ObjectId widget{{"example.com", "widgets"}, "shop", "w1"};
  const ObjectId pod{{"", "pods"}, "shop", "p1"};
  const ObjectId role{{"rbac.authorization.k8s.io", "clusterroles"}, "", "reader"};
  const LabelViews labels = {{"app", "a"}, {"tier", "web"}};
  const LabelViews ns_labels = {{"env", "prod"}};
  struct Case {
    std::string clause;
    ObjectId id;
    const LabelViews* ns_labels;
    bool matches;
  };
  const std::vector<Case> cases = {
      {"{apiGroup: example.com}", widget, nullptr, true},
      {"{apiGroup: \"\"}", widget, nullptr, false},
      {"{apiGroup: \"\"}", pod, nullptr, true},
      {"{resources: [widgets]}", widget, nullptr, true},
      {"{resources: [widgets.example.com]}", widget, nullptr, true},
      {"{resources: [widgets.example.org]}", widget, nullptr, false},
      {"{resources: [pods, \"*\"]}", widget, nullptr, true},
      {"{resources: []}", widget, nullptr, true},
      {"{resources: [widget]}", widget, nullptr, false},
      {"{resources: [widgets], apiGroup: other}", widget, nullptr, false},
      {"{namespaces: [shop]}", widget, nullptr, true},
      {"{namespaces: [other]}", widget, nullptr, false},
      {"{namespaces: [shop]}", role, nullptr, false},
      {"{namespaces: [\"*\"]}", role, nullptr, true},
      {"{objectNames: [w1, w2]}", widget, nullptr, true},
      {"{objectNames: [w2]}", widget, nullptr, false},
      {"{objectNames: [\"*\"]}", widget, nullptr, true},
      {"{objectSelectors: [{matchLabels: {app: b}}, {matchLabels: {tier: web}}]}", widget, nullptr,
       true},
      {"{objectSelectors: [{matchLabels: {app: b}}]}", widget, nullptr, false},
      {"{objectSelectors: [{matchLabels: {app: a, tier: db}}]}", widget, nullptr, false},
      {"{objectSelectors: [{matchExpressions: [{key: app, operator: Exists}]}]}", widget, nullptr,
       true},
      {"{namespaceSelectors: [{matchLabels: {env: prod}}]}", widget, &ns_labels, true},
      {"{namespaceSelectors: [{matchLabels: {env: dev}}]}", widget, &ns_labels, false},
      {"{namespaceSelectors: [{matchLabels: {env: prod}}]}", widget, nullptr, false},
      {"{namespaceSelectors: [{matchLabels: {env: prod}}]}", role, nullptr, false},
      {"{namespaceSelectors: [{}]}", role, nullptr, true},
      {"{resources: [widgets], objectNames: [w1], namespaces: [other]}", widget, nullptr, false},
  };
  for (const Case& c : cases) {
    const Subject subject{.id = c.id, .labels = labels, .namespace_labels = c.ns_labels};
    EXPECT_EQ(Matches(ParseClause(c.clause), subject), c.matches)
        << c.clause << " against " << Describe(c.id);
  }
}

TEST(What, ClausesThatCannotBeUnderstoodChooseNothing) {
  const Placement placement = ParseBindingPolicy(Yaml(R"(
spec:
  downsync:
  - {createOnly: true}
  - {objectSelectors: [{matchExpressions: [{key: a, operator: Near}]}]}
  - {resources: [pods]}
)"));
  EXPECT_EQ(placement.clauses.size(), 1U);
  EXPECT_EQ(placement.errors.size(), 2U);
}

TEST(What, KindsThatStay) {
  struct Case {
    GroupResource resource;
    bool goes;
  };
  const std::vector<Case> cases = {
      {{"", "configmaps"}, true},
      {{"", "namespaces"}, true},
      {{"apps", "deployments"}, true},
      {{"rbac.authorization.k8s.io", "clusterrolebindings"}, true},
      {{"apiextensions.k8s.io", "customresourcedefinitions"}, true},
      {{"example.com", "nodes"}, true},
      {{"", "nodes"}, false},
      {{"", "events"}, false},
      {{"events.k8s.io", "events"}, false},
      {{"apps", "controllerrevisions"}, false},
      {{"coordination.k8s.io", "leases"}, false},
      {{"edge.kubestellar.io", "edgeplacements"}, false},
      {{"control.kubestellar.io", "bindingpolicies"}, false},
      {{"authorization.k8s.io", "subjectaccessreviews"}, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(GoesToEdge(c.resource), c.goes) << c.resource.resource << "." << c.resource.group;
  }
}

TEST(What, SystemObjects) {
  struct Case {
    ObjectId id;
    std::string yaml;
    bool system;
  };
  const std::string head = "apiVersion: v1\nkind: X\n";
  const std::vector<Case> cases = {
      {{{"", "configmaps"}, "a", "kube-root-ca.crt"}, "metadata: {}", true},
      {{{"", "configmaps"}, "a", "mine"}, "metadata: {}", false},
      {{{"", "serviceaccounts"}, "a", "default"}, "metadata: {}", true},
      {{{"", "serviceaccounts"}, "a", "robot"}, "metadata: {}", false},
      {{{"", "secrets"}, "a", "t"},
       "metadata: {}\ntype: kubernetes.io/service-account-token",
       true},
      {{{"", "secrets"}, "a", "t"}, "metadata: {}\ntype: Opaque", false},
      {{{"", "namespaces"}, "", "kube-system"}, "metadata: {}", true},
      {{{"", "namespaces"}, "", "shop"}, "metadata: {}", false},
      {{{"rbac.authorization.k8s.io", "clusterroles"}, "", "admin"},
       "metadata: {labels: {kubernetes.io/bootstrapping: rbac-defaults}}",
       true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(IsSystemObject(c.id, *MakeObject(head + c.yaml)), c.system) << Describe(c.id);
  }
}

TEST(What, Dependencies) {
  const auto needs = [](const ObjectId& id) { return Dependencies(id, AllBuiltinButExample); };
  EXPECT_EQ(needs({{"example.com", "widgets"}, "shop", "w"}),
            (std::vector<ObjectId>{NamespaceId("shop"), CrdId({"example.com", "widgets"})}));
  EXPECT_EQ(needs({{"", "pods"}, "shop", "p"}), (std::vector<ObjectId>{NamespaceId("shop")}));
  EXPECT_TRUE(needs({{"", "pods"}, "default", "p"}).empty());
  EXPECT_TRUE(needs(NamespaceId("shop")).empty());
  EXPECT_EQ(CrdId({"example.com", "widgets"}).name, "widgets.example.com");
}

TEST(Keys, RoundTrip) {
  for (const ObjectId& id : {ObjectId{{"", "pods"}, "ns", "p"}, ObjectId{{"a.b", "xs"}, "", "n"},
                             ObjectId{{"rbac", "roles"}, "ns", "system:x"}}) {
    EXPECT_EQ(ParseObjectId(ToWorkKey("mb", id).id), id);
  }
  EXPECT_FALSE(ParseObjectId("a/b/c"));
  EXPECT_FALSE(ParseObjectId("a//c/d"));
  EXPECT_EQ(DefinedBy("widgets.example.com"), (GroupResource{"example.com", "widgets"}));
  EXPECT_FALSE(DefinedBy("widgets"));
}

}  // namespace
}  // namespace mailroom::translator
