#include "storage/object/rest.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace mailroom {
namespace {

using Clock = std::chrono::steady_clock;

// What is waited for comes as it would without a rest, from before, during and after the wait.
TEST(Rest, EndsWithWhatIsWaitedFor) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::stop_source never;
  int given = 0;
  for (const bool worked : {true, false}) {
    std::jthread giver([&] {
      for (int i = 0; i < 1000; ++i) {
        std::lock_guard lock(mutex);
        ++given;
        condition.notify_all();
      }
    });
    for (int taken = 0; taken < 1000;) {
      std::unique_lock lock(mutex);
      HasWorked() = worked;
      ASSERT_TRUE(WaitAtRest(condition, lock, never.get_token(), [&] { return given > 0; }));
      taken += std::exchange(given, 0);
    }
  }
}

TEST(Rest, EndsInTimeAndWhenAskedToStop) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::stop_source stop;
  const auto never = [] { return false; };
  std::unique_lock lock(mutex);
  for (const bool worked : {true, false}) {
    HasWorked() = worked;
    const auto end = Clock::now() + std::chrono::milliseconds(5);
    EXPECT_FALSE(WaitAtRest(condition, lock, stop.get_token(), never, end));
    EXPECT_GE(Clock::now(), end);
    EXPECT_TRUE(HasWorked());
    HasWorked() = worked;
    std::condition_variable plain;
    std::unique_lock other(mutex, std::defer_lock);
    lock.unlock();
    other.lock();
    const auto later = Clock::now() + std::chrono::milliseconds(5);
    while (Clock::now() < later) WaitAtRest(plain, other, later);
    other.unlock();
    lock.lock();
  }
  std::jthread asks([&] { stop.request_stop(); });
  HasWorked() = true;
  EXPECT_FALSE(WaitAtRest(condition, lock, stop.get_token(), never));
  HasWorked() = false;
  EXPECT_FALSE(WaitAtRest(condition, lock, stop.get_token(), never));
}

}  // namespace
}  // namespace mailroom
