#include "translator/plan.h"

#include <gtest/gtest.h>

#include "translator/binding.h"
#include "translator/syncer_config.h"
#include "translator/test_objects.h"

namespace mailroom::translator {
namespace {

const GroupResource kWidgets{"example.com", "widgets"};
const GroupResource kConfigMaps{"", "configmaps"};
const ObjectId kWidget{kWidgets, "shop", "demo"};
const ObjectId kConfigMap{kConfigMaps, "shop", "page"};
const ObjectId kShop = NamespaceId("shop");
const ObjectId kCrd = CrdId(kWidgets);

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    plan.SetListed();
    AddWds("wds1");
    plan.SetWorkspace("its1", Plan::Role::kInventory);
    for (const std::string name : {"florin", "guilder"}) {
      plan.SetWorkspace(Mailbox(name), Plan::Role::kMailbox);
      SetCluster(name, "{name: " + name + ", kind: edge}");
    }
  }

  static std::string Mailbox(const std::string& cluster) { return "its1-mb-" + cluster; }

  void AddWds(const std::string& wds) {
    plan.SetWorkspace(wds, Plan::Role::kWds);
    for (const auto& [resource, version] : std::map<GroupResource, std::string>{
             {kWidgets, "v1"}, {kConfigMaps, "v1"}, {kNamespaces, "v1"}, {kCrds, "v1"}}) {
      plan.SetResource(wds, {.resource = resource,
                             .version = version,
                             .has_status = resource == kWidgets,
                             .namespaced = true});
    }
    plan.SetReady(wds, true);
  }

  Changes SetCluster(const std::string& name, const std::string& labels) {
    const ObjectPtr object =
        MakeObject("{apiVersion: e/v1, kind: SyncTarget, metadata: {name: " + name +
                   ", uid: " + name + ", labels: " + labels + "}}");
    return plan.SetEntry(Mailbox(name), InventoryEntry{.kind = InventoryEntry::Kind::kSyncTarget,
                                                       .workspace = "its1",
                                                       .mailbox = Mailbox(name),
                                                       .object = object});
  }

  Changes Put(const std::string& wds, const ObjectId& id, const std::string& labels = "{}",
              const std::string& created = "2030-01-01T00:00:00Z") {
    return plan.SetObject(
        {wds, id}, MakeObject("{apiVersion: v1, kind: X, metadata: {name: \"" + id.name +
                                  "\", labels: " + labels + ", creationTimestamp: \"" + created +
                                  "\"}, data: {from: " + wds + "}}",
                              ++revision));
  }

  // The usual contents of a WDS.
  void Fill(const std::string& wds, const std::string& created = "2030-01-01T00:00:00Z") {
    Put(wds, kShop, "{env: prod}", created);
    Put(wds, kCrd, "{}", created);
    Put(wds, kWidget, "{app: demo}", created);
    Put(wds, kConfigMap, "{app: page}", created);
  }

  Changes Policy(const std::string& wds, const std::string& name, const std::string& spec) {
    return plan.SetPlacement({wds, PlacementKind::kBindingPolicy, name},
                             ParseBindingPolicy(Yaml("spec: " + spec)));
  }

  // The objects wanted in a mailbox, as `id<-wds`.
  std::set<std::string> Wanted(const std::string& cluster) {
    std::set<std::string> out;
    for (const ObjectId& id : {kShop, kCrd, kWidget, kConfigMap}) {
      const Verdict verdict = plan.Judge(Mailbox(cluster), id);
      if (verdict.source != nullptr) out.insert(id.resource.resource + "<-" + verdict.wds);
    }
    return out;
  }

  std::uint64_t revision = 0;
  Plan plan{AllBuiltinButExample};
};

const std::set<std::string> kNothing;
const std::set<std::string> kWidgetAndNeeds = {"namespaces<-wds1",
                                               "customresourcedefinitions<-wds1", "widgets<-wds1"};
const std::string kWidgetsToFlorin =
    "{clusterSelectors: [{matchLabels: {name: florin}}], downsync: [{resources: [widgets]}]}";

TEST_F(PlanTest, ImpliedObjectsFollow) {
  Fill("wds1");
  EXPECT_EQ(Wanted("florin"), kNothing);
  Policy("wds1", "p", kWidgetsToFlorin);
  EXPECT_EQ(Wanted("florin"), kWidgetAndNeeds);
  EXPECT_EQ(Wanted("guilder"), kNothing);
}

