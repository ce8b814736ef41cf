// What ClusterRoles gather that gather others, and that it costs little whatever they select.
#include "apiserver/auth/aggregation.h"

#include <gtest/gtest.h>

#include <ctime>

#include "storage/object/limits.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kGroup = "rbac.authorization.k8s.io";
const std::string kRbac = "/apis/" + kGroup + "/v1";

// Roles that all gather each other: what they come to is found once for all of them.
TEST(Aggregation, OfRolesThatGatherEachOtherCostsLittle) {
  const Json selectors = {{"clusterRoleSelectors", Json::array({{{"matchLabels", {{"knot", "yes"}}}}})}};
  const Json labels = {{"labels", {{"knot", "yes"}}}};
  apiserver::Server::Options options;
  options.controllers = false;  // who would write what they gather
  TestHub quiet(options);
  const std::string roles = quiet.NewWorkspace("c2", "cluster") + kRbac + "/clusterroles";
  auto post = [&](const std::string& path, Json object, const std::string& kind, const std::string& name) {
    object["apiVersion"] = kGroup + "/v1";
    object["kind"] = kind;
    object["metadata"]["name"] = name;
    const auto made = quiet.Do("POST", path, object);
    ASSERT_EQ(made.code, 201) << made.text;
  };
  for (int i = 0; i < 300; ++i) {
    post(roles, {{"metadata", labels}, {"aggregationRule", selectors}}, "ClusterRole", "knot-" + std::to_string(i));
  }
  post(roles, {{"metadata", labels}, {"rules", Json::array({{{"verbs", {"list"}}, {"apiGroups", {""}}, {"resources", {"nodes"}}}})}}, "ClusterRole", "leaf");
  post("/clusters/c2" + kRbac + "/clusterrolebindings",
       {{"roleRef", {{"apiGroup", kGroup}, {"kind", "ClusterRole"}, {"name", "knot-7"}}}, {"subjects", Json::array({{{"apiGroup", kGroup}, {"kind", "User"}, {"name", "alice"}}})}},
       "ClusterRoleBinding", "alice");
  Request request;
  request.method = "GET";
  request.path = "/clusters/c2/api/v1/nodes";
  request.peer.common_name = "alice";
  const std::clock_t before = std::clock();
  EXPECT_EQ(quiet.Send(request).code, 200);
  EXPECT_LT(std::clock() - before, 2 * CLOCKS_PER_SEC);
}

class Gathered : public testing::Test {
 protected:
  // A role with a label, and one right of its own name or what the selectors gather.
  void Add(const std::string& label, const std::vector<std::string>& gathers) {
    const std::string name = "r" + std::to_string(1000 + kept.size());
    auto role = std::make_unique<apiserver::Role>();
    role->object = Object::Make({{"apiVersion", kGroup + "/v1"}, {"kind", "ClusterRole"},
                                 {"metadata", {{"name", name}, {"labels", {{"l", label}}}}}}, Revision(1));
    for (const std::string& text : gathers) role->aggregates.push_back(LabelSelector::Parse(text).value());
    role->rules = std::make_shared<const apiserver::Rules>(
        apiserver::Rules{{{"get"}, {""}, {gathers.empty() ? name : "stale"}, {}, {}}});
    roles.push_back(role.get());
    kept.push_back(std::move(role));
  }
  // What each holds, "-" for those that gather nothing.
  std::vector<std::string> All() {
    std::vector<std::string> out;
    for (const auto& rules : apiserver::UnitedRules(roles)) {
      out.emplace_back(rules == nullptr ? "-" : "");
      if (rules == nullptr) continue;
      for (const apiserver::Rule& rule : *rules) out.back() += rule.resources.front() + " ";
    }
    return out;
  }
  std::vector<std::unique_ptr<apiserver::Role>> kept;
  std::vector<const apiserver::Role*> roles;
};

TEST_F(Gathered, WhatIsGatheredByOthersIsGatheredToo) {
  Add("a", {"l=b"});
  Add("b", {"l in (c,d)", "l=d"});
  Add("b", {});
  Add("c", {"l=a"});  // a ring
  Add("d", {});
  Add("e", {"l=none"});
  Add("f", {"l=f"});
  EXPECT_EQ(All(), (std::vector<std::string>{"r1002 r1004 ", "r1002 r1004 ", "-", "r1002 r1004 ", "-", "", ""}));
}

TEST_F(Gathered, PastTheBoundNothingIs) {
  Add("leaf", {});
  for (std::size_t i = 0; i <= limits::kAggregatedRoles; ++i) Add("knot", {"l=leaf"});
  std::vector<std::string> all = All();
  EXPECT_EQ(all.at(limits::kAggregatedRoles), "r1000 ");
  EXPECT_EQ(all.back(), "");
  // Selectors that all differ take as long as they take, but no longer than they may.
  for (std::size_t i = 1; i < roles.size(); ++i) {
    kept[i]->aggregates = {LabelSelector::Parse("l=leaf,l!=" + std::to_string(i)).value()};
  }
  all = All();
  EXPECT_EQ(all.at(1), "r1000 ");
  EXPECT_EQ(all.at(limits::kAggregatedRoles), "") << "a million steps are over by then";
}

}  // namespace
}  // namespace mailroom
