#include "mailbox/mailbox_step.h"

#include <gtest/gtest.h>

#include <map>

#include "mailbox/mailbox_status.h"
#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/yaml.h"

namespace mailroom::mailbox {
namespace {

using Kind = Step::Kind;

const std::string kName = "its1-mb-0b1c";
const std::string kNow = "2030-01-02T03:04:05Z";

ObjectPtr FromYaml(std::string_view text) {
  auto tree = ParseYaml(text);
  EXPECT_TRUE(tree.ok());
  return Object::Make(*tree, Revision(7));
}

ObjectPtr FromJson(const Json& tree) { return Object::Make(tree, Revision(8)); }

ObjectPtr Entry() {
  return FromYaml(R"(
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncTarget
metadata: {name: florin, uid: 0b1c, labels: {env: prod, widgets-enabled: "true"}}
)");
}

ObjectPtr Deleting(const ObjectPtr& object) {
  Json tree = object->ToJson();
  Set(tree, {"metadata", "deletionTimestamp"}, kNow);
  return FromJson(tree);
}

ObjectPtr With(const Json& body, const std::string& uid) {
  Json tree = body;
  Set(tree, {"metadata", "uid"}, uid);
  return FromJson(tree);
}

// Repeats NextStep, doing what it says, until it says nothing.
std::vector<Kind> Settle(Seen& seen) {
  std::vector<Kind> taken;
  for (int i = 0; i < 10; ++i) {
    const Step step = NextStep(seen, kNow);
    if (step.kind == Kind::kNothing) return taken;
    taken.push_back(step.kind);
    switch (step.kind) {
      case Kind::kNothing:
        break;
      case Kind::kCreateWorkspace:
        seen.workspace = With(step.body, "w1");
        {
          Json served = seen.workspace->ToJson();
          Set(served, {"status", "url"}, "https://hub/clusters/" + kName);
          seen.workspace = FromJson(served);
        }
        break;
      case Kind::kCreateMailbox:
      case Kind::kUpdateMailbox:
      case Kind::kUpdateMailboxStatus:
        seen.mailbox = With(step.body, "m1");
        break;
      case Kind::kUpdateEntry:
      case Kind::kUpdateEntryStatus:
        seen.entry = FromJson(step.body);
        break;
      case Kind::kDeleteMailbox:
        EXPECT_EQ(step.uid, "m1");
        seen.mailbox = nullptr;
        break;
      case Kind::kDeleteWorkspace:
        EXPECT_EQ(step.uid, "w1");
        seen.workspace = nullptr;
        break;
    }
  }
  ADD_FAILURE() << "does not settle";
  return taken;
}

TEST(MailboxStep, MakesWorkspaceThenMailboxWithItsStatus) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  EXPECT_EQ(Settle(seen), (std::vector<Kind>{Kind::kCreateWorkspace, Kind::kCreateMailbox}));
  const Json workspace = seen.workspace->ToJson();
  EXPECT_EQ(StringAt(workspace, {"spec", "type"}), "mailbox");
  EXPECT_EQ(StringAt(workspace, {"metadata", "name"}), kName);
  EXPECT_EQ(StringAt(workspace, {"metadata", "annotations", openapi::kSyncTargetNameAnnotation}),
            "florin");
  const Json mailbox = seen.mailbox->ToJson();
  EXPECT_EQ(*Find(mailbox, {"spec"}), (Json{{"inventory", "its1"},
                                            {"syncTargetName", "florin"},
                                            {"syncTargetUID", "0b1c"},
                                            {"workspace", kName}}));
  EXPECT_EQ(StringAt(mailbox, {"status", "url"}), "https://hub/clusters/" + kName);
  EXPECT_EQ(StringAt(mailbox, {"status", "phase"}), "Ready");
  EXPECT_EQ(*Find(mailbox, {"metadata", "labels"}),
            (Json{{"env", "prod"}, {"widgets-enabled", "true"}}));
}

TEST(MailboxStep, ReleasesMailboxThenWorkspace) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  Settle(seen);
  seen.entry = nullptr;
  EXPECT_EQ(Settle(seen), (std::vector<Kind>{Kind::kDeleteMailbox, Kind::kDeleteWorkspace}));
}