TEST_F(PlanTest, OrderOfArrivalDoesNotMatter) {
  Policy("wds1", "p", kWidgetsToFlorin);
  Put("wds1", kWidget);
  EXPECT_EQ(Wanted("florin"), std::set<std::string>{"widgets<-wds1"});
  Put("wds1", kCrd);
  Put("wds1", kShop);
  EXPECT_EQ(Wanted("florin"), kWidgetAndNeeds);
}

// An object that only looks like an entry would be sent what is meant for a cluster.
TEST_F(PlanTest, EntriesCountInInventoriesOnly) {
  Fill("wds1");
  Policy("wds1", "p", kWidgetsToFlorin);
  auto set = [&](const std::string& workspace) {
    const ObjectPtr object = MakeObject("{apiVersion: e/v1, kind: SyncTarget, metadata: {name: x, uid: x, "
                                        "labels: {name: florin}}}");
    return plan.SetEntry(workspace + "-mb-x", InventoryEntry{.kind = InventoryEntry::Kind::kSyncTarget,
                                                             .workspace = workspace,
                                                             .mailbox = workspace + "-mb-x",
                                                             .object = object});
  };
  auto wanted = [&](const std::string& mailbox) {
    return plan.Judge(mailbox, kWidget).source != nullptr && plan.Serves(mailbox);
  };
  for (const std::string workspace : {"tenant", "its2"}) {
    plan.SetWorkspace(workspace + "-mb-x", Plan::Role::kMailbox);
    EXPECT_TRUE(set(workspace).copies.empty()) << workspace;
    EXPECT_FALSE(wanted(workspace + "-mb-x")) << workspace;
  }
  // What comes first does not matter.
  EXPECT_TRUE(plan.SetWorkspace("tenant", Plan::Role::kWds).copies.empty());
  EXPECT_FALSE(plan.SetWorkspace("its2", Plan::Role::kInventory).copies.empty());
  EXPECT_FALSE(wanted("tenant-mb-x"));
  EXPECT_TRUE(wanted("its2-mb-x"));
  EXPECT_FALSE(plan.SetWorkspace("its2", std::nullopt).copies.empty());
  EXPECT_FALSE(wanted("its2-mb-x"));
  plan.SetEntry("its2-mb-x", std::nullopt);
  EXPECT_TRUE(plan.SetWorkspace("its2", Plan::Role::kInventory).copies.empty());
  EXPECT_EQ(Wanted("florin"), kWidgetAndNeeds);
}

TEST_F(PlanTest, EverythingGoesWithItsReason) {
  Fill("wds1");
  struct Case {
    std::string name;
    std::function<void()> undo;
  };
  const std::vector<Case> cases = {
      {"policy deleted",
       [&] {
         plan.SetPlacement({"wds1", PlacementKind::kBindingPolicy, "p"}, std::nullopt);
       }},
      {"cluster relabelled", [&] { SetCluster("florin", "{name: other}"); }},
      {"object deleted",
       [&] {
         plan.SetObject({"wds1", kWidget}, nullptr);
       }},
      {"object being deleted",
       [&] {
         plan.SetObject({"wds1", kWidget},
                        MakeObject("{apiVersion: v1, kind: X, metadata: {name: demo, "
                                   "deletionTimestamp: \"2030-01-01T00:00:00Z\"}}"));
       }},
      {"policy edited",
       [&] { Policy("wds1", "p", "{clusterSelectors: [{}], downsync: [{resources: [pods]}]}"); }},
      {"resource no longer served", [&] { plan.DropResource("wds1", kWidgets); }},
  };
  for (const Case& c : cases) {
    SetCluster("florin", "{name: florin}");
    Put("wds1", kWidget);
    Policy("wds1", "p", kWidgetsToFlorin);
    ASSERT_EQ(Wanted("florin"), kWidgetAndNeeds) << c.name;
    c.undo();
    EXPECT_EQ(Wanted("florin"), kNothing) << c.name;
  }
}

TEST_F(PlanTest, OverlappingPoliciesAreAUnion) {
  Fill("wds1");
  Policy("wds1", "p", kWidgetsToFlorin);
  Policy("wds1", "q",
         "{clusterSelectors: [{}], downsync: [{namespaces: [shop], createOnly: true}]}");
  EXPECT_TRUE(plan.Judge(Mailbox("florin"), kWidget).create_only);
  plan.SetPlacement({"wds1", PlacementKind::kBindingPolicy, "q"}, std::nullopt);
  EXPECT_EQ(Wanted("florin"), kWidgetAndNeeds);
  EXPECT_EQ(Wanted("guilder"), kNothing);
  EXPECT_FALSE(plan.Judge(Mailbox("florin"), kWidget).create_only);
}

