#include "storage/sealed_store.h"

#include <gtest/gtest.h>

#include "storage/embedded_store.h"
#include "storage/object/resource_key.h"
#include "storage/store_contract.h"

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
  const std::string sealed = seal.Close(kSecret, kCanary);
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

}  // namespace
}  // namespace mailroom::storage