TEST(MailboxStep, EntryBeingDeletedCountsAsGone) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  Settle(seen);
  seen.entry = Deleting(seen.entry);
  EXPECT_EQ(NextStep(seen, kNow).kind, Kind::kDeleteMailbox);
}

TEST(MailboxStep, RecreatesADeletedWorkspaceOnceItIsGone) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  Settle(seen);
  const ObjectPtr workspace = seen.workspace;
  seen.workspace = Deleting(workspace);
  EXPECT_EQ(NextStep(seen, kNow).kind, Kind::kNothing);
  seen.workspace = nullptr;
  EXPECT_EQ(Settle(seen), (std::vector<Kind>{Kind::kCreateWorkspace}));
}

TEST(MailboxStep, MirrorsLabelRemoval) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  Settle(seen);
  Json entry = seen.entry->ToJson();
  Erase(entry, {"metadata", "labels"});
  seen.entry = FromJson(entry);
  EXPECT_EQ(Settle(seen), (std::vector<Kind>{Kind::kUpdateMailbox}));
  EXPECT_TRUE(seen.mailbox->meta().labels.empty());
}

TEST(MailboxStep, KeepsConditionsOfOthers) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  Settle(seen);
  Json mailbox = seen.mailbox->ToJson();
  Set(mailbox, {"status"},
      Json{{"conditions", Json::array({{{"type", "Other"}, {"status", "True"}}})},
           {"lastHeartbeatTime", kNow}});
  seen.mailbox = FromJson(mailbox);
  EXPECT_EQ(Settle(seen), (std::vector<Kind>{Kind::kUpdateMailboxStatus}));
  mailbox = seen.mailbox->ToJson();
  EXPECT_EQ(Find(mailbox, {"status", "conditions"})->size(), 4U);
  EXPECT_EQ(StringAt(mailbox, {"status", "lastHeartbeatTime"}), kNow);
}

ObjectPtr Config(const std::string& heartbeat, const Json& more = Json::object()) {
  Json status = more;
  status["lastSyncerHeartbeatTime"] = heartbeat;
  return FromJson({{"apiVersion", "edge.kubestellar.io/v2alpha1"},
                   {"kind", "SyncerConfig"},
                   {"metadata", {{"name", "the-one"}}},
                   {"spec", Json::object()},
                   {"status", status}});
}

std::string ConditionOf(const ObjectPtr& object, const std::string& type) {
  const Json tree = object->ToJson();
  const Json* conditions = Find(tree, {"status", "conditions"});
  if (conditions == nullptr) return "";
  for (const Json& each : *conditions) {
    if (StringAt(each, {"type"}) == type) return StringAt(each, {"status"});
  }
  return "";
}

// Nobody waits until then.
TEST(MailboxStep, AHeartbeatFromTheFutureIsLookedAtAgain) {
  const Report report = ReadReport(Config("9999-12-31T23:59:59Z").get(), kNow);
  EXPECT_TRUE(report.connected);
  EXPECT_EQ(report.fresh_for, limits::kHeartbeatStale);
}

TEST(MailboxStep, ShowsWhatTheSyncerReports) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  Settle(seen);
  EXPECT_EQ(ConditionOf(seen.mailbox, "SyncerConnected"), "False");
  EXPECT_EQ(ConditionOf(seen.mailbox, "Synced"), "Unknown");
  seen.config = Config(kNow, {{"objectCount", 7},
                              {"wecVersion", "v1.20.0"},
                              {"syncedResources",
                               Json::array({{{"group", "apps"}, {"resource", "deployments"},
                                             {"versions", Json::array({"v1"})}}})}});
  EXPECT_EQ(Settle(seen),
            (std::vector<Kind>{Kind::kUpdateMailboxStatus, Kind::kUpdateEntryStatus}));
  EXPECT_EQ(ConditionOf(seen.mailbox, "SyncerConnected"), "True");
  EXPECT_EQ(ConditionOf(seen.mailbox, "Synced"), "True");
  EXPECT_EQ(seen.mailbox->ScalarAt("status.objectCount"), "7");
  EXPECT_EQ(seen.mailbox->ScalarAt("status.wecVersion"), "v1.20.0");
  EXPECT_EQ(ConditionOf(seen.entry, "Ready"), "True");
  EXPECT_EQ(seen.entry->ScalarAt("status.lastSyncerHeartbeatTime"), kNow);
  // The next heartbeat alone is worth nothing, one a minute later is.
  seen.config = Config("2030-01-02T03:04:35Z", {{"objectCount", 7}, {"wecVersion", "v1.20.0"},
      {"syncedResources", Json::array({{{"group", "apps"}, {"resource", "deployments"},
                                        {"versions", Json::array({"v1"})}}})}});
  EXPECT_EQ(NextStep(seen, "2030-01-02T03:04:35Z").kind, Kind::kNothing);
  EXPECT_EQ(NextStep(seen, "2030-01-02T03:04:35Z").after, std::chrono::seconds(100));
  // Silence is noticed.
  EXPECT_EQ(NextStep(seen, "2030-01-02T03:07:05Z").kind, Kind::kUpdateMailboxStatus);
}

