#include "apiserver/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

namespace mailroom::apiserver {
namespace {

// The thread that has run last runs next: what it needs is near. Taking turns, all would run.
TEST(WorkerPoolTest, FewThreadsDoLittleWork) {
  constexpr std::size_t kThreads = 8;
  WorkerPool pool(kThreads, 100);
  std::set<std::thread::id> seen;
  for (int i = 0; i < 100; ++i) {
    auto ran = std::make_shared<std::promise<std::thread::id>>();
    ASSERT_TRUE(pool.Submit([ran] { ran->set_value(std::this_thread::get_id()); }));
    seen.insert(ran->get_future().get());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it may lie down again
  }
  EXPECT_LT(seen.size(), kThreads);
}

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

TEST(WorkerPoolTest, AbandonDropsWhatHasNotBegun) {
  WorkerPool pool(1, 10);
  std::promise<void> started, release;
  std::atomic<int> ran = 0;
  ASSERT_TRUE(pool.Submit("a", [&] {
    started.set_value();
    release.get_future().wait();
    ++ran;
  }));
  started.get_future().wait();
  const auto held = std::make_shared<int>(0);
  for (const char* flow : {"", "a", "b"}) {
    ASSERT_TRUE(pool.Submit(flow, [&ran, held] { ++ran; }));
  }
  pool.Abandon();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(pool.queued(), 0u);
  EXPECT_FALSE(pool.Submit([] {}));
  release.set_value();
  pool.Stop();
  EXPECT_EQ(ran, 1);
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

TEST(WorkerPoolTest, OthersStandInForThoseThatWaitElsewhere) {
  WorkerPool pool(1, 10, 2);
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::atomic<int> waiting = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Submit([&] {
      ++waiting;  // before the stand-in, which may run at once, is called
      const WaitElsewhere elsewhere;
      released.wait();
    }));
  }
  // Runs only because two threads stand in for the two that wait.
  std::promise<void> ran;
  ASSERT_TRUE(pool.Submit([&] { ran.set_value(); }));
  ran.get_future().wait();
  EXPECT_EQ(waiting, 2);
  release.set_value();
  // Back to one thread at a time.
  std::atomic<int> running = 0, most = 0, done = 0;
  std::promise<void> all;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(pool.Submit([&] {
      const int now = ++running;
      int seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      --running;
      if (++done == 8) all.set_value();
    }));
  }
  all.get_future().wait();
  EXPECT_LE(most, 3);
  pool.Stop();
}

TEST(WorkerPoolTest, StandInsAreBounded) {
  WorkerPool pool(1, 10, 1);
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::promise<void> second;
  ASSERT_TRUE(pool.Submit([&] {
    const WaitElsewhere elsewhere;
    released.wait();
  }));
  ASSERT_TRUE(pool.Submit([&] {
    const WaitElsewhere elsewhere;
    second.set_value();
    released.wait();
  }));
  second.get_future().wait();
  std::atomic<bool> ran = false;
  ASSERT_TRUE(pool.Submit([&] { ran = true; }));
  EXPECT_EQ(pool.queued(), 1u);
  EXPECT_FALSE(ran);
  release.set_value();
  pool.Stop();
  EXPECT_TRUE(ran);
}

// One flow has 500 tasks in line before the other's ten arrive, and those are run in the next
// turns. One thread, so that the order of running is the order of taking.
TEST(WorkerPoolTest, AStormInOneFlowLeavesTheOthersTheirTurn) {
  WorkerPool pool(1, 4096);
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  ASSERT_TRUE(pool.Submit("storm", [released] { released.wait(); }));
  std::atomic<int> stormed = 0, before = 0, served = 0;
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(pool.Submit("storm", [&] { ++stormed; }));
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(pool.Submit("quiet", [&] {
      before = stormed.load();
      ++served;
    }));
  }
  release.set_value();
  pool.Stop();
  EXPECT_EQ(served, 10);
  EXPECT_EQ(stormed, 500);
  EXPECT_LE(before, 11) << "the quiet flow waited for more than its turns";
}

TEST(WorkerPoolTest, OneFlowNeverHoldsAllThreads) {
  WorkerPool pool(4, 4096);
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::atomic<int> running = 0;
  std::promise<void> served;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(pool.Submit("storm", [&, released] {
      ++running;
      released.wait();
    }));
  }
  while (running < 3) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pool.Submit("storm", [released] { released.wait(); }));
    ASSERT_TRUE(pool.Submit("quiet", [&, i] {
      if (i == 99) served.set_value();
    }));
  }
  EXPECT_EQ(served.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  release.set_value();
  pool.Stop();
}

TEST(WorkerPoolTest, LowPriorityIsThatOfItsThreadsOnly) {
  const int here = getpriority(PRIO_PROCESS, 0);
  std::promise<int> low, ordinary;
  WorkerPool giving_way(1, 10, 0, WorkerPool::Priority::kLow), another(1, 10);
  ASSERT_TRUE(giving_way.Submit([&] { low.set_value(getpriority(PRIO_PROCESS, 0)); }));
  ASSERT_TRUE(another.Submit([&] { ordinary.set_value(getpriority(PRIO_PROCESS, 0)); }));
  EXPECT_EQ(low.get_future().get(), 10);
  EXPECT_EQ(ordinary.get_future().get(), here);
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), here);
}

TEST(WorkerPoolTest, OneFlowFillsHalfTheQueue) {
  std::promise<void> started, release;
  WorkerPool pool(1, 10);
  ASSERT_TRUE(pool.Submit("storm", [&] {
    started.set_value();
    release.get_future().wait();
  }));
  started.get_future().wait();
  int taken = 0;
  while (pool.Submit("storm", [] {})) ++taken;
  EXPECT_EQ(taken, 5);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.Submit("quiet", [] {}));
  EXPECT_FALSE(pool.Submit("another", [] {}));
  release.set_value();
}

}  // namespace
}  // namespace mailroom::apiserver
