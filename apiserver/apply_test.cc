#include "apiserver/apply.h"

#include <gtest/gtest.h>

#include "apiserver/apply_test_types.h"
#include "apiserver/managed_fields.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kT1 = "2024-01-01T00:00:01Z";
constexpr const char* kT2 = "2024-01-01T00:00:02Z";

Writer By(const std::string& manager, const std::string& now = kT1,
          const std::string& version = "example.com/v1", const std::string& subresource = "") {
  return {manager, version, subresource, now};
}

// What one manager owns, as path texts; empty when it has no entry.
Strings Owned(const Json& object, const std::string& manager, const std::string& subresource = "") {
  auto managed = ManagedFields::Of(object);
  EXPECT_TRUE(managed.ok());
  for (const OwnerEntry& entry : managed->entries()) {
    if (entry.manager == manager && entry.subresource == subresource) return Texts(entry.fields);
  }
  return {};
}

std::string TimeOf(const Json& object, const std::string& manager) {
  auto managed = ManagedFields::Of(object);
  EXPECT_TRUE(managed.ok());
  for (const OwnerEntry& entry : managed->entries()) {
    if (entry.manager == manager) return entry.time;
  }
  return "none";
}

const openapi::ResourceType& Typed() {
  static const auto* type = new openapi::ResourceType(Widgets(R"(
type: object
properties:
  spec:
    type: object
    properties:
      a: {type: string}
      b: {type: string}
      count: {type: integer}
      'on': {type: boolean}
      labels: {type: object, additionalProperties: {type: string}}
      list: {type: array, items: {type: string}}
      set: {type: array, items: {type: string}, x-kubernetes-list-type: set}
      items:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          properties: {name: {type: string}, value: {type: string}, extra: {type: string}}
      open: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status:
    type: object
    properties: {phase: {type: string}}
)",
                                                              true));
  return *type;
}

// Applies without conflict, or fails the test.
Json MustApply(const openapi::ResourceType& type, const Json* live, const Json& config,
               const Writer& writer, bool force = false) {
  auto result = Apply(type, live, config, writer, force);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message();
    return live ? *live : Json();
  }
  return *result;
}

Json Spec(const Json& object) {
  const Json* spec = Find(object, {"spec"});
  return spec ? *spec : Json();
}

