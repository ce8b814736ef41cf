// Which state a list shows: every combination of resourceVersion, resourceVersionMatch and limit.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";

enum class Shows { kOld, kNew, kInvalid, kTooLarge };

std::string Text(Shows shows) {
  static const char* const kTexts[] = {"old", "new", "422", "504"};
  return kTexts[static_cast<int>(shows)];
}

class ListMatrix : public testing::Test {
 protected:
  ListMatrix() {
    hub.Do("POST", kMaps, ConfigMap("a", {{"v", "1"}}));
    old = StringAt(hub.Do("POST", kMaps, ConfigMap("b")).body, {"metadata", "resourceVersion"});
    now = StringAt(hub.Do("PUT", kMaps + "/a", ConfigMap("a", {{"v", "2"}})).body,
                   {"metadata", "resourceVersion"});
  }
  std::string Found(const TestHub::Answer& answer, bool limited) {
    if (answer.code != 200) return std::to_string(answer.code);
    const Json& items = answer.body["items"];
    EXPECT_TRUE(items.size() == 2 || (limited && items.size() == 1)) << answer.text;
    EXPECT_EQ(items.size() == 1, !StringAt(answer.body, {"metadata", "continue"}).empty())
        << answer.text;
    const std::string revision = StringAt(answer.body, {"metadata", "resourceVersion"});
    const std::string value = StringAt(items[0], {"data", "v"});
    EXPECT_EQ(revision, value == "1" ? old : now);
    return value == "1" ? "old" : "new";
  }
  TestHub hub;
  std::string old, now;
};

TEST_F(ListMatrix, EveryCombination) {
  const std::string future = std::to_string(std::stoull(now) + 1000);
  struct Row {
    std::string revision, match;
    Shows whole, page;  // without and with a limit
  };
  const Row rows[] = {
      {"", "", Shows::kNew, Shows::kNew},
      {"", "Exact", Shows::kInvalid, Shows::kInvalid},
      {"", "NotOlderThan", Shows::kInvalid, Shows::kInvalid},
      {"", "Sometimes", Shows::kInvalid, Shows::kInvalid},
      {"0", "", Shows::kNew, Shows::kNew},
      {"0", "Exact", Shows::kInvalid, Shows::kInvalid},
      {"0", "NotOlderThan", Shows::kNew, Shows::kNew},
      {old, "", Shows::kNew, Shows::kOld},
      {old, "Exact", Shows::kOld, Shows::kOld},
      {old, "NotOlderThan", Shows::kNew, Shows::kNew},
      {old, "Sometimes", Shows::kInvalid, Shows::kInvalid},
      {now, "", Shows::kNew, Shows::kNew},
      {now, "Exact", Shows::kNew, Shows::kNew},
      {now, "NotOlderThan", Shows::kNew, Shows::kNew},
      {future, "Exact", Shows::kTooLarge, Shows::kTooLarge},
  };
  for (const Row& row : rows) {
    std::string query = "?";
    if (!row.revision.empty()) query += "resourceVersion=" + row.revision + "&";
    if (!row.match.empty()) query += "resourceVersionMatch=" + row.match + "&";
    EXPECT_EQ(Found(hub.Get(kMaps + query), false), Text(row.whole)) << query;
    EXPECT_EQ(Found(hub.Get(kMaps + query + "limit=1"), true), Text(row.page))
        << query << "limit=1";
  }
}

TEST_F(ListMatrix, OneObjectIsNotOlderThanAsked) {
  for (const std::string& revision : {std::string("0"), old, now}) {
    const auto read = hub.Get(kMaps + "/a?resourceVersion=" + revision);
    EXPECT_EQ(StringAt(read.body, {"data", "v"}), "2") << revision;
  }
  const auto future =
      hub.Get(kMaps + "/a?resourceVersion=" + std::to_string(std::stoull(now) + 1000));
  EXPECT_EQ(future.code, 504);
  EXPECT_EQ(StringAt(future.body["details"]["causes"][0], {"reason"}), "ResourceVersionTooLarge");
  EXPECT_EQ(future.headers.Get("retry-after"), "1");
}

}  // namespace
}  // namespace mailroom
