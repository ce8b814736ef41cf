#include "apiserver/managed_fields.h"

#include <gtest/gtest.h>

#include <chrono>

#include "apiserver/apply_test_types.h"
#include "test/support/thread_cpu.h"

namespace mailroom::apiserver {
namespace {

OwnerEntry Updater(const std::string& manager, const std::string& version, int hour,
                   const std::vector<std::string>& fields) {
  OwnerEntry entry;
  entry.manager = manager;
  entry.api_version = version;
  entry.time = (hour < 10 ? "2020-01-01T0" : "2020-01-01T") + std::to_string(hour) + ":00:00Z";
  for (const std::string& field : fields) entry.fields.Insert({"f:" + field});
  return entry;
}

Json ListOf(const Json& object) { return *Find(object, {"metadata", "managedFields"}); }

TEST(ManagedFields, DecodeAndWriteKeepEntries) {
  const Json object = Y(R"(
metadata:
  managedFields:
  - {apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:a': {}}, manager: b, operation: Apply,
     time: '2020-01-01T00:00:00Z'}
  - {apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:b': {}}, manager: a, operation: Update,
     subresource: status, time: '2020-01-01T00:00:00Z', unknown: kept}
)");
  auto managed = ManagedFields::Of(object);
  ASSERT_TRUE(managed.ok());
  ASSERT_EQ(managed->entries().size(), 2u);
  EXPECT_EQ(managed->entries()[1].subresource, "status");
  Json out = Json::object();
  std::move(*managed).WriteTo(out);
  EXPECT_EQ(out, object);
}

TEST(ManagedFields, DecodeRefusesBadEntries) {
  const char* const bad[] = {
      "[{}]",
      "[{operation: Create, apiVersion: v1, fieldsType: FieldsV1}]",
      "[{operation: Update, fieldsType: FieldsV1}]",
      "[{operation: Update, apiVersion: v1}]",
      "[{operation: Update, apiVersion: v1, fieldsType: FieldsV2}]",
      "[{operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {x: {}}}]",
      "[5]",
      "{}",
  };
  for (const char* text : bad) EXPECT_FALSE(ManagedFields::Decode(Y(text)).ok()) << text;
  EXPECT_TRUE(ManagedFields::Decode(Json()).ok());
}

TEST(ManagedFields, IdentityOfEntries) {
  OwnerEntry a = Updater("m", "v1", 1, {"a"});
  OwnerEntry b = Updater("m", "v2", 1, {"a"});
  EXPECT_FALSE(a.SameOwner(b));
  a.operation = b.operation = Operation::kApply;
  EXPECT_TRUE(a.SameOwner(b));
  b.subresource = "status";
  EXPECT_FALSE(a.SameOwner(b));
  EXPECT_EQ(b.Identifier(), R"({"manager":"m","operation":"Apply","subresource":"status"})");
  EXPECT_EQ(Updater("m", "v1", 1, {}).Identifier(),
            R"({"manager":"m","operation":"Update","apiVersion":"v1"})");
}

TEST(ManagedFields, SortOrder) {
  ManagedFields managed;
  auto add = [&](OwnerEntry entry, Operation operation, const char* subresource = "") {
    entry.operation = operation;
    entry.subresource = subresource;
    managed.entries().push_back(std::move(entry));
  };
  add(Updater("e", "v1", 2, {"a"}), Operation::kUpdate);
  add(Updater("d", "v1", 1, {"a"}), Operation::kUpdate, "status");
  add(Updater("d", "v2", 1, {"a"}), Operation::kUpdate);
  add(Updater("d", "v1", 1, {"a"}), Operation::kUpdate);
  add(Updater("b", "v1", 3, {"a"}), Operation::kApply);
  add(Updater("c", "v1", 3, {"a"}), Operation::kApply);
  add(Updater("z", "v1", 0, {"a"}), Operation::kApply);
  managed.entries().back().time.clear();
  Json object = Json::object();
  std::move(managed).WriteTo(object);
  Strings order;
  for (const Json& entry : ListOf(object)) {
    order.push_back(StringAt(entry, {"manager"}) + "/" + StringAt(entry, {"apiVersion"}) + "/" +
                    StringAt(entry, {"subresource"}));
  }
  EXPECT_EQ(order, (Strings{"z/v1/", "b/v1/", "c/v1/", "d/v1/", "d/v1/status", "d/v2/", "e/v1/"}));
}

TEST(ManagedFields, CapMergesTheOldestUpdaters) {
  ManagedFields managed;
  for (int i = 0; i < 12; ++i) {
    managed.entries().push_back(
        Updater("m" + std::to_string(i), i == 1 ? "v2" : "v1", i, {"f" + std::to_string(i)}));
  }
  OwnerEntry applier = Updater("applier", "v1", 0, {"x"});
  applier.operation = Operation::kApply;
  managed.entries().push_back(applier);
  managed.CapUpdaters();
  Json object = Json::object();
  std::move(managed).WriteTo(object);
  const Json list = ListOf(object);
  ASSERT_EQ(list.size(), 11u);
  EXPECT_EQ(StringAt(list[0], {"manager"}), "applier");
  EXPECT_EQ(StringAt(list[1], {"manager"}), "m1");
  EXPECT_EQ(StringAt(list[2], {"manager"}), "ancient-changes");
  EXPECT_EQ(StringAt(list[2], {"apiVersion"}), "v1");
  EXPECT_EQ(StringAt(list[2], {"time"}), "2020-01-01T03:00:00Z");
  EXPECT_EQ(*Find(list[2], {"fieldsV1"}), Y("{'f:f0': {}, 'f:f2': {}, 'f:f3': {}}"));
  EXPECT_EQ(StringAt(list[3], {"manager"}), "m4");
}

TEST(ManagedFields, CapGrowsAnExistingBucket) {
  ManagedFields managed;
  managed.entries().push_back(Updater("ancient-changes", "v1", 2, {"a", "b"}));
  for (int i = 3; i < 13; ++i) {
    managed.entries().push_back(
        Updater("m" + std::to_string(i), "v1", i, {"f" + std::to_string(i)}));
  }
  managed.CapUpdaters();
  EXPECT_EQ(managed.entries().size(), 10u);
  OwnerEntry like = Updater("ancient-changes", "v1", 0, {});
  const OwnerEntry* bucket = managed.Find(like);
  ASSERT_NE(bucket, nullptr);
  EXPECT_EQ(Texts(bucket->fields), (Strings{".a", ".b", ".f3"}));
  EXPECT_EQ(bucket->time, "2020-01-01T03:00:00Z");
}

TEST(ManagedFields, CapCannotMergeAcrossVersions) {
  ManagedFields managed;
  for (int i = 0; i < 12; ++i) {
    managed.entries().push_back(Updater("m", "v" + std::to_string(i), i, {"a"}));
  }
  managed.CapUpdaters();
  EXPECT_EQ(managed.entries().size(), 12u);
}

TEST(ManagedFields, ResetForms) {
  const Json empty = Json::array();
  const Json blank = Y("[{}]");
  const Json two = Y("[{}, {}]");
  const Json null;
  EXPECT_TRUE(IsTrackingReset(&empty));
  EXPECT_TRUE(IsTrackingReset(&blank));
  EXPECT_FALSE(IsTrackingReset(&two));
  EXPECT_FALSE(IsTrackingReset(&null));
  EXPECT_FALSE(IsTrackingReset(nullptr));
}

TEST(ManagedFields, TensOfThousandsOfManagersAreReadInALittleTime) {
  Json list = Json::array();
  for (int i = 0; i < 40'000; ++i) {
    list.push_back({{"apiVersion", "v" + std::to_string(i % 20'000)}, {"fieldsType", "FieldsV1"},
                    {"fieldsV1", {{"f:a", Json::object()}}}, {"manager", "m" + std::to_string(i % 30'000)},
                    {"operation", i % 2 == 0 ? "Apply" : "Update"}, {"time", "2020-01-01T00:00:00Z"}});
  }
  const auto start = ThreadCpu();
  auto managed = ManagedFields::Decode(list);
  ASSERT_TRUE(managed.ok());
  EXPECT_EQ(managed->entries().size(), 35'000u) << "appliers are one for each manager, updaters also for each version";
  managed->CapUpdaters();
  // Comparing each with each took many times as long.
  EXPECT_LT(ThreadCpu() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace mailroom::apiserver
