// The judge over a real three-member etcd while members are killed, paused and restarted,
// leadership moves, connections are cut and history is compacted. Each step waits for traffic to
// get through again, so the tests last as long as etcd needs, and a store that does not recover
// fails them.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <random>
#include <thread>

#include "storage/cached_store_testing.h"
#include "storage/etcd_store.h"
#include "storage/test_etcd.h"
#include "storage/test_proxy.h"
#include "storage/test_workload.h"
#include "storage/testing.h"
#include "test/support/eventually.h"

namespace mailroom::storage {
namespace {

using testing::ConnectEtcd;
using testing::EtcdProcess;
using testing::RunAndJudge;
using testing::TestProxy;
using testing::Workload;

const Workload kEndless{.clients = 4, .calls = 0};

class EtcdChaos : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string program = EtcdProcess::Program(GetParam());
    if (program.empty()) GTEST_SKIP() << "no etcd " << GetParam() << ": run hack/peer etcd";
    server_ = std::make_unique<EtcdProcess>(program, 3);
    Result<std::unique_ptr<Store>> store = ConnectEtcd({.endpoints = server_->endpoints()});
    ASSERT_TRUE(store.ok()) << store.error().message();
    store_ = std::move(*store);
  }
  std::unique_ptr<EtcdProcess> server_;
  std::unique_ptr<Store> store_;
};

TEST_P(EtcdChaos, MembersAreKilledInTurn) {
  const Lines violations = RunAndJudge(*store_, kEndless, [&](auto progress) {
    for (std::size_t member = 0; member < server_->size() && progress(); ++member) {
      server_->Kill(member);
      progress();
      server_->Start(member);
    }
    progress();
  });
  EXPECT_EQ(violations, Lines{});
}

TEST_P(EtcdChaos, AllMembersAreKilledAtOnce) {
  const Lines violations = RunAndJudge(*store_, kEndless, [&](auto progress) {
    progress();
    for (std::size_t member = 0; member < server_->size(); ++member) server_->Kill(member);
    for (std::size_t member = 0; member < server_->size(); ++member) server_->Start(member);
    progress();
  });
  EXPECT_EQ(violations, Lines{});
}

TEST_P(EtcdChaos, MembersArePausedInTurn) {
  const Lines violations = RunAndJudge(*store_, kEndless, [&](auto progress) {
    for (std::size_t member = 0; member < server_->size() && progress(); ++member) {
      server_->Pause(member);
      progress();
      server_->Continue(member);
    }
    progress();
  });
  EXPECT_EQ(violations, Lines{});
}

TEST_P(EtcdChaos, LeadershipMoves) {
  const Lines violations = RunAndJudge(*store_, kEndless, [&](auto progress) {
    // There may be no leader at the moment, or another by the time it is told to go.
    for (int i = 0; i < 2 && progress(); ++i) {
      EXPECT_TRUE(Eventually([&] { return server_->MoveLeader(); }));
    }
    progress();
  });
  EXPECT_EQ(violations, Lines{});
}

TEST_P(EtcdChaos, ConnectionsAreCut) {
  TestProxy proxy(server_->port(0));
  Result<std::unique_ptr<Store>> through =
      ConnectEtcd({.endpoints = {"http://127.0.0.1:" + std::to_string(proxy.port())}});
  ASSERT_TRUE(through.ok()) << through.error().message();
  const Lines violations = RunAndJudge(**through, kEndless, [&](auto progress) {
    for (int i = 0; i < 10 && progress(); ++i) proxy.Cut();
    progress();
  });
  EXPECT_EQ(violations, Lines{});
}

TEST_P(EtcdChaos, HistoryIsCompactedUnderTheWatches) {
  const Lines violations = RunAndJudge(*store_, kEndless, [&](auto progress) {
    for (int i = 0; i < 20 && progress(); ++i) {
      // A loaded machine makes the members elect anew; then nobody answers for a while.
      Result<Revision> now = store_->CurrentRevision();
      ASSERT_TRUE(Eventually([&] { return now.ok() || (now = store_->CurrentRevision()).ok(); }))
          << now.error().message();
      const Revision at(now->value() > 100 ? now->value() - 100 : 1);
      Result<void> compacted = store_->Compact(at);
      EXPECT_TRUE(
          Eventually([&] { return compacted.ok() || (compacted = store_->Compact(at)).ok(); }))
          << compacted.error().message();
    }
  });
  EXPECT_EQ(violations, Lines{});
}

