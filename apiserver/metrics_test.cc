#include "apiserver/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/support/test_hub.h"

namespace mailroom {
namespace {

std::ptrdiff_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(Metrics, AreRenderedForPrometheus) {
  apiserver::Metrics metrics;
  metrics.AddCounter("calls_total", "Calls.", "code=\"2xx\"").Add(3);
  metrics.AddCounter("calls_total", "Calls.", "code=\"4xx\"").Add();
  constexpr auto kTotal = apiserver::Metrics::Named::Type::kCounter;
  metrics.AddGauges({{"depth", "Depth."}, {"height", "Height."}, {"falls", "Falls.", kTotal}}, [] {
    return std::vector<double>{9007199254740, 0.5, 2};
  });
  EXPECT_EQ(metrics.Text(),
            "# HELP calls_total Calls.\n# TYPE calls_total counter\n"
            "calls_total{code=\"2xx\"} 3\ncalls_total{code=\"4xx\"} 1\n"
            "# HELP depth Depth.\n# TYPE depth gauge\ndepth 9007199254740\n"
            "# HELP height Height.\n# TYPE height gauge\nheight 0.5\n"
            "# HELP falls Falls.\n# TYPE falls counter\nfalls 2\n");
}

TEST(Metrics, TellOfTheRiverToTheAdministratorOnly) {
  TestHub hub;
  const auto first = hub.Get("/metrics");
  ASSERT_EQ(first.code, 200);
  for (const char* line :
       {"\nmailroom_river_lag_revisions 0\n", "\nmailroom_watchers ", "\nmailroom_cached_objects ",
        "\nmailroom_unreadable_values 0\n",
        "\nmailroom_answers_total{code=\"2xx\"} "}) {
    EXPECT_NE(first.text.find(line), std::string::npos) << line;
  }
  for (int i = 0; i < 10; ++i) hub.NewWorkspace("w" + std::to_string(i), "wds");
  const auto second = hub.Get("/metrics");
  EXPECT_EQ(Lines(second.text), Lines(first.text)) << "the number of series must not grow";
  EXPECT_NE(second.text, first.text);
  EXPECT_EQ(hub.Get("/clusters/w1/metrics").code, 404);
  Request nobody;
  nobody.method = "GET";
  nobody.path = "/metrics";
  EXPECT_EQ(hub.Send(nobody).code, 403);
}

}  // namespace
}  // namespace mailroom
