#include "openapi/edge_types.h"

#include <gtest/gtest.h>

#include <set>

#include "openapi/builtin_files.h"
#include "openapi/crd.h"
#include "openapi/normalize.h"
#include "openapi/validate.h"
#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"

namespace mailroom::openapi {
namespace {

std::set<std::string> KindsOf(WorkspaceType type) {
  std::set<std::string> kinds;
  for (const ResourceTypePtr& each : EdgeTypes(type)) {
    kinds.insert(each->gvk.ApiVersion() + " " + each->gvk.kind);
  }
  return kinds;
}

const ResourceType& Served(WorkspaceType workspace, std::string_view kind) {
  for (const ResourceTypePtr& type : EdgeTypes(workspace)) {
    if (type->gvk.kind == kind) return *type;
  }
  ADD_FAILURE() << kind;
  static const ResourceType none;
  return none;
}

Json Parse(std::string_view text) {
  Result<Json> value = ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Json();
}

TEST(EdgeTypes, EachWorkspaceTypeServesItsKinds) {
  using Kinds = std::set<std::string>;
  EXPECT_EQ(KindsOf(WorkspaceType::kRoot), (Kinds{"mailbox.kubestellar.io/v1alpha1 Mailbox",
                                                  "mailbox.kubestellar.io/v1alpha1 Workspace",
                                                  "mailbox.kubestellar.io/v1alpha1 WorkspaceAccess"}));
  EXPECT_EQ(
      KindsOf(WorkspaceType::kInventory),
      (Kinds{"cluster.open-cluster-management.io/v1 ManagedCluster",
             "edge.kubestellar.io/v2alpha1 Location", "edge.kubestellar.io/v2alpha1 SyncTarget"}));
  EXPECT_EQ(KindsOf(WorkspaceType::kWds),
            (Kinds{"control.kubestellar.io/v1alpha1 Binding",
                   "control.kubestellar.io/v1alpha1 BindingPolicy",
                   "control.kubestellar.io/v1alpha1 CombinedStatus",
                   "control.kubestellar.io/v1alpha1 CustomTransform",
                   "control.kubestellar.io/v1alpha1 StatusCollector",
                   "edge.kubestellar.io/v2alpha1 Customizer",
                   "edge.kubestellar.io/v2alpha1 EdgePlacement",
                   "edge.kubestellar.io/v2alpha1 SinglePlacementSlice"}));
  EXPECT_EQ(KindsOf(WorkspaceType::kMailbox), (Kinds{"edge.kubestellar.io/v2alpha1 EdgeSyncConfig",
                                                     "edge.kubestellar.io/v2alpha1 SyncerConfig"}));
  EXPECT_TRUE(EdgeTypes(WorkspaceType::kCluster).empty());
}

TEST(EdgeTypes, CatalogsServeThem) {
  const CatalogPtr wds = BaseCatalog(WorkspaceType::kWds);
  const ResourceType* policy = wds->Find("control.kubestellar.io", "v1alpha1", "bindingpolicies");
  ASSERT_NE(policy, nullptr);
  EXPECT_FALSE(policy->builtin);
  EXPECT_TRUE(policy->has_status);
  EXPECT_TRUE(policy->tracks_generation);
  EXPECT_FALSE(policy->namespaced);
  EXPECT_EQ(policy->short_names, (std::vector<std::string>{"bp"}));
  EXPECT_NE(wds->Find("", "v1", "configmaps"), nullptr);
  EXPECT_EQ(BaseCatalog(WorkspaceType::kCluster)
                ->Find("control.kubestellar.io", "v1alpha1", "bindingpolicies"),
            nullptr);
  EXPECT_EQ(wds->groups().back().priority, 1000);
}

TEST(EdgeTypes, Scopes) {
  for (WorkspaceType workspace : {WorkspaceType::kRoot, WorkspaceType::kInventory,
                                  WorkspaceType::kWds, WorkspaceType::kMailbox}) {
    for (const ResourceTypePtr& type : EdgeTypes(workspace)) {
      const bool namespaced = type->gvk.kind == "Customizer" || type->gvk.kind == "CombinedStatus";
      EXPECT_EQ(type->namespaced, namespaced) << type->plural;
      ASSERT_NE(type->schema, nullptr) << type->plural;
    }
  }
  // A plain update may change the status of these.
  EXPECT_FALSE(Served(WorkspaceType::kWds, "EdgePlacement").has_status);
  // The original has none here either; but whoever reports does not instruct.
  EXPECT_TRUE(Served(WorkspaceType::kMailbox, "SyncerConfig").has_status);
  EXPECT_TRUE(Served(WorkspaceType::kInventory, "SyncTarget").has_status);
}

TEST(EdgeTypes, DefinitionsAreValid) {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!file.name.starts_with("edge/")) continue;
    Json crd = Parse(file.text);
    DefaultCrd(crd);
    for (const Cause& cause : ValidateCrd(crd, nullptr)) {
      ADD_FAILURE() << file.name << ": " << cause.field << ": " << cause.message;
    }
  }
}

