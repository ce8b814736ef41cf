#include "storage/etcd_store.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "storage/cached_store.h"
#include "storage/object/limits.h"
#include "storage/store_contract.h"
#include "storage/test_etcd.h"
#include "storage/testing.h"

namespace mailroom::storage {
namespace {

using namespace std::chrono_literals;
using testing::DeletePrefix;
using testing::EtcdProcess;
using testing::MustCommit;
using testing::Put;
using testing::RecordingSink;
using testing::StoreContract;
using testing::Write;

std::unique_ptr<Store> MustConnect(const EtcdOptions& options) {
  Result<std::unique_ptr<Store>> store = testing::ConnectEtcd(options);
  EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message());
  return store.ok() ? std::move(*store) : nullptr;
}

// One server per version and size for the whole program; its tests clear it first.
std::unique_ptr<Store> OpenShared(const std::string& version, std::size_t members) {
  static std::map<std::string, std::unique_ptr<EtcdProcess>> servers;
  auto& server = servers[version + std::to_string(members)];
  if (!server) {
    const std::string program = EtcdProcess::Program(version);
    if (program.empty()) return nullptr;
    server = std::make_unique<EtcdProcess>(program, members,
                                           std::vector<std::string>{"--unsafe-no-fsync"});
  }
  std::unique_ptr<Store> store = MustConnect({.endpoints = server->endpoints()});
  if (store) MustCommit(*store, Write({DeletePrefix("/")}));
  return store;
}

testing::StoreFactory Factory(const std::string& name, const std::string& version,
                              std::size_t members) {
  return {name, [=] { return OpenShared(version, members); }};
}

INSTANTIATE_TEST_SUITE_P(Etcd, StoreContract,
                         ::testing::Values(Factory("Etcd34", "3.4", 1), Factory("Etcd35", "3.5", 1),
                                           Factory("Etcd35Cluster", "3.5", 3)),
                         testing::FactoryName);

class EtcdTest : public ::testing::Test {
 protected:
  void Begin(std::size_t members) {
    const std::string program = EtcdProcess::Program("3.5");
    if (program.empty()) GTEST_SKIP() << "no etcd: run hack/peer etcd";
    server_ = std::make_unique<EtcdProcess>(program, members,
                                            std::vector<std::string>{"--unsafe-no-fsync"});
    store_ = MustConnect({.endpoints = server_->endpoints()});
    ASSERT_TRUE(store_);
  }
  // Writes until one is acknowledged; elections and dead members may refuse some.
  Revision WriteThrough(const std::string& key, const std::string& value) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end) {
      Result<TxnResult> result = CommitAndWait(*store_, Write({Put(key, value)}));
      if (result.ok()) return result->revision;
      std::this_thread::sleep_for(50ms);
    }
    ADD_FAILURE() << "no write got through";
    return Revision();
  }
  std::unique_ptr<EtcdProcess> server_;
  std::unique_ptr<Store> store_;
};

TEST_F(EtcdTest, WatchSurvivesARestartOfTheServer) {
  Begin(1);
  RecordingSink sink;
  const Revision start = *store_->CurrentRevision();
  auto watch = store_->Watch("/", start, sink);
  ASSERT_TRUE(watch.ok());
  sink.WaitFor(WriteThrough("/a", "1"));
  server_->Kill(0);
  Result<TxnResult> failed = CommitAndWait(*store_, Write({Put("/a", "lost?")}));
  EXPECT_FALSE(failed.ok());
  server_->Start(0);
  const Revision last = WriteThrough("/a", "2");
  EXPECT_GE(last.value(), start.value() + 2);
  // Each change once: one a revision, also should a write have been repeated that came too late.
  EXPECT_EQ(sink.WaitFor(last).size(), last.value() - start.value());
  EXPECT_FALSE(sink.ended());
}

TEST_F(EtcdTest, TheCacheComparesAfterCompactionBehindItsBack) {
  Begin(1);
  auto started = CachedStore::Start(*store_, {.history_events = 100, .watch_queue = 100});
  ASSERT_TRUE(started.ok());
  const ResourceKey key{Workspace("a"), {"", "configmaps"}, "n", "x"};
  auto put = [&](Store& store, const std::string& value) {
    return MustCommit(store,
                      Write({Put(key.ToStoreKey(),
                                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                                 "{\"name\":\"x\",\"namespace\":\"n\"},\"data\":{\"v\":\"" +
                                     value + "\"}}")}));
  };
  const Revision first = put(*store_, "1");
  ASSERT_TRUE((*started)->Freshen().ok());
  EXPECT_EQ((*started)->Get(key)->revision(), first);
  auto watch = (*started)->Watch({.scope = {key.workspace, key.resource, ""}});
  ASSERT_TRUE(watch.ok());
  // While the cache's watch is broken, the store changes and forgets.
  server_->Kill(0);
  server_->Start(0);
  std::unique_ptr<Store> other = MustConnect({.endpoints = server_->endpoints()});
  put(*other, "2");
  const Revision third = put(*other, "3");
  ASSERT_TRUE(other->Compact(third).ok());
  ASSERT_TRUE((*started)->WaitFor(third, 30s).ok());
  EXPECT_EQ((*started)->Get(key)->revision(), third);
  std::vector<Watcher::Item> items;
  Revision up_to;
  EXPECT_EQ(watch->watcher->Drain(items, 10, up_to), Watcher::State::kOpen);
  ASSERT_GE(items.size(), 1u);
  EXPECT_EQ(items.back().event->revision(), third);
  watch->watcher.reset();
  (*started)->Stop();
}

TEST_F(EtcdTest, LargeRangesAreReadInPages) {
  Begin(1);
  const std::string value(1'000'000, 'x');
  for (int i = 10; i < 80; ++i) {
    MustCommit(*store_, Write({Put("/k" + std::to_string(i), value)}));
  }
  // Together they exceed what one message may hold.
  static_assert(70 * 1'000'000 > limits::kEtcdMessageBytes);
  Result<ListResult> list = store_->List({.prefix = "/"});
  ASSERT_TRUE(list.ok()) << list.error().message();
  EXPECT_EQ(list->entries.size(), 70u);
}

TEST(EtcdOptionsTest, MistakesAreNamed) {
  EXPECT_FALSE(OpenEtcd({.endpoints = {}}).ok());
  EXPECT_FALSE(OpenEtcd({.endpoints = {"127.0.0.1:1"}}).ok());
  EXPECT_FALSE(OpenEtcd({.endpoints = {"https://127.0.0.1:1"}, .cert_file = "x"}).ok());
  EXPECT_FALSE(OpenEtcd({.endpoints = {"https://127.0.0.1:1"}, .ca_file = "/nonexistent"}).ok());
  Result<std::unique_ptr<Store>> nobody = OpenEtcd({.endpoints = {"http://127.0.0.1:1"}});
  ASSERT_FALSE(nobody.ok());
  EXPECT_NE(nobody.error().message().find("no etcd endpoint answers"), std::string::npos);
}

}  // namespace
}  // namespace mailroom::storage