TEST(Apply, CreatesWithOwnership) {
  const Json object = MustApply(Typed(), nullptr, Widget("{a: x, labels: {k: v}}"), By("m"));
  EXPECT_EQ(Spec(object), Y("{a: x, labels: {k: v}}"));
  EXPECT_EQ(*Find(object, {"metadata", "managedFields"}), Y(R"(
- {apiVersion: example.com/v1, fieldsType: FieldsV1, manager: m, operation: Apply,
   time: '2024-01-01T00:00:01Z', fieldsV1: {'f:spec': {'f:a': {}, 'f:labels': {'f:k': {}}}}}
)"));
}

TEST(Apply, SameAgainChangesNothing) {
  const Json config = Widget("{a: x, set: [p, q], items: [{name: 'n', value: v}]}");
  const Json once = MustApply(Typed(), nullptr, config, By("m", kT1));
  EXPECT_EQ(MustApply(Typed(), &once, config, By("m", kT2)), once);
}

TEST(Apply, TimeMovesWithValuesAndSets) {
  const Json once = MustApply(Typed(), nullptr, Widget("{a: x}"), By("m", kT1));
  EXPECT_EQ(TimeOf(MustApply(Typed(), &once, Widget("{a: 'y'}"), By("m", kT2)), "m"), kT2);
  EXPECT_EQ(TimeOf(MustApply(Typed(), &once, Widget("{a: x, b: z}"), By("m", kT2)), "m"), kT2);
  const Json shared = MustApply(Typed(), &once, Widget("{a: x}"), By("n", kT2));
  EXPECT_EQ(TimeOf(shared, "m"), kT1);
  EXPECT_EQ(TimeOf(shared, "n"), "");  // it has changed nothing yet
  const Json less = MustApply(Typed(), &shared, Widget("{}"), By("m", kT2));
  EXPECT_EQ(TimeOf(less, "m"), kT1);  // what it gives up stays
  EXPECT_EQ(TimeOf(MustApply(Typed(), &shared, Widget("{a: x, b: z}"), By("n", kT2)), "n"), kT2);
}

TEST(Apply, ReorderedSetIsAChange) {
  const Json once = MustApply(Typed(), nullptr, Widget("{set: [p, q]}"), By("m", kT1));
  const Json again = MustApply(Typed(), &once, Widget("{set: [q, p]}"), By("m", kT2));
  EXPECT_EQ(Spec(again), Y("{set: [q, p]}"));
  EXPECT_EQ(TimeOf(again, "m"), kT2);
}

TEST(Apply, GivesUpFields) {
  const Json once = MustApply(Typed(), nullptr,
                              Widget("{a: x, b: 'y', labels: {k: v, l: w}, set: [p, q], "
                                     "items: [{name: 'n', value: v}, {name: o}]}"),
                              By("m"));
  const Json twice = MustApply(
      Typed(), &once, Widget("{a: x, labels: {k: v}, set: [q], items: [{name: 'n'}]}"), By("m"));
  EXPECT_EQ(Spec(twice), Y("{a: x, labels: {k: v}, set: [q], items: [{name: 'n'}]}"));
  const Json none = MustApply(Typed(), &twice, Widget("{}"), By("m"));
  EXPECT_EQ(Spec(none), Json());
  EXPECT_EQ(Owned(none, "m"), Strings{".spec"});
}

// As the original: what loses its last member is null, which built-ins drop and custom resources
// may refuse, until it is applied once more.
TEST(Apply, EmptiedContainersAreNullAtFirst) {
  const Json once = MustApply(Typed(), nullptr, Widget("{labels: {k: v}}"), By("m"));
  const Json twice = MustApply(Typed(), &once, Widget("{labels: {}}"), By("m"));
  EXPECT_EQ(Spec(twice), Y("{labels: null}"));
  EXPECT_EQ(Owned(twice, "m"), Strings{".spec.labels"});
  EXPECT_EQ(Spec(MustApply(Typed(), &twice, Widget("{labels: {}}"), By("m"))), Y("{labels: {}}"));
}

TEST(Apply, KeepsWhatOthersOwn) {
  Json object =
      MustApply(Typed(), nullptr, Widget("{a: x, items: [{name: 'n', value: v}]}"), By("m"));
  object = MustApply(Typed(), &object, Widget("{a: x, items: [{name: 'n', extra: e}]}"), By("o"));
  EXPECT_EQ(Owned(object, "m"),
            (Strings{".spec.a", R"(.spec.items[name="n"])", R"(.spec.items[name="n"].name)",
                     R"(.spec.items[name="n"].value)"}));
  object = MustApply(Typed(), &object, Widget("{b: 'y'}"), By("m"));
  EXPECT_EQ(Spec(object), Y("{a: x, b: 'y', items: [{name: 'n', extra: e}]}"));
  object = MustApply(Typed(), &object, Widget("{}"), By("o"));
  EXPECT_EQ(Spec(object), Y("{b: 'y'}"));
}

TEST(Apply, UnownedChildrenGoWithTheirItem) {
  Json object = MustApply(Typed(), nullptr, Widget("{items: [{name: 'n'}]}"), By("m"));
  // A default that nobody owns.
  Find(object, {"spec", "items"})->front()["value"] = "defaulted";
  EXPECT_EQ(Spec(MustApply(Typed(), &object, Widget("{items: [{name: 'n'}]}"), By("m"))),
            Y("{items: [{name: 'n', value: defaulted}]}"));
  EXPECT_EQ(Spec(MustApply(Typed(), &object, Widget("{a: x}"), By("m"))), Y("{a: x}"));
}

TEST(Apply, UpdatersKeepTheirFieldsInADroppedItem) {
  Json object = MustApply(Typed(), nullptr, Widget("{items: [{name: 'n', value: v}]}"), By("m"));
  Json updated = object;
  Find(updated, {"spec", "items"})->front()["extra"] = "e";
  TrackUpdate(Typed(), &object, updated, By("u"));
  EXPECT_EQ(Owned(updated, "u"), Strings{R"(.spec.items[name="n"].extra)"});
  const Json dropped = MustApply(Typed(), &updated, Widget("{a: x}"), By("m"));
  // The item itself belonged to m alone, so it goes with everything in it; the list is left
  // empty for u.
  EXPECT_EQ(Spec(dropped), Y("{a: x, items: null}"));
  EXPECT_EQ(Owned(dropped, "u"), Strings{});
}

TEST(Apply, SharedOwnershipOfEqualValues) {
  Json object = MustApply(Typed(), nullptr, Widget("{a: x}"), By("m"));
  object = MustApply(Typed(), &object, Widget("{a: x}"), By("o"));
  EXPECT_EQ(Owned(object, "m"), Strings{".spec.a"});
  EXPECT_EQ(Owned(object, "o"), Strings{".spec.a"});
  // Either owner changing the value meets the other.
  auto result = Apply(Typed(), &object, Widget("{a: 'y'}"), By("m"), false);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(),
            R"(Apply failed with 1 conflict: conflict with "o": .spec.a)");
}

