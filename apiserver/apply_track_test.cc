#include <gtest/gtest.h>

#include "apiserver/apply.h"
#include "apiserver/apply_test_types.h"
#include "apiserver/managed_fields.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kT1 = "2024-01-01T00:00:01Z";
constexpr const char* kT2 = "2024-01-01T00:00:02Z";

Writer By(const std::string& manager, const std::string& now = kT1,
          const std::string& version = "v1", const std::string& subresource = "") {
  return {manager, version, subresource, now};
}

Json Map(std::string_view data, std::string_view metadata = "{name: c}") {
  Json object = Y("{apiVersion: v1, kind: ConfigMap}");
  object["metadata"] = Y(metadata);
  object["data"] = Y(data);
  return object;
}

Json Created(std::string_view data, const Writer& writer) {
  Json object = Map(data);
  TrackUpdate(ConfigMaps(), nullptr, object, writer);
  return object;
}

// `after` as a client sends it: without managedFields.
Json Updated(const Json& before, std::string_view data, const Writer& writer) {
  Json after = Map(data);
  TrackUpdate(ConfigMaps(), &before, after, writer);
  return after;
}

Strings Managers(const Json& object) {
  Strings out;
  const Json* list = Find(object, {"metadata", "managedFields"});
  if (!list) return out;
  for (const Json& entry : *list) {
    out.push_back(StringAt(entry, {"manager"}) + "@" + StringAt(entry, {"time"}).substr(18, 1) +
                  " " + DumpJson(*Find(entry, {"fieldsV1"})));
  }
  return out;
}

TEST(TrackUpdate, CreateOwnsWhatItSets) {
  const Json object = Created("{a: x}", By("m"));
  EXPECT_EQ(*Find(object, {"metadata", "managedFields"}), Y(R"(
- {apiVersion: v1, fieldsType: FieldsV1, manager: m, operation: Update,
   time: '2024-01-01T00:00:01Z', fieldsV1: {'f:data': {.: {}, 'f:a': {}}}}
)"));
}

// The parts of a built-in kind that are always there come to nobody by creation.
TEST(TrackUpdate, CreatedDeployment) {
  Json object = Y(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {app: x}}
spec:
  replicas: 1
  selector: {matchLabels: {app: x}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%}}
  template:
    metadata: {labels: {app: x}}
    spec:
      containers: [{name: c, image: i, resources: {}}]
      dnsPolicy: ClusterFirst
      securityContext: {}
status: {}
)");
  TrackUpdate(Deployments(), nullptr, object, By("kubectl-create", kT1, "apps/v1"));
  EXPECT_EQ((*Find(object, {"metadata", "managedFields"}))[0]["fieldsV1"], Y(R"(
'f:metadata': {'f:labels': {.: {}, 'f:app': {}}}
'f:spec':
  'f:replicas': {}
  'f:selector': {}
  'f:strategy': {'f:rollingUpdate': {.: {}, 'f:maxSurge': {}}, 'f:type': {}}
  'f:template':
    'f:metadata': {'f:labels': {.: {}, 'f:app': {}}}
    'f:spec':
      'f:containers':
        'k:{"name":"c"}': {.: {}, 'f:image': {}, 'f:name': {}, 'f:resources': {}}
      'f:dnsPolicy': {}
      'f:securityContext': {}
)"));
}

TEST(TrackUpdate, TakeoverRemovalAndMerging) {
  Json object = Created("{a: x, b: 'y', c: z}", By("m", kT1));
  object = Updated(object, "{a: x2, b: 'y', d: w}", By("n", kT2));
  EXPECT_EQ(Managers(object), (Strings{R"(m@1 {"f:data":{".":{},"f:b":{}}})",
                                       R"(n@2 {"f:data":{"f:a":{},"f:d":{}}})"}));
  object = Updated(object, "{a: x2, b: y2, d: w}", By("n", "2024-01-01T00:00:03Z"));
  EXPECT_EQ(Managers(object),
            (Strings{R"(m@1 {"f:data":{}})", R"(n@3 {"f:data":{"f:a":{},"f:b":{},"f:d":{}}})"}));
}

TEST(TrackUpdate, NoChangeKeepsEntries) {
  const Json object = Created("{a: x}", By("m", kT1));
  EXPECT_EQ(Updated(object, "{a: x}", By("n", kT2)), object);
}

TEST(TrackUpdate, RemovalAloneDoesNotMakeAnOwner) {
  Json object = Created("{a: x, b: 'y'}", By("m", kT1));
  object = Updated(object, "{a: x}", By("n", kT2));
  EXPECT_EQ(Managers(object), (Strings{R"(m@1 {"f:data":{".":{},"f:a":{}}})"}));
}

