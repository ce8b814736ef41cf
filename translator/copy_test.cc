#include "translator/copy.h"

#include <gtest/gtest.h>

#include "openapi/edge_names.h"
#include "storage/object/json_path.h"
#include "translator/conditions.h"
#include "translator/report.h"
#include "translator/test_objects.h"

namespace mailroom::translator {
namespace {

const std::string kSource = R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: speciald
  namespace: specialstuff
  uid: u1
  resourceVersion: "12"
  generation: 3
  creationTimestamp: "2030-01-01T00:00:00Z"
  generateName: special
  finalizers: [a/b]
  ownerReferences: [{kind: X, name: x, uid: 'y', apiVersion: v1}]
  managedFields: [{manager: kubectl}]
  labels: {app: special}
  annotations:
    note: mine
    kubectl.kubernetes.io/last-applied-configuration: "{}"
spec: {replicas: 2}
status: {replicas: 2}
)";

TEST(Copy, IsStrippedAndMarked) {
  EXPECT_EQ(DesiredCopy(Yaml(kSource), "wds1", Overwrite::kAlways), Yaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: speciald
  namespace: specialstuff
  labels: {app: special, edge.kubestellar.io/projected: "yes"}
  annotations: {note: mine, mailbox.kubestellar.io/source: wds1}
spec: {replicas: 2}
)"));
}

TEST(Copy, CreateOnlyTellsTheSyncer) {
  const Json copy = DesiredCopy(Yaml(kSource), "wds1", Overwrite::kCreateOnly);
  EXPECT_EQ(StringAt(copy, {"metadata", "annotations", openapi::kOverwriteAnnotation}), "false");
}

// The copy as a mailbox serves it after the desired one was created.
Json Served(Json desired) {
  Set(desired, {"metadata", "uid"}, "u2");
  Set(desired, {"metadata", "resourceVersion"}, "40");
  Set(desired, {"metadata", "creationTimestamp"}, "2030-01-01T00:00:05Z");
  Set(desired, {"metadata", "generation"}, 1);
  Set(desired, {"metadata", "managedFields"}, Json::array({{{"manager", "mailroom"}}}));
  Set(desired, {"status"}, Json{{"readyReplicas", 1}});
  return desired;
}

TEST(Copy, EqualCopyIsLeftAlone) {
  const Json desired = DesiredCopy(Yaml(kSource), "wds1", Overwrite::kAlways);
  Json copy = Served(desired);
  const Json before = copy;
  EXPECT_FALSE(BringTo(desired, copy));
  EXPECT_EQ(copy, before);
}

TEST(Copy, EveryDifferenceIsRepaired) {
  struct Case {
    std::string name;
    std::function<void(Json&)> disturb;
  };
  const std::vector<Case> cases = {
      {"changed field",
       [](Json& c) {
         Set(c, {"spec", "replicas"}, 5);
       }},
      {"added field",
       [](Json& c) {
         Set(c, {"spec", "paused"}, true);
       }},
      {"removed section", [](Json& c) { Erase(c, {"spec"}); }},
      {"added section",
       [](Json& c) {
         Set(c, {"data"}, Json{{"a", "b"}});
       }},
      {"added label",
       [](Json& c) {
         Set(c, {"metadata", "labels", "x"}, "y");
       }},
      {"removed label",
       [](Json& c) {
         Erase(c, {"metadata", "labels", "app"});
       }},
      {"changed annotation",
       [](Json& c) {
         Set(c, {"metadata", "annotations", "note"}, "z");
       }},
      {"removed annotations",
       [](Json& c) {
         Erase(c, {"metadata", "annotations"});
       }},
  };
  const Json desired = DesiredCopy(Yaml(kSource), "wds1", Overwrite::kAlways);
  const Json good = Served(desired);
  for (const Case& c : cases) {
    Json copy = good;
    c.disturb(copy);
    EXPECT_TRUE(BringTo(desired, copy)) << c.name;
    EXPECT_EQ(copy, good) << c.name;
  }
}

TEST(Copy, EmptySectionAndAbsentSectionAreAlike) {
  Json copy = Yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}");
  EXPECT_FALSE(
      BringTo(Yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {}}"), copy));
}

TEST(Copy, NamespaceKeepsWhatItsServerAdds) {
  const Json source = Yaml(R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop, uid: a, labels: {env: prod, kubernetes.io/metadata.name: shop}}
spec: {finalizers: [kubernetes]}
status: {phase: Active}
)");
  const Json desired = DesiredCopy(source, "wds1", Overwrite::kAlways);
  EXPECT_EQ(Find(desired, {"spec"}), nullptr);
  Json copy = Served(desired);
  Set(copy, {"spec", "finalizers"}, Json::array({"kubernetes"}));
  Set(copy, {"status"}, Json{{"phase", "Active"}});
  Set(copy, {"metadata", "annotations", openapi::kAdoptedAnnotation}, "true");
  const Json before = copy;
  EXPECT_FALSE(BringTo(desired, copy));
  EXPECT_EQ(copy, before);
  Erase(copy, {"metadata", "labels", "env"});
  EXPECT_TRUE(BringTo(desired, copy));
  EXPECT_EQ(copy, before);
}