TEST(Apply, ConflictWithOneField) {
  Json object = Widget("{count: 1}");
  TrackUpdate(Typed(), nullptr, object, By("kubectl-create"));
  auto result = Apply(Typed(), &object, Widget("{count: 2}"), By("m"), false);
  ASSERT_FALSE(result.ok());
  const Status& status = result.error();
  EXPECT_EQ(status.code(), 409);
  EXPECT_EQ(status.reason(), Reason::kConflict);
  EXPECT_EQ(status.message(),
            R"(Apply failed with 1 conflict: conflict with "kubectl-create" using example.com/v1: )"
            ".spec.count");
  ASSERT_EQ(status.details().causes.size(), 1u);
  EXPECT_EQ(status.details().causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(status.details().causes[0].message,
            R"(conflict with "kubectl-create" using example.com/v1)");
  EXPECT_EQ(status.details().causes[0].field, ".spec.count");
  EXPECT_TRUE(status.details().name.empty());
}

TEST(Apply, ConflictsWithSeveralManagers) {
  Json object =
      MustApply(Typed(), nullptr, Widget("{a: x, items: [{name: 'n', value: v}]}"), By("z"));
  Json updated = object;
  Set(updated, {"spec", "b"}, "y");
  TrackUpdate(Typed(), &object, updated, By("c", kT1, "example.com/v1", "scale"));
  auto result = Apply(Typed(), &updated, Widget("{a: 1x, b: 1y, items: [{name: 'n', value: w}]}"),
                      By("m"), false);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(),
            "Apply failed with 3 conflicts: conflicts with \"c\" with subresource \"scale\" using "
            "example.com/v1:\n- .spec.b\nconflicts with \"z\":\n- .spec.a\n"
            "- .spec.items[name=\"n\"].value");
  ASSERT_EQ(result.error().details().causes.size(), 3u);
  EXPECT_EQ(result.error().details().causes[1].message, R"(conflict with "z")");
}

TEST(Apply, ForceTakesFields) {
  Json object = MustApply(Typed(), nullptr, Widget("{a: x, b: 'y'}"), By("m"));
  object = MustApply(Typed(), &object, Widget("{a: z}"), By("o"), true);
  EXPECT_EQ(Spec(object), Y("{a: z, b: 'y'}"));
  EXPECT_EQ(Owned(object, "m"), Strings{".spec.b"});
  EXPECT_EQ(Owned(object, "o"), Strings{".spec.a"});
  object = MustApply(Typed(), &object, Widget("{a: z, b: w}"), By("o"), true);
  EXPECT_EQ(TimeOf(object, "m"), "none");
}