TEST(TrackUpdate, IdentityChangesAreNotTracked) {
  Json before = Created("{a: x}", By("m", kT1));
  Json after = Map("{a: x}",
                   "{name: c, uid: u, resourceVersion: '7', generation: 3, "
                   "creationTimestamp: '2024-01-01T00:00:00Z'}");
  TrackUpdate(ConfigMaps(), &before, after, By("n", kT2));
  EXPECT_EQ(Managers(after), Managers(before));
}

TEST(TrackUpdate, EntriesPerVersionAndSubresource) {
  Json object =
      Y("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 1}, status: "
        "{}}");
  TrackUpdate(Deployments(), nullptr, object, By("m", kT1, "apps/v1"));
  Json scaled = object;
  Set(scaled, {"spec", "replicas"}, 2);
  TrackUpdate(Deployments(), &object, scaled, By("m", kT1, "apps/v1", "scale"));
  Json reported = scaled;
  Set(reported, {"status"}, Y("{replicas: 2}"));
  Set(reported, {"spec", "paused"}, true);  // not written by /status
  TrackUpdate(Deployments(), &scaled, reported, By("m", kT1, "apps/v1", "status"));
  Json beta = reported;
  Set(beta, {"spec", "minReadySeconds"}, 5);
  TrackUpdate(Deployments(), &reported, beta, By("m", kT1, "apps/v1beta1"));
  Strings entries;
  for (const Json& entry : *Find(beta, {"metadata", "managedFields"})) {
    entries.push_back(StringAt(entry, {"apiVersion"}) + "/" + StringAt(entry, {"subresource"}) +
                      " " + DumpJson(*Find(entry, {"fieldsV1"})));
  }
  EXPECT_EQ(entries, (Strings{R"(apps/v1/scale {"f:spec":{"f:replicas":{}}})",
                              R"(apps/v1/status {"f:status":{"f:replicas":{}}})",
                              R"(apps/v1beta1/ {"f:spec":{"f:minReadySeconds":{}}})"}));
}

TEST(TrackUpdate, MainEndpointDoesNotOwnStatus) {
  Json object =
      Y("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, "
        "spec: {replicas: 1}, status: {replicas: 1}}");
  TrackUpdate(Deployments(), nullptr, object, By("m", kT1, "apps/v1"));
  EXPECT_EQ((*Find(object, {"metadata", "managedFields"}))[0]["fieldsV1"],
            Y("{'f:spec': {'f:replicas': {}}}"));
}

TEST(TrackUpdate, ResetAndUntrackedObjects) {
  const Json tracked = Created("{a: x}", By("m"));
  for (const char* reset : {"[]", "[{}]"}) {
    Json after = Map("{a: x, b: 'y'}");
    Set(after, {"metadata", "managedFields"}, Y(reset));
    TrackUpdate(ConfigMaps(), &tracked, after, By("n"));
    EXPECT_EQ(Find(after, {"metadata", "managedFields"}), nullptr) << reset;
    // Nobody tracks the object any more, until its first apply.
    EXPECT_TRUE(Managers(Updated(after, "{a: z}", By("n"))).empty());
  }
  Json create = Map("{a: x}");
  Set(create, {"metadata", "managedFields"}, Y("[{}]"));
  TrackUpdate(ConfigMaps(), nullptr, create, By("m"));
  EXPECT_EQ(Managers(create).size(), 1u);
}