TEST_F(PlanTest, NamespaceLabelsAreTestedAgain) {
  Fill("wds1");
  Policy("wds1", "p",
         "{clusterSelectors: [{}], downsync: [{namespaceSelectors: [{matchLabels: {env: dev}}], "
         "resources: [configmaps]}]}");
  EXPECT_EQ(Wanted("florin"), kNothing);
  const Changes changes = Put("wds1", kShop, "{env: dev}");
  EXPECT_EQ(Wanted("florin"), (std::set<std::string>{"namespaces<-wds1", "configmaps<-wds1"}));
  EXPECT_NE(std::find(changes.copies.begin(), changes.copies.end(),
                      std::pair(Mailbox("florin"), kConfigMap)),
            changes.copies.end());
  Put("wds1", kShop, "{env: prod}");
  EXPECT_EQ(Wanted("florin"), kNothing);
}

TEST_F(PlanTest, OlderSourceWinsAndTheLoserIsTold) {
  AddWds("wds0");
  Fill("wds1", "2030-01-01T00:00:00Z");
  Fill("wds0", "2030-01-01T00:00:09Z");
  const std::string spec = "{clusterSelectors: [{}], downsync: [{resources: [configmaps]}]}";
  Policy("wds0", "late", spec);
  EXPECT_EQ(plan.Judge(Mailbox("florin"), kConfigMap).wds, "wds0");
  const Changes changes = Policy("wds1", "early", spec);
  EXPECT_EQ(plan.Judge(Mailbox("florin"), kConfigMap).wds, "wds1");
  const PlacementKey loser{"wds0", PlacementKind::kBindingPolicy, "late"};
  EXPECT_TRUE(changes.placements.contains(loser));
  const PlacementView view = plan.ViewOf(loser);
  ASSERT_EQ(view.lost.size(), 2U);  // the object and its Namespace
  const std::vector<std::string> errors = RenderErrors(view);
  EXPECT_EQ(errors.size(), 2U);
  EXPECT_NE(errors[0].find("configmaps/shop/page is taken from workspace wds1"), std::string::npos);
  EXPECT_TRUE(plan.ViewOf({"wds1", PlacementKind::kBindingPolicy, "early"}).lost.empty());

  // Equal age: the first name wins.
  Put("wds1", kConfigMap, "{}", "2030-01-01T00:00:09Z");
  EXPECT_EQ(plan.Judge(Mailbox("florin"), kConfigMap).wds, "wds0");
  // The winner leaves: the other one takes over.
  plan.SetObject({"wds0", kConfigMap}, nullptr);
  EXPECT_EQ(plan.Judge(Mailbox("florin"), kConfigMap).wds, "wds1");
}

TEST_F(PlanTest, NeverShipsDefinitionsOfBuiltinsOrSystemObjects) {
  const ObjectId builtin_crd{kCrds, "", "deployments.apps"};
  const ObjectId root_ca{kConfigMaps, "shop", "kube-root-ca.crt"};
  Fill("wds1");
  Put("wds1", builtin_crd);
  Put("wds1", root_ca);
  Policy("wds1", "all", "{clusterSelectors: [{}], downsync: [{resources: [\"*\"]}]}");
  EXPECT_EQ(plan.Judge(Mailbox("florin"), builtin_crd).source, nullptr);
  EXPECT_EQ(plan.Judge(Mailbox("florin"), root_ca).source, nullptr);
  EXPECT_NE(plan.Judge(Mailbox("florin"), kConfigMap).source, nullptr);
}

TEST_F(PlanTest, JudgesOnlyWhenComplete) {
  EXPECT_TRUE(plan.Complete());
  plan.SetWorkspace("wds2", Plan::Role::kWds);
  EXPECT_FALSE(plan.Complete());
  EXPECT_FALSE(plan.MayRemove("wds1"));
  plan.SetReady("wds2", true);
  EXPECT_TRUE(plan.MayRemove("wds1"));
  Policy("wds1", "bad", "{clusterSelectors: [{}], downsync: [{createOnly: true}]}");
  EXPECT_FALSE(plan.MayRemove("wds1"));
  EXPECT_TRUE(plan.MayRemove("wds2"));
  plan.SetReady("wds2", false);
  plan.SetWorkspace("wds2", std::nullopt);
  EXPECT_TRUE(plan.Complete());
}