TEST(EdgeTypes, Defaults) {
  Json workspace = Parse("{metadata: {name: a}}");
  ApplyDefaults(Served(WorkspaceType::kRoot, "Workspace"), workspace);
  EXPECT_EQ(StringAt(workspace, {"spec", "type"}), "cluster");
  Json target = Parse("{metadata: {name: a}}");
  ApplyDefaults(Served(WorkspaceType::kInventory, "SyncTarget"), target);
  EXPECT_EQ(DumpJson(target["spec"]),
            R"({"supportedAPIExports":[{"export":"kubernetes"}],"unschedulable":false})");
}

struct ValidityCase {
  WorkspaceType workspace;
  const char* kind;
  const char* object;
  bool valid;
};

TEST(EdgeTypes, Validation) {
  const ValidityCase cases[] = {
      {WorkspaceType::kRoot, "Workspace", "{spec: {type: wds}}", true},
      {WorkspaceType::kRoot, "Workspace", "{spec: {type: other}}", false},
      {WorkspaceType::kWds, "BindingPolicy",
       "{spec: {clusterSelectors: [{matchLabels: {a: b}}], downsync: [{resources: "
       "[configmaps, widgets.example.com]}]}}",
       true},
      {WorkspaceType::kWds, "BindingPolicy", "{spec: {downsync: [{apiGroup: ''}]}}", true},
      {WorkspaceType::kWds, "BindingPolicy", "{spec: {downsync: [{createOnly: true}]}}", false},
      {WorkspaceType::kWds, "BindingPolicy",
       "{spec: {clusterSelectors: [{matchExpressions: [{key: a, operator: Near}]}]}}", false},
      {WorkspaceType::kWds, "EdgePlacement",
       "{spec: {locationSelectors: [{}], upsync: [{apiGroup: g, resources: [a]}]}}", true},
      {WorkspaceType::kWds, "EdgePlacement", "{spec: {upsync: [{apiGroup: g}]}}", false},
      {WorkspaceType::kWds, "SinglePlacementSlice", "{}", false},
      {WorkspaceType::kWds, "StatusCollector", "{spec: {combinedFields: [{name: 'n', type: COUNT}]}}",
       true},
      {WorkspaceType::kWds, "StatusCollector",
       "{spec: {combinedFields: [{name: 'n', type: MEDIAN}]}}", false},
      {WorkspaceType::kInventory, "Location",
       "{spec: {resource: {group: edge.kubestellar.io, version: v2alpha1, resource: "
       "synctargets}, instanceSelector: {matchLabels: {id: a}}}}",
       true},
      {WorkspaceType::kInventory, "Location",
       "{spec: {resource: {group: g, version: v2alpha1, resource: synctargets}}}", false},
      {WorkspaceType::kMailbox, "SyncerConfig",
       "{spec: {namespaceScope: {}, namespacedObjects: [{group: '', resource: configmaps, "
       "apiVersion: v1, objectsByNamespace: [{namespace: a, names: [b]}]}], clusterScope: "
       "[{group: '', resource: namespaces, apiVersion: v1, objects: [a]}]}}",
       true},
      {WorkspaceType::kMailbox, "SyncerConfig",
       "{spec: {namespacedObjects: [{resource: a, apiVersion: v1, objectsByNamespace: "
       "[{names: [b]}]}]}}",
       false},
  };
  for (const ValidityCase& c : cases) {
    const ResourceType& type = Served(c.workspace, c.kind);
    Json object = Parse(c.object);
    object["apiVersion"] = type.gvk.ApiVersion();
    object["kind"] = c.kind;
    Set(object, {"metadata", "name"}, "a");
    ApplyDefaults(type, object);
    EXPECT_TRUE(PruneUnknown(type, object).empty()) << c.object;
    const std::vector<Cause> causes = ValidateObject(type, object, nullptr);
    EXPECT_EQ(causes.empty(), c.valid)
        << c.kind << " " << c.object << (causes.empty() ? "" : ": " + causes[0].field);
  }
}