TEST(MailboxStep, CountsWhatTheMailboxHoldsForASilentCluster) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  Settle(seen);
  EXPECT_EQ(seen.mailbox->ScalarAt("status.wantedCount"), "0");
  seen.config = FromYaml(R"(
apiVersion: edge.kubestellar.io/v2alpha1
kind: SyncerConfig
metadata: {name: the-one}
spec:
  clusterScope:
  - {group: "", resource: namespaces, apiVersion: v1, objects: [a, b]}
  namespacedObjects:
  - group: apps
    resource: deployments
    apiVersion: v1
    objectsByNamespace:
    - {namespace: a, names: [x, 'y', z]}
    - {namespace: b, names: [x]}
)");
  EXPECT_EQ(Settle(seen), (std::vector<Kind>{Kind::kUpdateMailboxStatus}));
  EXPECT_EQ(seen.mailbox->ScalarAt("status.wantedCount"), "6");
  EXPECT_EQ(seen.mailbox->ScalarAt("status.objectCount"), "0");
}

TEST(MailboxStep, ASilentSyncTargetSaysSoInKubeStellarsWords) {
  Seen seen{.name = kName, .entry = Entry(), .workspace = nullptr, .mailbox = nullptr};
  seen.config = Config("2030-01-02T03:01:05Z");
  Settle(seen);
  const Json entry = seen.entry->ToJson();
  std::map<std::string, std::string> said;
  for (const Json& each : *Find(entry, {"status", "conditions"})) {
    said[StringAt(each, {"type"})] = StringAt(each, {"status"}) + " " + StringAt(each, {"reason"});
  }
  EXPECT_EQ(said, (std::map<std::string, std::string>{{"HeartbeatHealthy", "False ErrorHeartbeat"},
                                                      {"Ready", "False ErrorHeartbeat"},
                                                      {"SyncerAuthorized", "True Reported"},
                                                      {"SyncerReady", "False ErrorHeartbeat"}}));
}

ObjectPtr Cluster() {
  return FromYaml(R"(
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: florin, uid: 0b1c}
spec: {hubAcceptsClient: true}
)");
}

TEST(MailboxStep, AManagedClusterShowsItInItsOwnConditions) {
  Seen seen{.name = kName, .entry = Cluster(), .workspace = nullptr, .mailbox = nullptr};
  EXPECT_EQ(Settle(seen), (std::vector<Kind>{Kind::kCreateWorkspace, Kind::kCreateMailbox}));
  EXPECT_EQ(ConditionOf(seen.entry, "ManagedClusterJoined"), "") << "nothing is said before it came";
  seen.config = Config(kNow, {{"objectCount", 1}, {"wecVersion", "v1.20.0"}});
  Settle(seen);
  EXPECT_EQ(ConditionOf(seen.entry, "ManagedClusterJoined"), "True");
  EXPECT_EQ(ConditionOf(seen.entry, "ManagedClusterConditionAvailable"), "True");
  EXPECT_EQ(seen.entry->ScalarAt("status.version.kubernetes"), "v1.20.0");
  EXPECT_EQ(ConditionOf(seen.entry, "Ready"), "") << "the conditions of a SyncTarget are not its own";
  // Silence: it has joined, but nobody knows how it is.
  seen.config = Config("2030-01-02T03:01:05Z", {{"objectCount", 1}, {"wecVersion", "v1.20.0"}});
  Settle(seen);
  EXPECT_EQ(ConditionOf(seen.entry, "ManagedClusterJoined"), "True");
  EXPECT_EQ(ConditionOf(seen.entry, "ManagedClusterConditionAvailable"), "Unknown");
}

