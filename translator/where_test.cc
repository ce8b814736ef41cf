#include "translator/where.h"

#include <gtest/gtest.h>

#include "translator/keys.h"
#include "translator/test_objects.h"

namespace mailroom::translator {
namespace {

ObjectPtr Labelled(const std::string& labels) {
  return MakeObject("apiVersion: v1\nkind: X\nmetadata: {name: x, labels: " + labels + "}");
}

TEST(Where, ClusterSelectors) {
  struct Case {
    std::string selectors;
    std::string labels;
    bool selected;
  };
  const std::vector<Case> cases = {
      {"[]", "{a: b}", false},
      {"[{}]", "{}", true},
      {"[{matchLabels: {a: b}}]", "{a: b, c: d}", true},
      {"[{matchLabels: {a: b, c: x}}]", "{a: b, c: d}", false},
      {"[{matchLabels: {a: x}}, {matchLabels: {c: d}}]", "{a: b, c: d}", true},
      {"[{matchExpressions: [{key: a, operator: In, values: [b, z]}]}]", "{a: b}", true},
      {"[{matchExpressions: [{key: a, operator: DoesNotExist}]}]", "{a: b}", false},
  };
  for (const Case& c : cases) {
    const Placement placement =
        ParseBindingPolicy(Yaml("spec: {clusterSelectors: " + c.selectors + "}"));
    for (const auto kind :
         {InventoryEntry::Kind::kSyncTarget, InventoryEntry::Kind::kManagedCluster}) {
      const InventoryEntry entry{
          .kind = kind, .workspace = "its1", .mailbox = "m", .object = Labelled(c.labels)};
      EXPECT_EQ(Selects(placement, entry, {}), c.selected) << c.selectors << " " << c.labels;
    }
  }
}

TEST(Where, LocationsGroupSyncTargetsOfTheirOwnWorkspace) {
  const auto location = [](const std::string& workspace, const std::string& spec) {
    return ParseLocation(workspace, MakeObject(R"(
apiVersion: edge.kubestellar.io/v2alpha1
kind: Location
metadata: {name: florin, labels: {env: prod}}
spec: )" + spec));
  };
  struct Case {
    std::vector<Location> locations;
    bool selected;
  };
  const std::vector<Case> cases = {
      {{}, false},
      {{location("its1", "{instanceSelector: {matchLabels: {id: florin}}}")}, true},
      {{location("its2", "{instanceSelector: {matchLabels: {id: florin}}}")}, false},
      {{location("its1", "{instanceSelector: {matchLabels: {id: other}}}")}, false},
      {{location("its1", "{instanceSelector: {}}")}, true},
      {{location("its1", "{}")}, false},
  };
  const Placement placement =
      ParseEdgePlacement(Yaml("spec: {locationSelectors: [{matchLabels: {env: prod}}]}"));
  InventoryEntry entry{.kind = InventoryEntry::Kind::kSyncTarget,
                       .workspace = "its1",
                       .mailbox = "m",
                       .object = Labelled("{id: florin}")};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(Selects(placement, entry, cases[i].locations), cases[i].selected) << i;
  }
  entry.kind = InventoryEntry::Kind::kManagedCluster;
  EXPECT_FALSE(Selects(placement, entry, cases[1].locations));
}

}  // namespace
}  // namespace mailroom::translator