// Writers go through one cache while members die; another cache follows. Each must end up with
// exactly what the store holds, and the sum of a watch's events must be the list.
TEST_P(EtcdChaos, CachesEndUpEqualToTheStore) {
  const CachedStore::Options options{.history_events = 10'000, .watch_queue = 100'000};
  auto writing = CachedStore::Start(*store_, options).value();
  auto following = CachedStore::Start(*store_, options).value();
  CacheWatch watch = following->Watch({.scope = kAll}).value();
  std::atomic<bool> going = true;
  std::atomic<int> written = 0;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 3; ++writer) {
      writers.emplace_back([&, writer] {
        std::mt19937 random(static_cast<unsigned>(writer));
        for (int i = 0; going; ++i) {
          const Place place{"w" + std::to_string(random() % 3), "n",
                            "o" + std::to_string(random() % 20)};
          Operation operation =
              random() % 4 == 0 ? DeleteObject(place) : PutObject(place, std::to_string(i));
          if (writing->Commit({{}, {std::move(operation)}}).ok()) ++written;
        }
      });
    }
    // Waits for writes to get through, at most a minute.
    auto progress = [&] {
      const int wanted = written + 20;
      return Eventually([&] { return written >= wanted; });
    };
    for (std::size_t member = 0; member < server_->size() && progress(); ++member) {
      server_->Kill(member);
      progress();
      server_->Start(member);
    }
    EXPECT_TRUE(progress()) << "the store did not recover";
    going = false;
  }
  std::map<std::string, std::string> sum;
  std::vector<Lines> lists;
  for (CachedStore* cache : {writing.get(), following.get()}) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    Result<void> fresh = cache->Freshen();
    while (!fresh.ok() && std::chrono::steady_clock::now() < end) fresh = cache->Freshen();
    ASSERT_TRUE(fresh.ok()) << fresh.error().message();
    lists.push_back(Describe(cache->List({.scope = kAll})->entries));
  }
  EXPECT_EQ(lists[0], lists[1]);
  Lines stored;
  Result<ListResult> all = store_->List({.prefix = HubPrefix()});
  ASSERT_TRUE(Eventually(
      [&] { return all.ok() || (all = store_->List({.prefix = HubPrefix()})).ok(); }))
      << all.error().message();
  for (const KeyValue& entry : all->entries) {
    const ResourceKey key = ResourceKey::Parse(entry.key).value();
    stored.push_back(
        Describe(key.workspace.name(), **Object::Decode(*entry.value, entry.mod_revision)));
  }
  EXPECT_EQ(lists[0], stored);
  std::vector<Watcher::Item> items;
  Revision up_to, last;
  EXPECT_EQ(watch.watcher->Drain(items, 1'000'000, up_to), Watcher::State::kOpen);
  for (const Watcher::Item& item : items) {
    EXPECT_GE(item.event->revision(), last);
    last = item.event->revision();
    const std::string key = item.event->key().ToStoreKey();
    EXPECT_EQ(sum.contains(key), item.type != EventType::kAdded);
    if (item.type == EventType::kDeleted) {
      sum.erase(key);
    } else {
      sum[key] = Describe(item.event->workspace().name(), *item.event->object());
    }
  }
  Lines summed;
  for (const auto& [key, line] : sum) summed.push_back(line);
  EXPECT_EQ(summed, stored);
}

INSTANTIATE_TEST_SUITE_P(Versions, EtcdChaos, ::testing::Values("3.4", "3.5"),
                         [](const auto& test) { return test.param[2] == '4' ? "V34" : "V35"; });

}  // namespace
}  // namespace mailroom::storage