TEST_F(PlanTest, StatusOnlyChangesOfAPolicyMoveNothing) {
  Fill("wds1");
  Policy("wds1", "p", kWidgetsToFlorin);
  const Changes changes = Policy("wds1", "p", kWidgetsToFlorin);
  EXPECT_TRUE(changes.copies.empty());
  EXPECT_TRUE(changes.configs.empty());
}

TEST_F(PlanTest, HeartbeatsOfAClusterMoveNothing) {
  Fill("wds1");
  Policy("wds1", "p", kWidgetsToFlorin);
  const Changes changes = SetCluster("florin", "{name: florin, kind: edge}");
  EXPECT_TRUE(changes.copies.empty());
  EXPECT_TRUE(changes.configs.empty());
}

TEST_F(PlanTest, ReturningMailboxIsRefilled) {
  Fill("wds1");
  Policy("wds1", "p", kWidgetsToFlorin);
  plan.SetWorkspace(Mailbox("florin"), std::nullopt);
  EXPECT_FALSE(plan.Judge(Mailbox("florin"), kWidget).serving);
  const Changes changes = plan.SetWorkspace(Mailbox("florin"), Plan::Role::kMailbox);
  EXPECT_EQ(changes.copies.size(), 3U);
  EXPECT_TRUE(changes.configs.contains(Mailbox("florin")));
}

TEST_F(PlanTest, ClusterGoneIsNotAWishToEmptyItsMailbox) {
  Fill("wds1");
  Policy("wds1", "p", kWidgetsToFlorin);
  plan.SetEntry(Mailbox("florin"), std::nullopt);
  const Verdict verdict = plan.Judge(Mailbox("florin"), kWidget);
  EXPECT_EQ(verdict.source, nullptr);
  EXPECT_FALSE(verdict.in_inventory);
  EXPECT_FALSE(plan.Serves(Mailbox("florin")));
}

TEST_F(PlanTest, SingletonNeedsExactlyOneDestination) {
  Fill("wds1");
  const std::string clause =
      "downsync: [{resources: [widgets], wantSingletonReportedState: true}]}";
  Policy("wds1", "p", "{clusterSelectors: [{matchLabels: {name: florin}}], " + clause);
  ReportView view = plan.ReportOf({"wds1", kWidget});
  EXPECT_TRUE(view.wanted);
  EXPECT_TRUE(view.has_status);
  EXPECT_EQ(view.mailbox, Mailbox("florin"));
  // A policy that does not ask for it does not count.
  Policy("wds1", "q", "{clusterSelectors: [{}], downsync: [{resources: [widgets]}]}");
  EXPECT_EQ(plan.ReportOf({"wds1", kWidget}).mailbox, Mailbox("florin"));
  const Changes changes = Policy("wds1", "p", "{clusterSelectors: [{}], " + clause);
  EXPECT_TRUE(changes.reports.contains({"wds1", kWidget}));
  EXPECT_EQ(plan.ReportOf({"wds1", kWidget}).mailbox, "");
  const PlacementView placement = plan.ViewOf({"wds1", PlacementKind::kBindingPolicy, "p"});
  ASSERT_EQ(placement.errors.size(), 1U);
  EXPECT_NE(placement.errors[0].find("widgets.example.com/shop/demo (2)"), std::string::npos);
}

TEST_F(PlanTest, DependentsAreThoseThatWait) {
  Fill("wds1");
  Policy("wds1", "p", "{clusterSelectors: [{}], downsync: [{namespaces: [shop]}]}");
  EXPECT_EQ(plan.Dependents(Mailbox("florin"), kShop),
            (std::vector<ObjectId>{kConfigMap, kWidget}));
  EXPECT_EQ(plan.Dependents(Mailbox("florin"), kCrd), (std::vector<ObjectId>{kWidget}));
}

TEST_F(PlanTest, FailuresShowOnThePolicyUntilCured) {
  Fill("wds1");
  Policy("wds1", "p", kWidgetsToFlorin);
  const PlacementKey key{"wds1", PlacementKind::kBindingPolicy, "p"};
  EXPECT_TRUE(plan.SetFailure(Mailbox("florin"), kWidget, "no room").placements.contains(key));
  EXPECT_TRUE(plan.SetFailure(Mailbox("florin"), kWidget, "no room").placements.empty());
  ASSERT_EQ(plan.ViewOf(key).errors.size(), 1U);
  EXPECT_TRUE(plan.SetFailure(Mailbox("florin"), kWidget, "").placements.contains(key));
  EXPECT_TRUE(plan.ViewOf(key).errors.empty());
}