class MailboxDrain : public testing::TestWithParam<ObjectPtr (*)()> {};

TEST_P(MailboxDrain, OnlyWhereThePolicySaysSo) {
  Seen seen{.name = kName, .entry = GetParam()(), .workspace = nullptr, .mailbox = nullptr};
  Json entry = seen.entry->ToJson();
  Set(entry, {"metadata", "annotations", "mailbox.kubestellar.io/deletion-policy"}, "drain");
  seen.entry = FromJson(entry);
  EXPECT_EQ(Settle(seen),
            (std::vector<Kind>{Kind::kCreateWorkspace, Kind::kCreateMailbox, Kind::kUpdateEntry}));
  EXPECT_TRUE(seen.entry->meta().has_finalizers);
  seen.entry = Deleting(seen.entry);
  seen.config = Config(kNow, {{"selectedResources", 0}, {"objectCount", 1}});
  EXPECT_EQ(NextStep(seen, kNow).kind, Kind::kNothing) << "the cluster still holds something";
  EXPECT_GT(NextStep(seen, kNow).after, std::chrono::seconds(0));
  Seen patient = seen;
  EXPECT_EQ(NextStep(patient, "2030-01-02T04:00:00Z").kind, Kind::kUpdateEntry) << "its time is over";
  seen.config = Config(kNow, {{"selectedResources", 0}, {"objectCount", 0}});
  Json config = seen.config->ToJson();
  Set(config, {"metadata", "generation"}, 3);
  Set(config, {"status", "observedGeneration"}, 2);
  seen.config = FromJson(config);
  EXPECT_EQ(NextStep(seen, kNow).kind, Kind::kNothing) << "it may have made something since it counted";
  Set(config, {"status", "observedGeneration"}, 3);
  seen.config = FromJson(config);
  const Step step = NextStep(seen, kNow);
  EXPECT_EQ(step.kind, Kind::kUpdateEntry);
  EXPECT_TRUE(StringsAt(step.body, {"metadata", "finalizers"}).empty());
  // Changing one's mind before deleting takes the finalizer off.
  Erase(entry, {"metadata", "annotations"});
  Set(entry, {"metadata", "finalizers"}, Json::array({"mailbox.kubestellar.io/drain"}));
  seen.entry = FromJson(entry);
  seen.config = nullptr;
  bool released = false;
  for (const Kind kind : Settle(seen)) released = released || kind == Kind::kUpdateEntry;
  EXPECT_TRUE(released);
  EXPECT_FALSE(seen.entry->meta().has_finalizers);
}

INSTANTIATE_TEST_SUITE_P(Entries, MailboxDrain, testing::Values(&Entry, &Cluster));

TEST(MailboxStep, LeavesWorkspacesItDidNotMake) {
  const ObjectPtr typed = FromYaml(R"(
apiVersion: mailbox.kubestellar.io/v1alpha1
kind: Workspace
metadata: {name: its1-mb-0b1c, uid: u}
spec: {type: mailbox}
)");
  const Seen seen{.name = kName, .entry = nullptr, .workspace = typed, .mailbox = nullptr};
  EXPECT_EQ(NextStep(seen, kNow).kind, Kind::kNothing);
}

TEST(MailboxName, RoundTrip) {
  struct Case {
    std::string name;
    bool valid;
    std::string inventory;
    std::string uid;
  };
  const std::vector<Case> cases = {
      {"its1-mb-0b1c-22", true, "its1", "0b1c-22"},
      {"a-mb-b-mb-0b1c", true, "a-mb-b", "0b1c"},
      {"its1", false, "", ""},
      {"-mb-0b1c", false, "", ""},
      {"its1-mb-", false, "", ""},
  };
  for (const Case& c : cases) {
    const auto parsed = openapi::ParseMailboxName(c.name);
    ASSERT_EQ(parsed.has_value(), c.valid) << c.name;
    if (!parsed) continue;
    EXPECT_EQ(parsed->inventory, c.inventory);
    EXPECT_EQ(parsed->uid, c.uid);
    EXPECT_EQ(openapi::MailboxNameOf(parsed->inventory, parsed->uid), c.name);
  }
}

}  // namespace
}  // namespace mailroom::mailbox