TEST(TrackUpdate, SentEntriesReplaceTheStored) {
  const Json before = Created("{a: x}", By("m", kT1));
  Json after = Map("{a: x}");
  Set(after, {"metadata", "managedFields"}, Y(R"(
- {apiVersion: v1, fieldsType: FieldsV1, manager: kubectl, operation: Apply,
   time: '2024-01-01T00:00:01Z', fieldsV1: {'f:data': {'f:a': {}}}}
)"));
  const Json sent = after;
  TrackUpdate(ConfigMaps(), &before, after, By("n", kT2));
  EXPECT_EQ(after, sent);
  // Not through a subresource, and not when they make no sense.
  after = sent;
  TrackUpdate(ConfigMaps(), &before, after, By("n", kT2, "v1", "status"));
  EXPECT_EQ(Managers(after), Managers(before));
  after = Map("{a: x}");
  Set(after, {"metadata", "managedFields"}, Y("[{manager: x}]"));
  TrackUpdate(ConfigMaps(), &before, after, By("n", kT2));
  EXPECT_EQ(Managers(after), Managers(before));
  after = Map("{a: x}");
  Set(after, {"metadata", "managedFields"}, Json());
  TrackUpdate(ConfigMaps(), &before, after, By("n", kT2));
  EXPECT_EQ(Managers(after), Managers(before));
}

TEST(TrackUpdate, AtMostTenUpdaters) {
  Json object = Created("{k0: v}", By("m0", "2024-01-01T00:00:00Z"));
  for (int i = 1; i < 15; ++i) {
    Json after = object;
    Set(after, {"data", "k" + std::to_string(i)}, "v");
    const std::string second = (i < 10 ? "0" : "") + std::to_string(i);
    TrackUpdate(ConfigMaps(), &object, after,
                By("m" + std::to_string(i), "2024-01-01T00:00:" + second + "Z"));
    object = after;
  }
  const Json& list = *Find(object, {"metadata", "managedFields"});
  ASSERT_EQ(list.size(), 10u);
  EXPECT_EQ(StringAt(list[0], {"manager"}), "ancient-changes");
  EXPECT_EQ(StringAt(list[0], {"time"}), "2024-01-01T00:00:05Z");
  EXPECT_EQ(list[0]["fieldsV1"]["f:data"].size(), 7u);  // "." and k0 to k5
  EXPECT_EQ(StringAt(list[1], {"manager"}), "m6");
}

TEST(TrackUpdate, AtomicSinceTheEntryWasWritten) {
  const auto granular = Widgets(
      "{type: object, properties: {spec: {type: object, properties: {l: {type: array, "
      "x-kubernetes-list-type: set, items: {type: string}}}}}}");
  const auto atomic = Widgets(
      "{type: object, properties: {spec: {type: object, properties: {l: {type: array, "
      "items: {type: string}}}}}}");
  Json object = Widget("{l: [a]}");
  TrackUpdate(granular, nullptr, object, By("m", kT1, "example.com/v1"));
  Json after = object;
  TrackUpdate(atomic, &object, after, By("m", kT2, "example.com/v1"));
  EXPECT_EQ((*Find(after, {"metadata", "managedFields"}))[0]["fieldsV1"],
            Y("{'f:spec': {.: {}, 'f:l': {}}}"));
}

TEST(TrackUpdate, EntriesOfVersionsNoLongerServedGo) {
  const Json before = Created("{a: x}", By("m", kT1, "v1beta1"));
  Json after = Map("{a: x, b: 'y'}");
  Writer writer = By("n", kT2);
  writer.served = {"v1", "v2"};
  TrackUpdate(ConfigMaps(), &before, after, writer);
  EXPECT_EQ(Managers(after), (Strings{R"(n@2 {"f:data":{"f:b":{}}})"}));
}

// Work on long lists must not grow with the square of their length.
TEST(TrackUpdate, LongListsInAnyOrder) {
  const auto type = Widgets(
      "{type: object, properties: {spec: {type: object, properties: {s: {type: array, "
      "x-kubernetes-list-type: set, items: {type: integer}}}}}}");
  Json object = Widget("{}");
  Json& list = object["spec"]["s"] = Json::array();
  for (std::uint32_t i = 0; i < 30'000; ++i) list.push_back(i * 2654435761u);
  TrackUpdate(type, nullptr, object, By("m", kT1, "example.com/v1"));
  Json after = object;
  std::reverse(after["spec"]["s"].begin(), after["spec"]["s"].end());
  after["spec"]["s"].erase(7);
  TrackUpdate(type, &object, after, By("n", kT2, "example.com/v1"));
  after["spec"]["s"].erase(7);
  StripMissingOwned(type, after);
  const Json& entries = *Find(after, {"metadata", "managedFields"});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0]["fieldsV1"]["f:spec"]["f:s"].size(), 29'999u);  // with "."
}

TEST(StripMissingOwned, DropsFieldsThatWentAway) {
  Json object = Created("{a: x, b: 'y'}", By("m"));
  const Json complete = object;
  StripMissingOwned(ConfigMaps(), object);
  EXPECT_EQ(object, complete);
  Erase(object, {"data", "b"});
  StripMissingOwned(ConfigMaps(), object);
  EXPECT_EQ(Managers(object), (Strings{R"(m@1 {"f:data":{".":{},"f:a":{}}})"}));
  // An empty map is not written, and is owned all the same.
  Erase(object, {"data"});
  const Json absent = object;
  StripMissingOwned(ConfigMaps(), object);
  EXPECT_EQ(object, absent);
}

TEST(KeepTimesWhenUnchanged, OnlyTimesAreNoChange) {
  Json live = Created("{a: x}", By("m", kT1));
  live = Updated(live, "{a: x, b: 'y'}", By("n", kT1));
  Json object = live;
  (*Find(object, {"metadata", "managedFields"}))[0]["time"] = kT2;
  std::swap((*Find(object, {"metadata", "managedFields"}))[0],
            (*Find(object, {"metadata", "managedFields"}))[1]);
  Json same = object;
  KeepTimesWhenUnchanged(live, same);
  EXPECT_EQ(same, live);
  Json changed = object;
  Set(changed, {"data", "c"}, "z");
  const Json before = changed;
  KeepTimesWhenUnchanged(live, changed);
  EXPECT_EQ(changed, before);
  Json labelled = object;
  Set(labelled, {"metadata", "labels"}, Y("{l: v}"));
  const Json kept = labelled;
  KeepTimesWhenUnchanged(live, labelled);
  EXPECT_EQ(labelled, kept);
}

}  // namespace
}  // namespace mailroom::apiserver
