#include "apiserver/client/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "apiserver/client/backoff.h"
#include "apiserver/client/controller.h"

namespace mailroom::client {
namespace {

using std::chrono::milliseconds;

struct Case {
  const char* name;
  // Steps: `+lane/id` add, `-` take and finish, `<` take and keep, `>` finish the oldest kept.
  std::vector<std::string> steps;
  std::vector<std::string> taken;
  std::size_t left;
};

WorkKey KeyOf(const std::string& text) {
  const std::size_t slash = text.find('/');
  return {text.substr(0, slash), text.substr(slash + 1)};
}

TEST(WorkQueue, OrderDedupeAndFairness) {
  const Case cases[] = {
      {"first in first out", {"+a/1", "+a/2", "-", "-"}, {"a/1", "a/2"}, 0},
      {"a waiting key is handled once", {"+a/1", "+a/1", "-"}, {"a/1"}, 0},
      {"a key added while processing comes again",
       {"+a/1", "<", "+a/1", ">", "-"},
       {"a/1", "a/1"},
       0},
      {"but not while it is processed",
       {"+a/1", "<", "+a/1", "+a/2", "-", ">", "-"},
       {"a/1", "a/2", "a/1"},
       0},
      {"twice while processing is once",
       {"+a/1", "<", "+a/1", "+a/1", ">", "-"},
       {"a/1", "a/1"},
       0},
      {"lanes take turns",
       {"+a/1", "+a/2", "+a/3", "+b/1", "+c/1", "-", "-", "-", "-", "-"},
       {"a/1", "b/1", "c/1", "a/2", "a/3"},
       0},
      {"an emptied lane queues up again at the end",
       {"+a/1", "+b/1", "+b/2", "-", "+a/2", "-", "-", "-"},
       {"a/1", "b/1", "a/2", "b/2"},
       0},
      {"the same id in two lanes is two keys", {"+a/1", "+b/1", "-"}, {"a/1"}, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto queue = WorkQueue::Make();
    std::vector<std::string> taken;
    std::vector<WorkKey> kept;
    for (const std::string& step : c.steps) {
      if (step[0] == '+') {
        queue->Add(KeyOf(step.substr(1)));
      } else if (step[0] == '>') {
        queue->Done(kept.front());
        kept.erase(kept.begin());
      } else {
        const std::optional<WorkKey> key = queue->Take();
        ASSERT_TRUE(key.has_value());
        taken.push_back(key->lane + "/" + key->id);
        if (step[0] == '<') {
          kept.push_back(*key);
        } else {
          queue->Done(*key);
        }
      }
    }
    EXPECT_EQ(taken, c.taken);
    EXPECT_EQ(queue->size(), c.left);
  }
}

TEST(WorkQueue, DelayedKeysComeInOrderOfTheirTime) {
  auto queue = WorkQueue::Make();
  // So far apart that a pause between these calls does not change the order.
  queue->AddAfter({"a", "late"}, milliseconds(4000));
  queue->AddAfter({"a", "early"}, milliseconds(5));
  queue->AddAfter({"a", "moved"}, milliseconds(600'000));
  queue->AddAfter({"a", "moved"}, milliseconds(2000));
  EXPECT_EQ(queue->size(), 0u);
  for (const char* expected : {"early", "moved", "late"}) {
    const auto key = queue->Take();
    ASSERT_TRUE(key.has_value());
    EXPECT_EQ(key->id, expected);
    queue->Done(*key);
  }
}

TEST(WorkQueue, ALaterDelayDoesNotPostpone) {
  auto queue = WorkQueue::Make();
  queue->AddAfter({"a", "x"}, milliseconds(5));
  queue->AddAfter({"a", "x"}, milliseconds(600'000));
  EXPECT_EQ(queue->Take()->id, "x");
}

// In nanoseconds since the start of the machine, three hundred years are too many.
TEST(WorkQueue, WhatIsCenturiesAwayDoesNotComeAtOnce) {
  auto queue = WorkQueue::Make();
  queue->AddAfter({"a", "9999"}, std::chrono::hours(24 * 365 * 7970));
  queue->AddAfter({"a", "never"}, milliseconds::max());
  queue->AddAfter({"a", "soon"}, milliseconds(5));
  EXPECT_EQ(queue->Take()->id, "soon");
  EXPECT_EQ(queue->size(), 0u);
}

TEST(WorkQueue, StopWakesEveryWaiter) {
  auto queue = WorkQueue::Make();
  std::atomic<int> ended = 0;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 3; ++i) {
      workers.emplace_back([&] {
        EXPECT_FALSE(queue->Take().has_value());
        ++ended;
      });
    }
    queue->Stop();
  }
  EXPECT_EQ(ended, 3);
  queue->Add({"a", "1"});
  EXPECT_FALSE(queue->Take().has_value());
}

TEST(WorkQueue, NoKeyIsHandledByTwoWorkersAtATime) {
  auto queue = WorkQueue::Make();
  std::atomic<int> inside[4] = {};
  std::atomic<int> handled = 0;
  std::vector<std::jthread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      while (auto key = queue->Take()) {
        auto& mine = inside[std::stoul(key->id)];
        EXPECT_EQ(mine.fetch_add(1), 0);
        std::this_thread::yield();
        mine.fetch_sub(1);
        ++handled;
        queue->Done(*key);
      }
    });
  }
  for (int round = 0; round < 2000; ++round) {
    queue->Add({"lane" + std::to_string(round % 3), std::to_string(round % 3)});
  }
  while (queue->size() > 0) std::this_thread::yield();
  queue->Stop();
  workers.clear();
  EXPECT_GE(handled, 3);
}

TEST(Backoff, DoublesUpToTheLast) {
  for (int failures = 0; failures < 70; ++failures) {
    const auto delay = Backoff(milliseconds(5), milliseconds(30'000), failures);
    const std::int64_t whole = std::min<std::int64_t>(5LL << std::min(failures, 30), 30'000);
    EXPECT_LE(delay.count(), whole);
    EXPECT_GE(delay.count(), whole / 2);
  }
}

// Fails each key twice before it succeeds.
class Stubborn : public Reconciler {
 public:
  Result<Requeue> Reconcile(const WorkKey& key) override {
    std::lock_guard lock(mutex_);
    const int calls = ++calls_[key];
    if (calls < 3) return Unavailable("not yet");
    if (calls == 3) return Requeue{milliseconds(1)};
    changed_.notify_all();
    return Requeue{};
  }
  void WaitFor(const WorkKey& key) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_[key] >= 4; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<WorkKey, int> calls_;
};

TEST(Controller, RetriesFailuresAndHonoursRequeue) {
  Stubborn reconciler;
  auto controller = Controller::Start("test", reconciler, 2);
  controller->queue().Add({"a", "1"});
  controller->queue().Add({"b", "1"});
  reconciler.WaitFor({"a", "1"});
  reconciler.WaitFor({"b", "1"});
  controller->Stop();
  EXPECT_EQ((reconciler.calls_[{"a", "1"}]), 4);
}

}  // namespace
}  // namespace mailroom::client
