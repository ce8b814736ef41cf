// OpenSSL lets a test take the random bytes away only by what it calls deprecated.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "storage/sealed_store.h"

#include <gtest/gtest.h>
#include <openssl/rand.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "storage/cached_store_testing.h"
#include "storage/embedded_store.h"
#include "storage/object/resource_key.h"
#include "storage/store_contract.h"
#include "storage/unreadable.h"

namespace mailroom::storage {
namespace {

using testing::StoreContract;
using testing::StoreFactory;

constexpr std::string_view kOneKey = R"(
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
- resources: [secrets]
  providers:
  - aesgcm: {keys: [{name: one, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
  - identity: {}
)";
constexpr std::string_view kTwoKeys = R"(
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
- resources: [secrets]
  providers:
  - aesgcm: {keys: [{name: two, secret: IB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE=},
                    {name: one, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
)";
constexpr std::string_view kEverything = R"(
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
- resources: ["*.*"]
  providers:
  - aesgcm: {keys: [{name: one, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
)";
constexpr std::string_view kOff = R"(
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
- resources: [secrets]
  providers:
  - identity: {}
  - aesgcm: {keys: [{name: one, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
)";

Seal SealOf(std::string_view text) {
  auto seal = Seal::Parse(text);
  EXPECT_TRUE(seal.ok()) << seal.error().message();
  return *seal;
}

INSTANTIATE_TEST_SUITE_P(
    Sealed, StoreContract,
    ::testing::Values(StoreFactory{"sealed",
                                   [] { return OpenSealed(OpenMemory(), SealOf(kEverything)); }}),
    testing::FactoryName);

// Leaves the engine below in the test's hands.
class Shared final : public Store {
 public:
  explicit Shared(Store& store) : store_(store) {}
  Result<GetResult> Get(const std::string& key) override { return store_.Get(key); }
  Result<ListResult> List(const ListOptions& options) override { return store_.List(options); }
  void Commit(Txn txn, CommitDone done) override { store_.Commit(std::move(txn), std::move(done)); }
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    return store_.Watch(prefix, after, sink);
  }
  Result<void> Compact(Revision at) override { return store_.Compact(at); }
  Result<Revision> CurrentRevision() override { return store_.CurrentRevision(); }
  void Close() override {}

 private:
  Store& store_;
};

const std::string kSecret = ResourceKey{Workspace("w"), {"", "secrets"}, "n", "s"}.ToStoreKey();
const std::string kOther = ResourceKey{Workspace("w"), {"", "secrets"}, "n", "t"}.ToStoreKey();
const std::string kMap = ResourceKey{Workspace("w"), {"", "configmaps"}, "n", "m"}.ToStoreKey();
constexpr const char* kCanary = R"({"data":"canary"})";

class Sealed : public ::testing::Test {
 protected:
  ~Sealed() override { below->Close(); }
  std::unique_ptr<Store> Over(std::string_view keys) {
    return OpenSealed(std::make_unique<Shared>(*below), SealOf(keys));
  }
  void Put(Store& store, const std::string& key) {
    Txn txn;
    txn.operations.push_back({Operation::Type::kPut, key, std::make_shared<const std::string>(kCanary)});
    ASSERT_TRUE(CommitAndWait(store, std::move(txn)).ok());
  }
  std::string Raw(const std::string& key) { return *below->Get(key)->entry->value; }
  std::unique_ptr<Store> below = OpenMemory();
};

TEST_F(Sealed, OnlyTheChosenLieSealedBelow) {
  auto store = Over(kOneKey);
  Put(*store, kSecret);
  Put(*store, kMap);
  EXPECT_EQ(Raw(kMap), kCanary);
  EXPECT_TRUE(Seal::IsSealed(Raw(kSecret)));
  EXPECT_EQ(Raw(kSecret).find("canary"), std::string::npos);
  EXPECT_EQ(*store->Get(kSecret)->entry->value, kCanary);
  EXPECT_EQ(*store->List({.prefix = HubPrefix()})->entries[1].value, kCanary);
  Put(*store, kOther);
  EXPECT_NE(Raw(kSecret).substr(20), Raw(kOther).substr(20)) << "each with its own nonce";
}

TEST_F(Sealed, AMovedOrChangedValueIsRefused) {
  const Seal seal = SealOf(kOneKey);
  const std::string sealed = *seal.Close(kSecret, kCanary);
  EXPECT_TRUE(seal.Open(kSecret, sealed).ok());
  EXPECT_FALSE(seal.Open(kOther, sealed).ok());
  for (std::size_t i = sealed.size() - 20; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(seal.Open(kSecret, changed).ok()) << i;
  }
  EXPECT_FALSE(seal.Open(kSecret, "sealed:aesgcm:one:").ok());
  EXPECT_FALSE(seal.Open(kSecret, "sealed:aesgcm:").ok());
}

// Without random bytes a nonce would come twice, and a write says so instead.
TEST_F(Sealed, NothingIsSealedWithoutRandomBytes) {
  auto store = Over(kOneKey);
  const RAND_METHOD* before = RAND_get_rand_method();
  RAND_METHOD none{};
  none.bytes = [](unsigned char*, int) { return 0; };
  RAND_set_rand_method(&none);
  Txn txn;
  txn.operations.push_back({Operation::Type::kPut, kSecret, std::make_shared<const std::string>(kCanary)});
  const auto refused = CommitAndWait(*store, std::move(txn));
  RAND_set_rand_method(before);
  EXPECT_FALSE(refused.ok());
  EXPECT_FALSE(below->Get(kSecret)->entry);
}

TEST_F(Sealed, KeysRotate) {
  auto first = Over(kOneKey);
  Put(*first, kSecret);
  Put(*below, kOther);  // from before encryption
  auto second = Over(kTwoKeys);
  EXPECT_EQ(*second->Get(kSecret)->entry->value, kCanary) << "the old key still reads";
  EXPECT_EQ(*second->Get(kOther)->entry->value, kCanary);
  auto written = Reseal(*below, SealOf(kTwoKeys));
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(*written, 2u);
  EXPECT_TRUE(Raw(kSecret).starts_with("sealed:aesgcm:two:"));
  EXPECT_TRUE(Raw(kOther).starts_with("sealed:aesgcm:two:"));
  EXPECT_EQ(*Reseal(*below, SealOf(kTwoKeys)), 0u);
  EXPECT_EQ(*second->Get(kSecret)->entry->value, kCanary);
  EXPECT_FALSE(first->Get(kSecret).ok()) << "the old key alone no longer reads";
}

// Two servers on one store, of which one has been given a new key and the other has not.
TEST_F(Sealed, WhatAnotherServerSealedAnewIsNotTakenForDeleted) {
  const Place secret{"w", "n", "s", kSecrets};
  const CacheListOptions secrets{.scope = {Workspace("w"), kSecrets, ""}};
  const CachedStore::Options options{.history_events = 100, .watch_queue = 100, .probe = true};
  auto old = Over(kOneKey);
  auto cache = CachedStore::Start(*old, options).value();
  ASSERT_TRUE(cache->Commit({{}, {PutObject(secret, "1")}}).ok());
  auto watch = cache->Watch({.scope = secrets.scope}).value();
  ASSERT_EQ(Reseal(*below, SealOf(kTwoKeys)).value(), 1u);
  ASSERT_TRUE(cache->WaitFor(Revision(2), 30s).ok());
  EXPECT_EQ(Drained(*watch.watcher), Lines{});
  EXPECT_EQ(Describe(cache->List(secrets)->entries), Lines{"w/n/s=1@1"});
  EXPECT_EQ(UnreadableValues(*cache).sealed, 1u);
  EXPECT_EQ(UnreadableValues(*cache).key, secret.key().ToStoreKey());
  // It does not write over what it cannot read.
  EXPECT_FALSE(CommitAndWait(*old, {{{secret.key().ToStoreKey(), Revision(1)}},
                                    {PutObject(secret, "2")}}).ok());
  ASSERT_TRUE(CommitAndWait(*Over(kTwoKeys), {{}, {DeleteObject(secret)}}).ok());
  ASSERT_TRUE(cache->WaitFor(Revision(3), 30s).ok());
  EXPECT_EQ(Drained(*watch.watcher), Lines{"DELETED w/n/s=1@3"});
  EXPECT_EQ(UnreadableValues(*cache).values, 0u);
}

// Without the keys everything sealed would be missing, so a server does not begin.
TEST_F(Sealed, NothingIsServedWithoutTheKeys) {
  const Place secret{"w", "n", "s", kSecrets};
  const CachedStore::Options options{.history_events = 100, .watch_queue = 100, .probe = true};
  ASSERT_TRUE(CommitAndWait(*Over(kOneKey), {{}, {PutObject(secret, "1")}}).ok());
  const auto refused = CachedStore::Start(*below, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find(secret.key().ToStoreKey()), std::string::npos);
  // What was sealed once, and is not any more, does not matter.
  ASSERT_EQ(Reseal(*below, SealOf(kOff)).value(), 1u);
  EXPECT_TRUE(CachedStore::Start(*below, options).ok());
}

TEST_F(Sealed, EncryptionCanBeTurnedOff) {
  Put(*Over(kOneKey), kSecret);
  auto off = Over(kOff);
  EXPECT_EQ(*off->Get(kSecret)->entry->value, kCanary);
  EXPECT_EQ(*Reseal(*below, SealOf(kOff)), 1u);
  EXPECT_EQ(Raw(kSecret), kCanary);
}

TEST_F(Sealed, BadKeyFilesAreRefused) {
  for (const char* text : {"", "kind: Policy", "kind: EncryptionConfiguration\nresources: []",
                           "kind: EncryptionConfiguration\nresources: [{resources: [secrets], "
                           "providers: [{aescbc: {keys: []}}]}]",
                           "kind: EncryptionConfiguration\nresources: [{resources: [secrets], "
                           "providers: [{aesgcm: {keys: [{name: k, secret: c2hvcnQ=}]}}]}]"}) {
    EXPECT_FALSE(Seal::Parse(text).ok()) << text;
  }
}

// All bytes of all files of a folder.
std::string RawBytes(const std::filesystem::path& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(in), {});
  }
  return all;
}

// Encryption turned on over what lay open: nothing of it stays in the files.
TEST(SealedFiles, KeepNothingPlain) {
  std::string pattern = ::testing::TempDir() + "/sealed.XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path folder(pattern);
  const std::string directory = folder / "store";
  auto key = [](int i) {
    return ResourceKey{Workspace("w"), {"", "secrets"}, "default", "s" + std::to_string(i)}
        .ToStoreKey();
  };
  auto value = [](int i) {
    return R"({"data":"canary-)" + std::to_string(i) + std::string(3000, 'x') + R"("})";
  };
  auto put = [](Store& store, const std::string& at, const std::string& text) {
    Txn txn;
    txn.operations.push_back(
        {Operation::Type::kPut, at, std::make_shared<const std::string>(text)});
    ASSERT_TRUE(CommitAndWait(store, std::move(txn)).ok());
  };
  constexpr int kMany = 200;
  {
    auto store = OpenEmbedded(directory).value();
    for (int i = 0; i < kMany; ++i) put(*store, key(i), value(i));
    for (int i = 0; i < kMany; i += 2) put(*store, key(i), value(i) + " ");  // and history
    store->Close();
  }
  ASSERT_NE(RawBytes(folder).find("canary-"), std::string::npos) << "they lie open";
  {
    auto store = OpenEmbedded(directory).value();
    EXPECT_EQ(Reseal(*store, SealOf(kOneKey)).value(), static_cast<std::size_t>(kMany));
    store->Close();
  }
  ASSERT_TRUE(ScrubEmbedded(directory).ok());
  EXPECT_EQ(RawBytes(folder).find("canary-"), std::string::npos);
  {
    auto store = OpenSealed(OpenEmbedded(directory).value(), SealOf(kOneKey));
    for (int i = 0; i < kMany; ++i) {
      const auto entry = store->Get(key(i)).value().entry;
      ASSERT_TRUE(entry);
      EXPECT_EQ(*entry->value, i % 2 == 0 ? value(i) + " " : value(i));
    }
    store->Close();
  }
  EXPECT_EQ(RawBytes(folder).find("canary-"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mailroom::storage