TEST_F(PlanTest, SyncerConfig) {
  Fill("wds1");
  Put("wds1", {kConfigMaps, "shop", "another"});
  Put("wds1", NamespaceId("annex"));
  Put("wds1", {kConfigMaps, "annex", "page"});
  EXPECT_EQ(RenderSyncerConfigSpec(plan.ConfigOf(Mailbox("florin"))),
            Yaml("{namespaceScope: {}, namespacedObjects: [], clusterScope: [], upsync: []}"));
  Policy("wds1", "p", "{clusterSelectors: [{}], downsync: [{namespaces: [shop, annex]}]}");
  EXPECT_EQ(RenderSyncerConfigSpec(plan.ConfigOf(Mailbox("florin"))), Yaml(R"(
namespaceScope: {}
namespacedObjects:
- group: ""
  resource: configmaps
  apiVersion: v1
  objectsByNamespace:
  - {namespace: annex, names: [page]}
  - {namespace: shop, names: [another, page]}
- {group: example.com, resource: widgets, apiVersion: v1, objectsByNamespace: [{namespace: shop, names: [demo]}]}
clusterScope:
- {group: "", resource: namespaces, apiVersion: v1, objects: [annex, shop]}
- {group: apiextensions.k8s.io, resource: customresourcedefinitions, apiVersion: v1, objects: [widgets.example.com]}
upsync: []
)"));
}

TEST(SyncerConfig, UnionKeepsWhatIsNotListedYet) {
  const ObjectId other{kConfigMaps, "annex", "page"};
  const std::vector<ConfigItem> present = {{kConfigMap, "v1"}, {other, "v1"}, {kShop, "v1"}};
  EXPECT_EQ(ParseSyncerConfigSpec(RenderSyncerConfigSpec(Union({}, present))),
            (std::vector<ConfigItem>{{other, "v1"}, {kConfigMap, "v1"}, {kShop, "v1"}}));
  EXPECT_EQ(
      Union({{kConfigMap, "v2"}, {kWidget, "v1"}}, present),
      (std::vector<ConfigItem>{{other, "v1"}, {kConfigMap, "v2"}, {kShop, "v1"}, {kWidget, "v1"}}));
}

TEST_F(PlanTest, Binding) {
  Fill("wds1");
  Policy("wds1", "p",
         "{clusterSelectors: [{}], downsync: [{resources: [configmaps], createOnly: true}]}");
  const PlacementView view = plan.ViewOf({"wds1", PlacementKind::kBindingPolicy, "p"});
  EXPECT_EQ(RenderBindingSpec(view), Yaml(R"(
workload:
  clusterScope:
  - {group: "", version: v1, resource: namespaces, name: shop, resourceVersion: "1"}
  namespaceScope:
  - {group: "", version: v1, resource: configmaps, namespace: shop, name: page, resourceVersion: "4", createOnly: true}
destinations: [{clusterId: florin}, {clusterId: guilder}]
)"));
  Json policy = Yaml("metadata: {generation: 3}");
  EXPECT_TRUE(BringStatus(view, {}, "t1", policy));
  EXPECT_FALSE(BringStatus(view, {}, "t2", policy));
  EXPECT_TRUE(BringStatus(view, {"trouble"}, "t3", policy));
  EXPECT_EQ(policy, Yaml(R"(
metadata: {generation: 3}
status:
  observedGeneration: 3
  errors: [trouble]
  conditions:
  - {type: Ready, status: "True", reason: Available, message: 2 objects to 2 clusters, lastTransitionTime: t1}
  - {type: Synced, status: "False", reason: ReconcileError, message: trouble, lastTransitionTime: t3}
)"));
}

TEST(Discover, TakesListableResourcesOnce) {
  std::vector<ResourceFacts> out;
  AddResources("apps", "v1", Yaml(R"(
resources:
- {name: deployments, namespaced: true, verbs: [get, list, watch]}
- {name: deployments/status, namespaced: true, verbs: [get]}
- {name: reviews, namespaced: false, verbs: [create]}
)"),
               out);
  AddResources("apps", "v1beta1", Yaml(R"(
resources:
- {name: deployments, namespaced: true, verbs: [get, list, watch]}
- {name: things, namespaced: false, verbs: [list, watch]}
)"),
               out);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].gvr(), (client::Gvr{"apps/v1", "deployments"}));
  EXPECT_TRUE(out[0].has_status);
  EXPECT_TRUE(out[0].namespaced);
  EXPECT_EQ(out[1].gvr(), (client::Gvr{"apps/v1beta1", "things"}));
  EXPECT_FALSE(out[1].has_status);
}

}  // namespace
}  // namespace mailroom::translator
