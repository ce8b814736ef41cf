// Properties of apply that hold for any configuration.
#include <gtest/gtest.h>

#include <random>

#include "apiserver/apply.h"
#include "apiserver/apply_ownership.h"
#include "apiserver/apply_test_types.h"
#include "apiserver/managed_fields.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kSchema = R"(
type: object
properties:
  spec:
    type: object
    properties:
      scalar: {type: string}
      number: {type: integer}
      map: {type: object, additionalProperties: {type: string}}
      atomic: {type: object, additionalProperties: {type: string}, x-kubernetes-map-type: atomic}
      list: {type: array, items: {type: string}}
      set: {type: array, items: {type: string}, x-kubernetes-list-type: set}
      items:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name, zone]
        items:
          type: object
          properties:
            name: {type: string}
            zone: {type: string, default: z}
            value: {type: string}
            map: {type: object, additionalProperties: {type: string}}
      open: {x-kubernetes-preserve-unknown-fields: true}
)";

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  unsigned Below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  bool Chance(unsigned one_in) { return Below(one_in) == 0; }
  std::string Word() { return {"abcde"[Below(5)]}; }

  Json Words() {
    Json out = Json::array();
    for (unsigned n = Below(4); n > 0; --n) {
      const std::string word = Word();
      if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
    }
    return out;
  }
  Json Map() {
    Json out = Json::object();
    for (unsigned n = Below(4); n > 0; --n) out[Word()] = Word();
    return out;
  }
  Json Items() {
    Json out = Json::array();
    for (const Json& name : Words()) {
      Json item = {{"name", name}};
      if (Chance(2)) item["zone"] = Word();
      if (Chance(2)) item["value"] = Word();
      if (Chance(3)) item["map"] = Map();
      out.push_back(std::move(item));
    }
    return out;
  }
  Json Open(int depth) {
    if (depth == 0 || Chance(3)) return Chance(2) ? Json(Word()) : Words();
    Json out = Json::object();
    for (unsigned n = Below(3); n > 0; --n) out[Word()] = Open(depth - 1);
    return out;
  }
  Json Config() {
    Json spec = Json::object();
    spec["scalar"] = Word();  // something is owned, or the object would count as untracked
    if (Chance(2)) spec["number"] = Below(3);
    if (Chance(2)) spec["map"] = Map();
    if (Chance(2)) spec["atomic"] = Map();
    if (Chance(2)) spec["list"] = Words();
    if (Chance(2)) spec["set"] = Words();
    if (Chance(2)) spec["items"] = Items();
    if (Chance(2)) spec["open"] = Open(2);
    Json object = Widget("{}");
    object["spec"] = std::move(spec);
    return object;
  }

 private:
  std::mt19937 random_;
};

Writer By(const std::string& manager, const std::string& now = "2024-01-01T00:00:00Z") {
  return {manager, "example.com/v1", "", now};
}

FieldSet OwnedBy(const Json& object, const std::string& manager) {
  auto managed = ManagedFields::Of(object);
  EXPECT_TRUE(managed.ok());
  for (const OwnerEntry& entry : managed->entries()) {
    if (entry.manager == manager) return entry.fields;
  }
  return {};
}

FieldSet Tracked(const openapi::ResourceType& type, const Json& config) {
  FieldSet set = FieldsOf(type.schema, config);
  DropUntracked(set);
  return set;
}

class ApplyProperties : public testing::TestWithParam<bool> {};

TEST_P(ApplyProperties, HoldForRandomHistories) {
  const bool with_schema = GetParam();
  const openapi::ResourceType type = Widgets(with_schema ? kSchema : "");
  for (unsigned seed = 0; seed < 150; ++seed) {
    Generator generate(seed);
    Json live;
    for (int step = 0; step < 6; ++step) {
      const std::string manager = {"mno"[generate.Below(3)]};
      const Json config = generate.Config();
      auto applied = Apply(type, live.is_null() ? nullptr : &live, config, By(manager), true);
      ASSERT_TRUE(applied.ok()) << applied.error().message();

      // Applying again, at another time, changes nothing, but for what the first time emptied.
      const std::string text = DumpJson(*applied) + DumpJson(config);
      if (text.find(":null") != std::string::npos || text.find(":[]") != std::string::npos) {
        applied = Apply(type, &*applied, config, By(manager), true);
        ASSERT_TRUE(applied.ok()) << applied.error().message();
      }
      auto again = Apply(type, &*applied, config, By(manager, "2025-01-01T00:00:00Z"), false);
      ASSERT_TRUE(again.ok()) << again.error().message();
      ASSERT_EQ(*again, *applied) << DumpJson(config);

      // The configuration is in the object, and owned exactly.
      const FieldChanges missing = CompareFields(type.schema, config, *applied);
      ASSERT_FALSE(missing.removed.Intersects(Tracked(type, config)));
      ASSERT_FALSE(missing.modified.Intersects(Tracked(type, config))) << DumpJson(config);
      ASSERT_TRUE(OwnedBy(*applied, manager) == Tracked(type, config)) << DumpJson(config);

      // Whatever an applier owns exists.
      Json stripped = *applied;
      StripMissingOwned(type, stripped);
      ASSERT_TRUE(OwnedBy(stripped, manager) == OwnedBy(*applied, manager));

      live = std::move(*applied);
      if (!generate.Chance(3)) continue;
      Json updated = generate.Config();
      Set(updated, {"metadata", "uid"}, "u");
      TrackUpdate(type, &live, updated, By("updater"));
      live = std::move(updated);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, ApplyProperties, testing::Bool());

TEST(ApplyProperties, OneManagerAloneHasExactlyItsConfig) {
  const openapi::ResourceType type = Widgets(kSchema);
  for (unsigned seed = 0; seed < 150; ++seed) {
    Generator generate(seed + 1000);
    Json live = *Apply(type, nullptr, generate.Config(), By("m"), false);
    const Json config = generate.Config();
    auto applied = Apply(type, &live, config, By("m"), false);
    ASSERT_TRUE(applied.ok());
    ASSERT_TRUE(Tracked(type, *applied) == Tracked(type, config)) << DumpJson(live) << "\n"
                                                                  << DumpJson(config) << "\n"
                                                                  << DumpJson(*applied);
  }
}

}  // namespace
}  // namespace mailroom::apiserver
