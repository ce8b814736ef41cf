#include "syncer/rewrite.h"

#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "storage/object/yaml.h"
#include "syncer/keys.h"

namespace mailroom::syncer {
namespace {

const Identity kIdentity{.uid = "0f5a", .url = "https://hub/clusters/m1"};
const GroupResource kDeployments{"apps", "deployments"};

Json Yaml(const std::string& text) {
  auto value = ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Json();
}

TEST(DesiredBody, DropsWhatConcernsTheMailboxAndMarksTheRest) {
  const Json copy = Yaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: 'n'
  uid: u
  resourceVersion: "7"
  generation: 3
  creationTimestamp: "2026-01-01T00:00:00Z"
  managedFields: [{manager: m}]
  ownerReferences: [{name: o}]
  finalizers: [f]
  labels: {a: b}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    keep: me
spec: {replicas: 2}
status: {replicas: 1}
)");
  const Json body = DesiredBody(copy, kDeployments, kIdentity);
  Json rest = body;
  EXPECT_EQ(StringAt(body, {"metadata", "annotations", kDownsyncedAnnotation}), "Deployment/n/web");
  EXPECT_EQ(StringAt(body, {"metadata", "annotations", kOwnerAnnotation}), "0f5a");
  EXPECT_EQ(StringAt(body, {"metadata", "annotations", kResourceAnnotation}), "deployments.apps");
  EXPECT_EQ(StringAt(body, {"metadata", "labels", kSyncedLabel}), kIdentity.LabelValue());
  EXPECT_EQ(kIdentity.LabelValue().size(), 12u);
  for (std::string_view mark : {kDownsyncedAnnotation, kOwnerAnnotation, kOwnerUrlAnnotation,
                                kResourceAnnotation, kAppliedAnnotation}) {
    EXPECT_TRUE(Erase(rest, {"metadata", "annotations", mark})) << mark;
  }
  Erase(rest, {"metadata", "labels", kSyncedLabel});
  EXPECT_EQ(rest, Yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: "
                       "'n', labels: {a: b}, annotations: {keep: me}}, spec: {replicas: 2}}"));
  EXPECT_EQ(OwnerOf(body, kDeployments, kIdentity), Owner::kOurs);
}

TEST(DesiredBody, FingerprintFollowsTheContentOnly) {
  const auto applied = [](const std::string& text) {
    return StringAt(DesiredBody(Yaml(text), {"", "configmaps"}, kIdentity),
                    {"metadata", "annotations", kAppliedAnnotation});
  };
  const std::string base = applied("{kind: ConfigMap, metadata: {name: a}, data: {k: v, l: w}}");
  EXPECT_EQ(base, applied("{kind: ConfigMap, metadata: {name: a, resourceVersion: '9'}, "
                          "data: {k: v, l: w}}"));
  EXPECT_NE(base, applied("{kind: ConfigMap, metadata: {name: a}, data: {k: v}}"));
}

TEST(DesiredBody, NamespacesKeepNoSpec) {
  const Json body = DesiredBody(
      Yaml("{apiVersion: v1, kind: Namespace, metadata: {name: a}, spec: {finalizers: [k]}}"),
      kNamespaces, kIdentity);
  EXPECT_EQ(Find(body, {"spec"}), nullptr);
}

TEST(OwnerOf, Table) {
  const Json ours = DesiredBody(
      Yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: 'n'}}"),
      kDeployments, kIdentity);
  EXPECT_EQ(OwnerOf(ours, kDeployments, kIdentity), Owner::kOurs);
  EXPECT_EQ(OwnerOf(ours, {"extensions", "deployments"}, kIdentity), Owner::kNobody);
  EXPECT_EQ(OwnerOf(ours, kDeployments, {.uid = "new", .url = kIdentity.url}), Owner::kFormerSelf);
  EXPECT_EQ(OwnerOf(ours, kDeployments, {.uid = "new", .url = "https://other"}),
            Owner::kOtherMailbox);
  Json derived = ours;
  Set(derived, {"kind"}, "ReplicaSet");
  Set(derived, {"metadata", "name"}, "web-5d4");
  EXPECT_EQ(OwnerOf(derived, kDeployments, kIdentity), Owner::kNobody);
  Json stripped = ours;
  Erase(stripped, {"metadata", "annotations"});
  EXPECT_EQ(OwnerOf(stripped, kDeployments, kIdentity), Owner::kNobody);
}

