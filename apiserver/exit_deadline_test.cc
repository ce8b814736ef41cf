#include "apiserver/exit_deadline.h"

#include <gtest/gtest.h>

namespace mailroom::apiserver {
namespace {

using namespace std::chrono_literals;

TEST(ExitDeadlineDeathTest, EndsAProcessThatHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ExitDeadline deadline(10ms);
        std::this_thread::sleep_for(60s);
      },
      testing::ExitedWithCode(1), "not stopped in time");
}

TEST(ExitDeadlineDeathTest, LeavesOneAloneThatStopsInTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        // Its thread is waited for: were it not told, it would end the process first.
        { ExitDeadline deadline(30s); }
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mailroom::apiserver
