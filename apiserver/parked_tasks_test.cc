// Tasks of a WorkerPool that leave their thread while they wait.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "apiserver/fiber.h"
#include "apiserver/worker_pool.h"
#include "storage/object/parking.h"

namespace mailroom::apiserver {
namespace {

using Priority = WorkerPool::Priority;

TEST(FiberTest, GoesOnWhereItStoppedInAnyThread) {
  std::string seen;
  std::unique_ptr<Fiber> fiber;
  fiber = std::make_unique<Fiber>([&] {
    for (int i = 0; i < 3; ++i) {
      seen += static_cast<char>('a' + i);
      fiber->Suspend();
    }
  });
  fiber->Resume();
  EXPECT_EQ(seen, "a");
  std::jthread([&] { fiber->Resume(); }).join();
  EXPECT_EQ(seen, "ab");
  fiber->Resume();
  fiber->Resume();
  EXPECT_EQ(seen, "abc");
}

TEST(FiberTest, OneThatNeverBeganRunsNothing) {
  bool ran = false;
  { const Fiber fiber([&] { ran = true; }); }
  EXPECT_FALSE(ran);
}

TEST(FiberTest, ExceptionsStayInside) {
  int caught = 0;
  std::unique_ptr<Fiber> fiber;
  fiber = std::make_unique<Fiber>([&] {
    for (int i = 0; i < 2; ++i) {
      try {
        throw std::string("x");
      } catch (const std::string&) {
        ++caught;
      }
      fiber->Suspend();
    }
  });
  for (int i = 0; i < 3; ++i) fiber->Resume();
  EXPECT_EQ(caught, 2);
}

TEST(PauseTest, OfAnOrdinaryThreadBlocksIt) {
  const auto pause = std::make_shared<Pause>();
  std::atomic<bool> gone = false;
  std::jthread other([&] {
    gone = true;
    pause->Go();
  });
  pause->Wait();
  EXPECT_TRUE(gone);
}

// What the tasks of a test wait for, and who gives them the word.
class Waits {
 public:
  void Wait() {
    const auto pause = std::make_shared<Pause>();
    {
      std::lock_guard lock(mutex_);
      waiting_.push_back(pause);
    }
    pause->Wait();
  }
  std::size_t size() {
    std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  bool GoOne() {
    std::shared_ptr<Pause> pause;
    {
      std::lock_guard lock(mutex_);
      if (waiting_.empty()) return false;
      pause = std::move(waiting_.front());
      waiting_.pop_front();
    }
    pause->Go();
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<Pause>> waiting_;
};

TEST(ParkedTasksTest, LeaveTheirThreadToOthers) {
  WorkerPool pool(8, 100, 0, Priority::kOrdinary, 1);
  Waits waits;
  std::atomic<int> done = 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(pool.Submit([&] {
      waits.Wait();
      ++done;
    }));
  }
  while (waits.size() < 5) std::this_thread::yield();  // all of them, on one thread
  EXPECT_EQ(done, 0);
  std::promise<void> ran;
  ASSERT_TRUE(pool.Submit([&] { ran.set_value(); }));
  ran.get_future().wait();
  while (waits.GoOne()) {
  }
  pool.Stop();
  EXPECT_EQ(done, 5);
}

TEST(ParkedTasksTest, AWordThatCameBeforeIsNotWaitedFor) {
  WorkerPool pool(2, 100, 0, Priority::kOrdinary, 1);
  std::promise<void> ran;
  ASSERT_TRUE(pool.Submit([&] {
    for (int i = 0; i < 3; ++i) {
      Pause pause;
      pause.Go();
      pause.Wait();
    }
    ran.set_value();
  }));
  ran.get_future().wait();
  pool.Stop();
}

TEST(ParkedTasksTest, AreNoMoreThanThePoolRunsAtATime) {
  WorkerPool pool(4, 100, 0, Priority::kOrdinary, 1);
  Waits waits;
  std::atomic<int> begun = 0;
  for (int i = 0; i < 12; ++i) {
    // Each of a flow of its own, so that no flow's share is the bound.
    ASSERT_TRUE(pool.Submit("f" + std::to_string(i), [&] {
      ++begun;
      waits.Wait();
    }));
  }
  while (waits.size() < 4) std::this_thread::yield();
  EXPECT_EQ(pool.queued(), 8u);
  EXPECT_EQ(begun, 4);
  for (int i = 0; i < 12; ++i) {
    while (!waits.GoOne()) std::this_thread::yield();
  }
  pool.Stop();
  EXPECT_EQ(begun, 12);
}

TEST(ParkedTasksTest, OneFlowNeverHoldsAll) {
  WorkerPool pool(4, 100, 0, Priority::kOrdinary, 1);
  Waits waits;
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(pool.Submit("storm", [&] { waits.Wait(); }));
  while (waits.size() < 3) std::this_thread::yield();
  std::promise<void> served;
  ASSERT_TRUE(pool.Submit("quiet", [&] { served.set_value(); }));
  EXPECT_EQ(served.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  for (int i = 0; i < 8; ++i) {
    while (!waits.GoOne()) std::this_thread::yield();
  }
  pool.Stop();
}

TEST(ParkedTasksTest, StopRunsThemToTheirEnd) {
  WorkerPool pool(4, 100, 0, Priority::kOrdinary, 2);
  Waits waits;
  std::atomic<int> done = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pool.Submit([&] {
      waits.Wait();
      ++done;
    }));
  }
  while (waits.size() < 3) std::this_thread::yield();
  std::jthread stopping([&] { pool.Stop(); });
  int begun = 3;
  for (; pool.Submit([&] { ++done; }); ++begun) std::this_thread::yield();  // until it is stopped
  while (waits.GoOne()) {
  }
  stopping.join();
  EXPECT_EQ(done, begun);
}

TEST(ParkedTasksTest, OthersStandInForOneThatBlocks) {
  WorkerPool pool(4, 100, 1, Priority::kOrdinary, 1);
  std::promise<void> release, ran;
  ASSERT_TRUE(pool.Submit([&] {
    const Blocking blocking;
    release.get_future().wait();
  }));
  ASSERT_TRUE(pool.Submit([&] { ran.set_value(); }));
  ran.get_future().wait();
  release.set_value();
  pool.Stop();
}

TEST(ParkedTasksTest, ThoseThatBlockCountForTheirFlow) {
  WorkerPool pool(4, 100, 8, Priority::kOrdinary, 1);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> begun = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pool.Submit("storm", [&] {
      ++begun;
      const Blocking blocking;
      released.wait();
    }));
  }
  std::promise<void> ran;
  ASSERT_TRUE(pool.Submit("quiet", [&] { ran.set_value(); }));
  ran.get_future().wait();
  EXPECT_LE(begun, 3);  // of four, though there are threads for eight more
  release.set_value();
  pool.Stop();
  EXPECT_EQ(begun, 20);
}

