#include "syncer/config.h"

#include <gtest/gtest.h>

#include "storage/object/yaml.h"

namespace mailroom::syncer {
namespace {

Selection Read(const std::vector<std::string>& specs) {
  std::vector<Json> configs;
  int number = 0;
  for (const std::string& spec : specs) {
    auto config = ParseYaml("metadata: {name: c" + std::to_string(number++) + "}\nspec:\n" + spec);
    EXPECT_TRUE(config.ok()) << config.error().message();
    configs.push_back(*config);
  }
  return Selection::FromConfigs(configs);
}

const GroupResource kConfigMaps{"", "configmaps"};
const GroupResource kDeployments{"apps", "deployments"};
const GroupResource kRoles{"rbac.authorization.k8s.io", "clusterroles"};

struct Question {
  GroupResource resource;
  const char* ns;
  const char* name;
  bool wanted;
};

struct Case {
  const char* name;
  std::vector<std::string> specs;
  std::vector<Question> questions;
  std::set<std::string> ensured;
};

TEST(Selection, Wants) {
  const Case cases[] = {
      {"namespace scope is a cross product",
       {"  namespaceScope: {namespaces: [a, b], resources: "
        "[{group: '', resource: configmaps, apiVersion: v1}]}"},
       {{kConfigMaps, "a", "x", true},
        {kConfigMaps, "b", "y", true},
        {kConfigMaps, "c", "x", false},
        {kDeployments, "a", "x", false}},
       {"a", "b"}},
      {"single objects",
       {"  namespacedObjects:\n"
        "  - {group: apps, resource: deployments, apiVersion: v1, objectsByNamespace: "
        "[{namespace: a, names: [x, 'y']}, {namespace: b, names: ['*']}, {namespace: c, names: []}, "
        "{namespace: a, names: [z]}]}"},
       {{kDeployments, "a", "x", true},
        {kDeployments, "a", "z", true},
        {kDeployments, "a", "other", false},
        {kDeployments, "b", "anything", true},
        {kDeployments, "c", "x", false},
        {kDeployments, "", "x", false}},
       {"a", "b"}},
      {"cluster scope: listed, absent, empty, star",
       {"  clusterScope:\n"
        "  - {group: rbac.authorization.k8s.io, resource: clusterroles, apiVersion: v1, "
        "objects: [r]}\n"
        "  - {group: a, resource: all, apiVersion: v1}\n"
        "  - {group: b, resource: none, apiVersion: v1, objects: []}\n"
        "  - {group: c, resource: star, apiVersion: v1, objects: ['*']}"},
       {{kRoles, "", "r", true},
        {kRoles, "", "s", false},
        {{"a", "all"}, "", "any", true},
        {{"b", "none"}, "", "any", false},
        {{"c", "star"}, "", "any", true}},
       {}},
      {"configs add up",
       {"  clusterScope: [{group: '', resource: namespaces, apiVersion: v1, objects: [a]}]",
        "  clusterScope: [{group: '', resource: namespaces, apiVersion: v1, objects: [b]}]"},
       {{{"", "namespaces"}, "", "a", true},
        {{"", "namespaces"}, "", "b", true},
        {{"", "namespaces"}, "", "c", false}},
       {}},
      {"nonsense selects nothing",
       {"  namespaceScope: [1]\n  namespacedObjects: {a: b}\n  clusterScope: [7, {objects: [x]}]"},
       {{kConfigMaps, "a", "x", false}},
       {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Selection selection = Read(c.specs);
    for (const Question& q : c.questions) {
      EXPECT_EQ(selection.Wants(q.resource, q.ns, q.name), q.wanted)
          << q.resource.resource << " " << q.ns << "/" << q.name;
    }
    EXPECT_EQ(selection.ensured(), c.ensured);
    EXPECT_TRUE(selection.instructed());
  }
}

TEST(Selection, EnsuredNamespacesMakeNamespacesAResourceInUse) {
  const Selection selection =
      Read({"  namespacedObjects: [{group: '', resource: configmaps, apiVersion: v1, "
            "objectsByNamespace: [{namespace: a, names: [x]}]}]"});
  ASSERT_TRUE(selection.resources().contains({"", "namespaces"}));
  EXPECT_FALSE(selection.Wants({"", "namespaces"}, "", "a"));
  EXPECT_TRUE(selection.Ensures("a"));
  EXPECT_FALSE(selection.Ensures("b"));
}

TEST(Selection, TheFirstConfigDecidesTheVersion) {
  const Selection selection =
      Read({"  clusterScope: [{group: g, resource: r, apiVersion: v1, objects: [a]}]",
            "  clusterScope: [{group: g, resource: r, apiVersion: v2, objects: [b]}]"});
  EXPECT_EQ(selection.resources().at({"g", "r"}).version, "v1");
  EXPECT_TRUE(selection.Wants({"g", "r"}, "", "b"));
}

TEST(Selection, NoConfigIsNoInstruction) {
  EXPECT_FALSE(Selection::FromConfigs({}).instructed());
  EXPECT_TRUE(Read({"  {}"}).instructed());
  EXPECT_NE(Selection::FromConfigs({}), Read({"  {}"}));
}

}  // namespace
}  // namespace mailroom::syncer