TEST(Apply, UntrackedObjectIsAdopted) {
  Json live = Widget("{a: x, b: 'y'}");
  live["status"] = Y("{phase: p}");
  Set(live, {"metadata", "uid"}, "u");
  auto conflict = Apply(Typed(), &live, Widget("{a: z}"), By("m"), false);
  ASSERT_FALSE(conflict.ok());
  EXPECT_EQ(conflict.error().message(),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using "
            "example.com/v1: .spec.a");
  const Json object = MustApply(Typed(), &live, Widget("{a: x}"), By("m"));
  EXPECT_EQ(Owned(object, "before-first-apply"), (Strings{".spec", ".spec.a", ".spec.b"}));
  EXPECT_EQ(Owned(object, "m"), Strings{".spec.a"});
}

TEST(Apply, NewVersionReplacesTheEntry) {
  openapi::ResourceType v2 = Typed();
  v2.gvk.version = "v2";
  const Json once = MustApply(Typed(), nullptr, Widget("{a: x, b: 'y'}"), By("m", kT1));
  Json live = once;
  live["apiVersion"] = "example.com/v2";
  Json config = Widget("{a: x}");
  config["apiVersion"] = "example.com/v2";
  const Json object = MustApply(v2, &live, config, By("m", kT2, "example.com/v2"));
  EXPECT_EQ(Spec(object), Y("{a: x}"));
  const Json& entries = *Find(object, {"metadata", "managedFields"});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(StringAt(entries[0], {"apiVersion"}), "example.com/v2");
}

TEST(Apply, MainEndpointLeavesStatus) {
  Json live = Widget("{a: x}");
  live["status"] = Y("{phase: old}");
  Json config = Widget("{a: x}");
  config["status"] = Y("{phase: new}");
  const Json object = MustApply(Typed(), &live, config, By("m"));
  EXPECT_EQ(StringAt(object, {"status", "phase"}), "old");
  EXPECT_EQ(Owned(object, "m"), Strings{".spec.a"});
  EXPECT_EQ(Find(MustApply(Typed(), nullptr, config, By("m")), {"status"}), nullptr);
}

TEST(Apply, StatusEndpointLeavesTheRest) {
  Json live = MustApply(Typed(), nullptr, Widget("{a: x}"), By("m"));
  Json config = Widget("{a: z}");
  config["status"] = Y("{phase: new}");
  Set(config, {"metadata", "labels"}, Y("{k: v}"));
  const Json object = MustApply(Typed(), &live, config, By("m", kT2, "example.com/v1", "status"));
  EXPECT_EQ(StringAt(object, {"spec", "a"}), "x");
  EXPECT_EQ(Find(object, {"metadata", "labels"}), nullptr);
  EXPECT_EQ(StringAt(object, {"status", "phase"}), "new");
  EXPECT_EQ(Owned(object, "m"), Strings{".spec.a"});
  EXPECT_EQ(Owned(object, "m", "status"), Strings{".status.phase"});
}

TEST(Apply, IdentityIsNeverOwned) {
  Json config = Widget("{a: x}");
  config["metadata"] =
      Y("{name: w, namespace: d, uid: u, resourceVersion: '5', generation: 2, selfLink: s, "
        "creationTimestamp: null, labels: {k: v}, annotations: {'n': o}, finalizers: [f]}");
  const Json object = MustApply(Typed(), nullptr, config, By("m"));
  EXPECT_EQ(Owned(object, "m"), (Strings{".metadata.annotations.n", R"(.metadata.finalizers[="f"])",
                                         ".metadata.labels.k", ".spec.a"}));
}