TEST(ParkedTasksTest, ThoseThatBlockHoldUpNoOtherFlow) {
  WorkerPool pool(4, 100, 8, Priority::kOrdinary, 1);
  std::promise<void> release, ran;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> begun = 0;
  for (const char* flow : {"a", "b", "a", "b"}) {
    ASSERT_TRUE(pool.Submit(flow, [&] {
      const Blocking blocking;
      ++begun;
      released.wait();
    }));
  }
  while (begun < 4) std::this_thread::yield();
  ASSERT_TRUE(pool.Submit("quiet", [&] { ran.set_value(); }));
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  release.set_value();
  pool.Stop();
}

TEST(ParkedTasksTest, OneFlowNeverHoldsTheLastThread) {
  WorkerPool pool(8, 100, 0, Priority::kOrdinary, 2);
  std::promise<void> release, ran;
  const std::shared_future<void> released = release.get_future().share();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(pool.Submit("storm", [&] { released.wait(); }));
  ASSERT_TRUE(pool.Submit("quiet", [&] { ran.set_value(); }));
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  release.set_value();
  pool.Stop();
}

// Each gives the other its word before it parks, so one of them can always go on.
TEST(ParkedTasksTest, OthersBeginAmongThoseThatAlwaysGoOn) {
  constexpr int kRounds = 10'000'000;
  WorkerPool pool(4, 100, 0, Priority::kOrdinary, 1);
  std::mutex mutex;
  std::deque<std::shared_ptr<Pause>> parked;
  std::atomic<int> rounds = 0;
  std::atomic<bool> ran = false;
  const auto exchange = [&](std::shared_ptr<Pause> mine) {
    std::shared_ptr<Pause> other;
    {
      std::lock_guard lock(mutex);
      if (!parked.empty()) other = std::move(parked.front()), parked.pop_front();
      if (mine) parked.push_back(std::move(mine));
    }
    if (other) other->Go();
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pool.Submit("storm", [&] {
      while (!ran && ++rounds < kRounds) {
        const auto mine = std::make_shared<Pause>();
        exchange(mine);
        mine->Wait();
      }
      exchange(nullptr);
    }));
  }
  while (rounds < 10) std::this_thread::yield();
  ASSERT_TRUE(pool.Submit("quiet", [&] { ran = true; }));
  pool.Stop();
  EXPECT_LT(rounds, kRounds);
}

// Words come from another thread at any moment: before, while and after a task parks.
TEST(ParkedTasksTest, ManyMeetTheirWords) {
  constexpr int kTasks = 3000;
  WorkerPool pool(16, kTasks, 2, Priority::kOrdinary, 3);
  Waits waits;
  std::atomic<int> done = 0;
  for (int i = 0; i < kTasks; ++i) {
    ASSERT_TRUE(pool.Submit("f" + std::to_string(i % 3), [&, i] {
      for (int k = 0; k <= i % 3; ++k) waits.Wait();
      if (i % 100 == 0) {
        const WaitElsewhere elsewhere;
        std::this_thread::yield();
      }
      ++done;
    }));
  }
  while (done < kTasks) {
    if (!waits.GoOne()) std::this_thread::yield();
  }
  pool.Stop();
}

}  // namespace
}  // namespace mailroom::apiserver