TEST(EdgeTypes, Columns) {
  const ResourceType& mailbox = Served(WorkspaceType::kRoot, "Mailbox");
  const Json object = Parse(
      "{metadata: {name: m}, spec: {syncTargetName: t}, status: {phase: Ready, url: u, "
      "conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'False'}]}}");
  Json row = Json::object();
  for (const Column& column : mailbox.columns) {
    row[column.name + (column.priority > 0 ? "*" : "")] = column.cell(object);
  }
  EXPECT_EQ(row["SyncTarget"], "t");
  EXPECT_EQ(row["Phase"], "Ready");
  EXPECT_EQ(row["Synced"], "False");
  EXPECT_EQ(row["URL*"], "u");
  EXPECT_TRUE(row.contains("Heartbeat"));
}

// What `kubectl get` shows of the fleet, and the short names people type.
TEST(EdgeTypes, ColumnsAndShortNamesOfTheFleet) {
  struct Case {
    WorkspaceType workspace;
    const char* kind;
    std::vector<std::string> short_names;
    std::string columns;  // in order; with a star: in wide tables only
    const char* object;
    std::string row;
  };
  const Case cases[] = {
      {WorkspaceType::kInventory, "SyncTarget", {},
       "Name,Location,Ready,Synced API resources*,Key*,Age",
       "{metadata: {name: a, labels: {edge.kubestellar.io/key: k}}, status: {conditions: "
       "[{type: Ready, status: 'True'}], syncedResources: [{resource: pods}]}}",
       R"("a","a","True","[{\"resource\":\"pods\"}]","k",null)"},
      {WorkspaceType::kInventory, "Location", {}, "Name,Resource,Available,Instances,Labels,Age",
       "{metadata: {name: a, annotations: {edge.kubestellar.io/labels: l}}, "
       "spec: {resource: {resource: synctargets}}, status: {availableInstances: 1, instances: 2}}",
       R"("a","synctargets","1","2","l",null)"},
      {WorkspaceType::kInventory, "ManagedCluster", {"mcl"},
       "Name,Hub Accepted,Managed Cluster URLs,Joined,Available,Age",
       "{metadata: {name: a}, spec: {hubAcceptsClient: true, managedClusterClientConfigs: "
       "[{url: u}]}, status: {conditions: [{type: ManagedClusterJoined, status: 'True'}, "
       "{type: ManagedClusterConditionAvailable, status: Unknown}]}}",
       R"("a",true,"u","True","Unknown",null)"},
      {WorkspaceType::kRoot, "Mailbox", {"mbx"},
       "Name,SyncTarget,Phase,Connected,Synced,Wanted,Objects,Heartbeat,Age,Inventory*,Syncer*,WEC*,"
       "Trouble*,URL*",
       "{metadata: {name: a}, spec: {syncTargetName: t, inventory: i}, status: {phase: Ready, url: u,"
       " wantedCount: 5, objectCount: 4, syncerVersion: s, wecVersion: w, conditions: "
       "[{type: SyncerConnected, status: 'True'}, {type: Synced, status: 'False', message: m}]}}",
       R"("a","t","Ready","True","False",5,4,null,null,"i","s","w","m","u")"},
      {WorkspaceType::kRoot, "Workspace", {"ws"}, "Name,Type,Phase,URL,Age",
       "{metadata: {name: a}, spec: {type: wds}, status: {phase: Terminating, url: u}}",
       R"("a","wds","Terminating","u",null)"},
  };
  for (const Case& c : cases) {
    const ResourceType& type = Served(c.workspace, c.kind);
    EXPECT_EQ(type.short_names, c.short_names) << c.kind;
    const Json object = Parse(c.object);
    std::string columns, row;
    for (const Column& column : type.columns) {
      const char* comma = columns.empty() ? "" : ",";
      columns += comma + column.name + (column.priority > 0 ? "*" : "");
      row += comma + DumpJson(column.cell(object));
    }
    EXPECT_EQ(columns, c.columns) << c.kind;
    EXPECT_EQ(row, c.row) << c.kind;
  }
}

}  // namespace
}  // namespace mailroom::openapi