struct ProjectCase {
  const char* name;
  const char* actual;
  const char* desired;
  bool holds;
};

TEST(Project, HoldsEverythingDesired) {
  const ProjectCase cases[] = {
      {"equal", "{a: 1}", "{a: 1}", true},
      {"more members", "{a: 1, b: 2}", "{a: 1}", true},
      {"nested", "{a: {b: 1, c: 2}}", "{a: {c: 2}}", true},
      {"other value", "{a: 1}", "{a: 2}", false},
      {"missing member", "{b: 1}", "{a: 1}", false},
      {"scalars in order", "{a: [x, 'y']}", "{a: [x, 'y']}", true},
      {"scalars in another order", "{a: ['y', x]}", "{a: [x, 'y']}", false},
      {"extra scalar", "{a: [x, 'y']}", "{a: [x]}", false},
      {"defaults in a named element", "{c: [{name: x, image: i, pullPolicy: Always}]}",
       "{c: [{name: x, image: i}]}", true},
      {"injected element", "{c: [{name: sidecar}, {name: x, image: i}]}",
       "{c: [{name: x, image: i}]}", true},
      {"missing element", "{c: [{name: 'y', image: i}]}", "{c: [{name: x, image: i}]}", false},
      {"ports by number", "{p: [{containerPort: 80, protocol: TCP}]}", "{p: [{containerPort: 80}]}",
       true},
      {"unnamed elements by place", "{r: [{verbs: [get], x: 1}, {verbs: [list]}]}",
       "{r: [{verbs: [get]}, {verbs: [list]}]}", true},
      {"unnamed, another number", "{r: [{verbs: [get]}, {verbs: [list]}]}", "{r: [{verbs: [get]}]}",
       false},
      {"emptied list", "{r: [{verbs: [get]}]}", "{r: []}", false},
      {"quantity in other words", "{cpu: '1'}", "{cpu: 1000m}", false},
      {"list became object", "{a: {b: 1}}", "{a: [1]}", false},
  };
  for (const ProjectCase& c : cases) {
    const Json desired = Yaml(c.desired);
    EXPECT_EQ(Project(Yaml(c.actual), desired) == desired, c.holds) << c.name;
  }
}

TEST(Project, AWordingStaysTheSameWhileOthersWriteElsewhere) {
  const Json desired = Yaml("{spec: {cpu: 1000m}}");
  const std::string before = Fingerprint(Project(Yaml("{spec: {cpu: '1'}}"), desired));
  EXPECT_EQ(Fingerprint(Project(Yaml("{spec: {cpu: '1', x: 2}, status: {a: 1}}"), desired)),
            before);
  EXPECT_NE(Fingerprint(Project(Yaml("{spec: {cpu: '2'}}"), desired)), before);
}

TEST(YieldScale, OnlyToTheScaleSubresource) {
  const auto yielded = [](const std::string& manager) {
    Json desired = Yaml("{spec: {replicas: 2, x: 1}}");
    YieldScale(Yaml("{metadata: {managedFields: [" + manager + "]}}"), desired);
    return Find(desired, {"spec", "replicas"}) == nullptr;
  };
  const std::string fields = "fieldsV1: {'f:spec': {'f:replicas': {}}}";
  EXPECT_TRUE(yielded("{manager: hpa, subresource: scale, " + fields + "}"));
  EXPECT_FALSE(yielded("{manager: kubectl-edit, " + fields + "}"));
  EXPECT_FALSE(yielded("{manager: hpa, subresource: scale, fieldsV1: {'f:spec': {'f:x': {}}}}"));
}

TEST(MergeDiff, MakesOneIntoTheOther) {
  const char* const values[] = {"{}", "{a: 1}", "{a: {b: 1, c: [1, 2]}}", "{a: {c: [2]}, d: x}",
                                "{a: [1]}"};
  for (const char* from : values) {
    for (const char* to : values) {
      Json value = Yaml(from);
      value.merge_patch(MergeDiff(value, Yaml(to)));
      EXPECT_EQ(value, Yaml(to)) << from << " to " << to;
    }
  }
}

}  // namespace
}  // namespace mailroom::syncer