TEST(Apply, WithoutSchema) {
  const openapi::ResourceType type = Widgets("");
  Json object = MustApply(type, nullptr, Widget("{a: {b: 1, c: 2}, l: [1]}"), By("m"));
  EXPECT_EQ(Owned(object, "m"), (Strings{".spec", ".spec.a", ".spec.l", ".spec.a.b", ".spec.a.c"}));
  object = MustApply(type, &object, Widget("{a: {d: 3}}"), By("o"));
  object = MustApply(type, &object, Widget("{a: {b: 1}, l: [2]}"), By("m"));
  EXPECT_EQ(Spec(object), Y("{a: {b: 1, d: 3}, l: [2]}"));
}

TEST(Apply, UnknownFieldsWherePreserved) {
  const Json object = MustApply(Typed(), nullptr, Widget("{open: {x: {'y': [1, 2]}}}"), By("m"));
  EXPECT_EQ(Owned(object, "m"), (Strings{".spec.open.x", ".spec.open.x.y"}));
}

struct BadConfig {
  const char* spec;
  const char* error;
};

TEST(Apply, TypedErrors) {
  const BadConfig cases[] = {
      {"{zzz: 1}", ".spec.zzz: field not declared in schema"},
      {"{a: 5}", ".spec.a: expected string, got &value.valueUnstructured{Value:5}"},
      {"{count: x}", ".spec.count: expected numeric (int or float), got string"},
      {"{'on': 'yes'}", ".spec.on: expected boolean, got &{yes}"},
      {"{labels: x}", ".spec.labels: expected map, got &{x}"},
      {"{labels: [a, b]}", ".spec.labels: expected map, got &{[a b]}"},
      {"{list: {a: 1}}", ".spec.list: expected list, got &{map[a:1]}"},
      {"{list: [a, 5]}", ".spec.list[1]: expected string, got &value.valueUnstructured{Value:5}"},
      {"{set: [a, a]}", ".spec.set: duplicate entries for key [=\"a\"]"},
      {"{set: [{a: 1}]}",
       ".spec.set: element 0: associative list without keys has an element that's a map type"},
      {"{items: [{name: 'n'}, {name: 'n'}]}", ".spec.items: duplicate entries for key [name=\"n\"]"},
      {"{items: [{value: v}]}",
       ".spec.items: element 0: associative list with keys has an element that omits all key "
       "fields [\"name\"] (and doesn't have default values for any key fields)"},
      {"{items: [{name: 'n', zzz: 1}]}", ".spec.items[name=\"n\"].zzz: field not declared in schema"},
      {"{a: 5, count: x}",
       "errors:\n  .spec.a: expected string, got &value.valueUnstructured{Value:5}\n"
       "  .spec.count: expected numeric (int or float), got string"},
  };
  for (const BadConfig& c : cases) {
    auto result = Apply(Typed(), nullptr, Widget(c.spec), By("m"), false);
    ASSERT_FALSE(result.ok()) << c.spec;
    EXPECT_EQ(result.error().code(), 500);
    EXPECT_EQ(result.error().reason(), Reason::kUnknown);
    EXPECT_EQ(result.error().message(),
              std::string("failed to create typed patch object (d/w; example.com/v1, "
                          "Kind=Widget): ") +
                  c.error);
  }
}

TEST(Apply, RefusesOtherKindsAndManagedFields) {
  Json other = Widget("{}");
  other["apiVersion"] = "example.com/v9";
  auto version = Apply(Typed(), nullptr, other, By("m"), false);
  ASSERT_FALSE(version.ok());
  EXPECT_EQ(version.error().code(), 400);
  EXPECT_EQ(version.error().message(), "invalid object type: example.com/v9, Kind=Widget");
  Json managed = Widget("{}");
  Set(managed, {"metadata", "managedFields"}, Json::array());
  auto result = Apply(Typed(), nullptr, managed, By("m"), false);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), 400);
  EXPECT_EQ(result.error().message(), "metadata.managedFields must be nil");
}

}  // namespace
}  // namespace mailroom::apiserver