TEST(Copy, SameContentIgnoresIdentity) {
  Json other = Yaml(kSource);
  Set(other, {"metadata", "uid"}, "u9");
  Set(other, {"status", "replicas"}, 7);
  EXPECT_TRUE(SameContent(Yaml(kSource), other));
  Set(other, {"spec", "replicas"}, 7);
  EXPECT_FALSE(SameContent(Yaml(kSource), other));
}

TEST(Report, MergeDiffTurnsOneIntoTheOther) {
  struct Case {
    std::string from, to, patch;
  };
  const std::vector<Case> cases = {
      {"{a: 1}", "{a: 1}", "{}"},
      {"{a: 1, b: 2}", "{a: 1}", "{b: null}"},
      {"{}", "{a: {b: 1}}", "{a: {b: 1}}"},
      {"{a: {b: 1, c: 2}, l: [1]}", "{a: {b: 1, d: 3}, l: [2]}", "{a: {c: null, d: 3}, l: [2]}"},
  };
  for (const Case& c : cases) {
    const Json patch = MergeDiff(Yaml(c.from), Yaml(c.to));
    EXPECT_EQ(patch, Yaml(c.patch)) << c.from;
    Json result = Yaml(c.from);
    result.merge_patch(patch);
    EXPECT_EQ(result, Yaml(c.to)) << c.from;
  }
}

TEST(Report, NextStep) {
  using Kind = ReportStep::Kind;
  const std::string label = "metadata: {labels: {managed-by.kubestellar.io/singletonstatus: x}}";
  struct Case {
    std::string name, source, copy;
    Kind kind;
    std::string status;
  };
  const std::vector<Case> cases = {
      {"never wanted", "status: {a: 1}", "", Kind::kNothing, ""},
      {"nothing came back", "status: {a: 1}", "status: {}", Kind::kNothing, ""},
      {"first report", "status: {a: 1}", "status: {a: 2}", Kind::kLabel, ""},
      {"labelled", label + "\nstatus: {a: 1}", "status: {a: 2}", Kind::kStatus, "{a: 2}"},
      {"equal", label + "\nstatus: {a: 2}", "status: {a: 2}", Kind::kNothing, ""},
      {"no longer wanted", label + "\nstatus: {a: 2}", "", Kind::kStatus, "{}"},
      {"taken back", label + "\nstatus: {}", "", Kind::kUnlabel, ""},
      {"taken back, absent", label, "", Kind::kUnlabel, ""},
  };
  for (const Case& c : cases) {
    const Json copy = c.copy.empty() ? Json() : Yaml(c.copy);
    const ReportStep step = NextReport(Yaml(c.source), c.copy.empty() ? nullptr : &copy);
    EXPECT_EQ(step.kind, c.kind) << c.name;
    if (c.status.empty()) continue;
    EXPECT_EQ(step.status, Yaml(c.status)) << c.name;
  }
}

TEST(Conditions, TransitionTimeMovesOnlyWithTheStatus) {
  Json object = Json::object();
  SetCondition(object, {.type = "Synced", .status = true, .reason = "A", .message = ""}, "t1");
  SetCondition(object, {.type = "Synced", .status = true, .reason = "B", .message = "m"}, "t2");
  EXPECT_TRUE(ConditionIsTrue(object, "Synced"));
  EXPECT_EQ(object, Yaml("status: {conditions: [{type: Synced, status: \"True\", reason: B, "
                         "message: m, lastTransitionTime: t1}]}"));
  SetCondition(object, {.type = "Synced", .status = false, .reason = "B", .message = ""}, "t3");
  EXPECT_FALSE(ConditionIsTrue(object, "Synced"));
  const Json* first = &Find(object, {"status", "conditions"})->front();
  EXPECT_EQ(StringAt(*first, {"lastTransitionTime"}), "t3");
}

}  // namespace
}  // namespace mailroom::translator
