#include "mailbox/location_counts.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::mailbox {
namespace {

ObjectPtr Target(const Json& labels, const std::string& ready = "", bool leaving = false) {
  Json object = {{"apiVersion", "edge.kubestellar.io/v2alpha1"}, {"kind", "SyncTarget"},
                 {"metadata", {{"name", "t"}, {"uid", "u"}, {"labels", labels}}}};
  if (!ready.empty()) {
    Set(object, {"status", "conditions"},
        Json::array({{{"type", "SyncerReady"}, {"status", "True"}}, {{"type", "Ready"}, {"status", ready}}}));
  }
  if (leaving) Set(object, {"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z");
  return Object::Make(object, Revision(1));
}

ObjectPtr Location(const Json& selector) {
  Json object = {{"apiVersion", "edge.kubestellar.io/v2alpha1"}, {"kind", "Location"},
                 {"metadata", {{"name", "l"}, {"uid", "u"}}}, {"spec", Json::object()}};
  if (!selector.is_null()) Set(object, {"spec", "instanceSelector"}, selector);
  return Object::Make(object, Revision(1));
}

using Names = std::vector<std::string>;

TEST(LocationCounts, FollowTargetsAndSelectors) {
  LocationCounts counts;
  counts.PutLocation("its1", "florin", Location({{"matchLabels", {{"id", "florin"}}}}));
  counts.PutLocation("its1", "all", Location(Json::object()));
  counts.PutLocation("its1", "none", Location(nullptr));
  EXPECT_EQ(counts.Of("its1", "all"), (Instances{0, 0}));
  EXPECT_EQ(counts.Of("its1", "nowhere"), std::nullopt);
  EXPECT_EQ(counts.PutTarget("its1", "a", Target({{"id", "florin"}})), (Names{"all", "florin"}));
  EXPECT_EQ(counts.PutTarget("its1", "b", Target({{"id", "guilder"}}, "True")), (Names{"all"}));
  EXPECT_EQ(counts.PutTarget("its2", "c", Target({{"id", "florin"}})), Names{}) << "another inventory";
  EXPECT_EQ(counts.Of("its1", "florin"), (Instances{1, 0}));
  EXPECT_EQ(counts.Of("its1", "all"), (Instances{2, 1}));
  EXPECT_EQ(counts.Of("its1", "none"), (Instances{0, 0}));
  EXPECT_EQ(counts.PutTarget("its1", "a", Target({{"id", "florin"}}, "False")), Names{}) << "no news";
  EXPECT_EQ(counts.PutTarget("its1", "a", Target({{"id", "florin"}}, "True")), (Names{"all", "florin"}));
  EXPECT_EQ(counts.Of("its1", "florin"), (Instances{1, 1}));
  EXPECT_EQ(counts.PutTarget("its1", "a", Target({{"id", "florin"}}, "True", true)), (Names{"all", "florin"}))
      << "one that is going is no instance";
  EXPECT_EQ(counts.PutTarget("its1", "a", nullptr), Names{});
  EXPECT_EQ(counts.Of("its1", "all"), (Instances{1, 1}));
  // A selector that changes counts anew.
  counts.PutLocation("its1", "florin", Location({{"matchLabels", {{"id", "guilder"}}}}));
  EXPECT_EQ(counts.Of("its1", "florin"), (Instances{1, 1}));
  counts.PutLocation("its1", "florin", nullptr);
  EXPECT_EQ(counts.Of("its1", "florin"), std::nullopt);
}

// However things came about, the counts are those of counting everything.
TEST(LocationCounts, AreWhatCountingWouldSay) {
  std::mt19937 random(7);
  auto some = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const std::vector<Json> selectors = {
      nullptr, Json::object(), {{"matchLabels", {{"a", "1"}}}}, {{"matchLabels", {{"a", "1"}, {"b", "2"}}}},
      {{"matchExpressions", Json::array({{{"key", "a"}, {"operator", "NotIn"}, {"values", {"1"}}}})}},
      {{"matchLabels", {{"b", "2"}}}, {"matchExpressions", Json::array({{{"key", "a"}, {"operator", "Exists"}}})}}};
  LocationCounts counts;
  std::map<std::string, ObjectPtr> targets;
  std::map<std::string, Json> locations;
  for (int step = 0; step < 3000; ++step) {
    const std::string name = std::to_string(some(12));
    if (some(3) == 0) {
      const Json selector = selectors[static_cast<std::size_t>(some(static_cast<int>(selectors.size())))];
      const bool gone = some(4) == 0;
      counts.PutLocation("w", name, gone ? nullptr : Location(selector));
      if (gone) {
        locations.erase(name);
      } else {
        locations[name] = selector;
      }
    } else {
      Json labels = Json::object();
      if (some(2) == 0) labels["a"] = std::to_string(some(3));
      if (some(2) == 0) labels["b"] = std::to_string(some(3));
      const ObjectPtr now = some(4) == 0 ? nullptr : Target(labels, some(2) == 0 ? "True" : "False", some(8) == 0);
      counts.PutTarget("w", name, now);
      targets[name] = now;
    }
    for (const auto& [location, selector] : locations) {
      Instances wanted;
      for (const auto& [unused, target] : targets) {
        if (target == nullptr || selector.is_null() || !target->meta().deletion_timestamp.empty()) continue;
        if (!LabelSelector::FromJson(selector)->Matches(target->meta().labels)) continue;
        ++wanted.all;
        if (target->bytes().find(R"("status":"True","type":"Ready")") != std::string_view::npos) ++wanted.available;
      }
      ASSERT_EQ(counts.Of("w", location), wanted) << step;
    }
  }
}

}  // namespace
}  // namespace mailroom::mailbox
