#include "apiserver/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace mailroom::apiserver {
namespace {

TEST(WorkerPoolTest, RunsEveryAcceptedTask) {
  std::atomic<int> ran = 0;
  WorkerPool pool(4, 1000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(pool.Submit([&] { ++ran; }));
  }
  pool.Stop();
  EXPECT_EQ(ran, 1000);
}

TEST(WorkerPoolTest, RefusesWhenTheQueueIsFull) {
  WorkerPool pool(1, 2);
  std::promise<void> started, release;
  ASSERT_TRUE(pool.Submit([&] {
    started.set_value();
    release.get_future().wait();
  }));
  started.get_future().wait();
  std::atomic<int> ran = 0;
  EXPECT_TRUE(pool.Submit([&] { ++ran; }));
  EXPECT_TRUE(pool.Submit([&] { ++ran; }));
  EXPECT_EQ(pool.queued(), 2u);
  EXPECT_FALSE(pool.Submit([&] { ++ran; }));
  release.set_value();
  pool.Stop();
  EXPECT_EQ(ran, 2);
}

TEST(WorkerPoolTest, RefusesAfterStop) {
  WorkerPool pool(1, 2);
  pool.Stop();
  pool.Stop();
  EXPECT_FALSE(pool.Submit([] {}));
}

TEST(WorkerPoolTest, TasksRunAtTheSameTime) {
  WorkerPool pool(2, 2);
  std::promise<void> first, second;
  ASSERT_TRUE(pool.Submit([&] {
    first.set_value();
    second.get_future().wait();
  }));
  ASSERT_TRUE(pool.Submit([&] {
    first.get_future().wait();
    second.set_value();
  }));
  pool.Stop();
}

}  // namespace
}  // namespace mailroom::apiserver
