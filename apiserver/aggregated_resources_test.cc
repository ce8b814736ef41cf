#include "apiserver/aggregated_resources.h"

#include <gtest/gtest.h>

#include "storage/object/json.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kRoom = 8 * 1024 * 1024;

RemoteApi Api() {
  RemoteApi api;
  api.group = "g.example.com";
  api.version = "v1";
  return api;
}

Json Shown(const Json& resources) {
  const auto text = AggregatedResources(resources, Api(), kRoom);
  return text ? ParseJson(*text).value() : Json();
}

Json Named(const std::string& name) { return {{"name", name}, {"kind", "K"}, {"verbs", {"get"}}}; }

TEST(AggregatedResources, SubresourcesAreWithTheirOwn) {
  Json scale = Named("things/scale");
  scale["group"] = "autoscaling";
  scale["kind"] = "Scale";
  const Json shown = Shown(Json::array({Named("things"), scale, Named("others")}));
  ASSERT_EQ(shown.size(), 2u) << shown;
  EXPECT_EQ(shown[0]["resource"], "things");
  EXPECT_EQ(shown[0]["responseKind"],
            Json({{"group", "g.example.com"}, {"version", "v1"}, {"kind", "K"}}));
  EXPECT_EQ(shown[0]["subresources"],
            Json::array({{{"subresource", "scale"},
                          {"responseKind",
                           {{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}}},
                          {"verbs", {"get"}}}}));
  EXPECT_FALSE(shown[1].contains("subresources"));
}

TEST(AggregatedResources, ASubresourceAloneStandsForItsResource) {
  const Json shown = Shown(Json::array({Named("things/status"), Named("things/scale")}));
  ASSERT_EQ(shown.size(), 1u) << shown;
  EXPECT_EQ(shown[0]["resource"], "things");
  EXPECT_EQ(shown[0]["verbs"], Json());
  EXPECT_EQ(shown[0]["responseKind"], Json({{"group", ""}, {"version", ""}, {"kind", ""}}));
  EXPECT_EQ(shown[0]["subresources"].size(), 2u);
}

TEST(AggregatedResources, WhateverIsSaidIsJson) {
  const Json odd = Json::array({1, "x", nullptr, Json::object(), {{"name", 7}}, {{"name", "a\"b"}},
                                {{"name", "c"}, {"verbs", "all"}, {"shortNames", {1, "s"}}}});
  const Json shown = Shown(odd);
  ASSERT_EQ(shown.size(), 2u) << shown;
  EXPECT_EQ(shown[0]["resource"], "a\"b");
  EXPECT_EQ(shown[1]["verbs"], Json::array());
  EXPECT_EQ(shown[1]["shortNames"], Json::array({"s"}));
}

// Comparing each with each would take minutes.
TEST(AggregatedResources, ManyTakeLittleTime) {
  constexpr int kMany = 20'000;
  Json resources = Json::array();
  for (int i = 0; i < kMany; ++i) resources.push_back({{"name", "r" + std::to_string(i)}});
  for (int i = 0; i < kMany; ++i) resources.push_back({{"name", "r" + std::to_string(i) + "/s"}});
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(Shown(resources).size(), static_cast<std::size_t>(kMany));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST(AggregatedResources, LongerThanAskedForIsNothing) {
  const Json resources = Json::array({Named("things"), Named("things/status")});
  const std::size_t length = AggregatedResources(resources, Api(), kRoom)->size();
  EXPECT_TRUE(AggregatedResources(resources, Api(), length + 32));
  EXPECT_FALSE(AggregatedResources(resources, Api(), length - 1));
}

}  // namespace
}  // namespace mailroom::apiserver
