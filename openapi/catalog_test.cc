#include "openapi/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "openapi/builtin.h"

namespace mailroom::openapi {
namespace {

ResourceTypePtr Custom(std::string group, std::string version, std::string plural,
                       std::string kind) {
  auto type = std::make_shared<ResourceType>();
  type->gvk = {std::move(group), std::move(version), std::move(kind)};
  type->plural = std::move(plural);
  type->stored_as = type->group_resource();
  type->builtin = false;
  return type;
}

TEST(VersionLess, KubeAwareOrder) {
  std::vector<std::string> versions = {"foo1",    "v1",  "v1alpha1", "v12alpha1", "v10",    "v2",
                                       "v1beta2", "v11", "foo10",    "v1beta10",  "v3beta1"};
  std::sort(versions.begin(), versions.end(),
            [](const auto& a, const auto& b) { return VersionLess(a, b); });
  EXPECT_EQ(versions,
            (std::vector<std::string>{"v11", "v10", "v2", "v1", "v3beta1", "v1beta10", "v1beta2",
                                      "v12alpha1", "v1alpha1", "foo1", "foo10"}));
  EXPECT_FALSE(VersionLess("v1", "v1"));
}

TEST(WorkspaceTypes, TextAndBack) {
  for (const char* text : {"root", "inventory", "cluster", "wds", "mailbox"}) {
    Result<WorkspaceType> type = ParseWorkspaceType(text);
    ASSERT_TRUE(type.ok()) << text;
    EXPECT_EQ(WorkspaceTypeText(*type), text);
  }
  EXPECT_FALSE(ParseWorkspaceType("Root").ok());
  EXPECT_TRUE(PolicyIsLive(WorkspaceType::kRoot));
  EXPECT_TRUE(PolicyIsLive(WorkspaceType::kCluster));
  EXPECT_FALSE(PolicyIsLive(WorkspaceType::kWds));
  EXPECT_FALSE(PolicyIsLive(WorkspaceType::kMailbox));
}

TEST(Catalog, EveryBuiltinIsServedEverywhere) {
  for (WorkspaceType workspace :
       {WorkspaceType::kRoot, WorkspaceType::kInventory, WorkspaceType::kCluster,
        WorkspaceType::kWds, WorkspaceType::kMailbox}) {
    const CatalogPtr catalog = BaseCatalog(workspace);
    EXPECT_EQ(catalog, BaseCatalog(workspace));
    for (const ResourceTypePtr& type : BuiltinTypes()) {
      EXPECT_EQ(catalog->Find(type->gvk.group, type->gvk.version, type->plural), type.get());
      EXPECT_EQ(catalog->FindKind(type->gvk), type.get());
    }
    EXPECT_EQ(catalog->Find("", "v1", "nothings"), nullptr);
    EXPECT_EQ(catalog->Find("", "v2", "pods"), nullptr);
    EXPECT_EQ(catalog->FindKind({"", "v1", "Deployment"}), nullptr);
  }
}

TEST(Catalog, DiscoveryOrder) {
  std::vector<std::string> groups;
  for (const Group& group : BaseCatalog(WorkspaceType::kCluster)->groups()) {
    groups.push_back(group.name);
    for (const GroupVersion& version : group.versions) {
      EXPECT_TRUE(
          std::is_sorted(version.resources.begin(), version.resources.end(),
                         [](const auto& a, const auto& b) { return a->plural < b->plural; }));
    }
    if (group.name == "autoscaling") {
      ASSERT_EQ(group.versions.size(), 2U);
      EXPECT_EQ(group.versions[0].version, "v2");
    }
  }
  EXPECT_EQ(groups, (std::vector<std::string>{"apiregistration.k8s.io",
                                              "",
                                              "apps",
                                              "events.k8s.io",
                                              "authentication.k8s.io",
                                              "authorization.k8s.io",
                                              "autoscaling",
                                              "batch",
                                              "certificates.k8s.io",
                                              "networking.k8s.io",
                                              "policy",
                                              "rbac.authorization.k8s.io",
                                              "storage.k8s.io",
                                              "admissionregistration.k8s.io",
                                              "apiextensions.k8s.io",
                                              "scheduling.k8s.io",
                                              "coordination.k8s.io",
                                              "node.k8s.io",
                                              "discovery.k8s.io",
                                              "resource.k8s.io",
                                              "flowcontrol.apiserver.k8s.io"}));
}

TEST(Catalog, ExtendAddsAndNeverReplaces) {
  const CatalogPtr base = BaseCatalog(WorkspaceType::kCluster);
  const auto widgets1 = Custom("example.com", "v1", "widgets", "Widget");
  const auto widgets2 = Custom("example.com", "v2beta1", "widgets", "Widget");
  const auto pods = Custom("", "v1", "pods", "Pod");
  const CatalogPtr catalog = base->Changed({}, {widgets2, widgets1, pods});
  EXPECT_EQ(catalog->FindShared("example.com", "v1", "widgets"), widgets1);
  EXPECT_EQ(catalog->FindKind({"example.com", "v2beta1", "Widget"}), widgets2.get());
  EXPECT_EQ(catalog->Find("", "v1", "pods"), base->Find("", "v1", "pods"));
  EXPECT_EQ(catalog->groups().back().name, "example.com");
  EXPECT_EQ(catalog->groups().back().versions.front().version, "v1");
  EXPECT_EQ(base->Find("example.com", "v1", "widgets"), nullptr);
  // Order does not matter for sharing.
  EXPECT_EQ(base->Changed({}, {pods, widgets1, widgets2}), catalog);
  EXPECT_NE(base->Changed({}, {widgets1}), catalog);
}

TEST(Catalog, PreferredListsWhatIsStoredOnce) {
  const CatalogPtr base = BaseCatalog(WorkspaceType::kCluster);
  const CatalogPtr catalog =
      base->Changed({}, {Custom("example.com", "v1alpha1", "widgets", "Widget"),
                              Custom("example.com", "v1", "widgets", "Widget")});
  int events = 0, widgets = 0, autoscalers = 0;
  for (const ResourceTypePtr& type : catalog->Preferred()) {
    if (type->plural == "events") ++events;
    if (type->plural == "widgets") {
      ++widgets;
      EXPECT_EQ(type->gvk.version, "v1");
    }
    if (type->plural == "horizontalpodautoscalers") {
      ++autoscalers;
      EXPECT_EQ(type->gvk.version, "v2");
    }
  }
  EXPECT_EQ(events, 1);
  EXPECT_EQ(widgets, 1);
  EXPECT_EQ(autoscalers, 1);
}

}  // namespace
}  // namespace mailroom::openapi
