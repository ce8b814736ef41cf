// Fixtures of the cached store's tests: short objects, one-line descriptions of entries and
// events, and a cache over an engine in memory.
#pragma once

#include <gtest/gtest.h>

#include "storage/cached_store.h"
#include "storage/embedded_store.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"
#include "storage/testing.h"

namespace mailroom::storage {

using namespace std::chrono_literals;
using testing::Bytes;
using testing::TemporaryDirectory;
using Lines = std::vector<std::string>;

inline const GroupResource kConfigMaps{"", "configmaps"};
inline const GroupResource kSecrets{"", "secrets"};

struct Place {
  std::string workspace, ns, name;
  GroupResource resource = kConfigMaps;
  ResourceKey key() const { return {Workspace(workspace), resource, ns, name}; }
};

inline SharedBytes Encoded(const Place& place, const std::string& value,
                           const std::string& label = "x", const std::string& uid = "u") {
  Json metadata = {{"name", place.name}, {"uid", uid}, {"labels", {{"app", label}}}};
  if (!place.ns.empty()) metadata["namespace"] = place.ns;
  return Bytes(Object::Encode({{"apiVersion", "v1"},
                               {"kind", "ConfigMap"},
                               {"metadata", metadata},
                               {"data", {{"v", value}}}}));
}

inline Operation PutObject(const Place& place, const std::string& value,
                           const std::string& label = "x") {
  return {Operation::Type::kPut, place.key().ToStoreKey(), Encoded(place, value, label)};
}
inline Operation DeleteObject(const Place& place) {
  return {Operation::Type::kDelete, place.key().ToStoreKey(), nullptr};
}

inline std::string ValueOf(const Object& object) { return object.ScalarAt("data.v"); }

inline bool LabelIsX(const Object& object) {
  for (const auto& [key, value] : object.meta().labels) {
    if (key == "app") return value == "x";
  }
  return false;
}

// `ws/ns/name=value@revision`.
inline std::string Describe(const std::string& workspace, const Object& object) {
  return workspace + "/" + std::string(object.meta().ns) + "/" + std::string(object.meta().name) +
         "=" + ValueOf(object) + "@" + object.revision().ToString();
}

inline Lines Describe(const std::vector<Entry>& entries) {
  Lines lines;
  for (const Entry& entry : entries) {
    lines.push_back(Describe(entry.workspace->name(), *entry.object));
  }
  return lines;
}

inline Lines Drained(Watcher& watcher, Watcher::State* state = nullptr, Revision* up_to = nullptr) {
  std::vector<Watcher::Item> items;
  Revision reached;
  const Watcher::State end = watcher.Drain(items, 1'000'000, reached);
  if (state) *state = end;
  if (up_to) *up_to = reached;
  Lines lines;
  for (const Watcher::Item& item : items) {
    lines.push_back(std::string(EventTypeText(item.type)) + " " +
                    Describe(item.event->workspace().name(), *item.event->Shown(item.type)));
  }
  return lines;
}

class CachedStoreTest : public ::testing::Test {
 protected:
  CachedStoreTest() { Start(); }
  void Start(std::size_t history = 1000, std::size_t queue = 100) {
    cache_.reset();
    Result<std::unique_ptr<CachedStore>> started = CachedStore::Start(
        *store_, {.history_events = history, .watch_queue = queue, .probe = false});
    ASSERT_TRUE(started.ok());
    cache_ = std::move(*started);
  }
  Revision Write(std::vector<Operation> operations) {
    Result<TxnResult> result = cache_->Commit({{}, std::move(operations)});
    EXPECT_TRUE(result.ok());
    return result->revision;
  }
  Lines List(const CacheListOptions& options) {
    Result<CacheListResult> result = cache_->List(options);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
    return result.ok() ? Describe(result->entries) : Lines{};
  }
  CacheWatch Watch(const CacheWatchOptions& options) {
    Result<CacheWatch> watch = cache_->Watch(options);
    EXPECT_TRUE(watch.ok()) << (watch.ok() ? "" : watch.error().message());
    return watch.ok() ? std::move(*watch) : CacheWatch{};
  }

  std::unique_ptr<Store> store_ = OpenMemory();
  std::unique_ptr<CachedStore> cache_;
};

inline const Scope kA{Workspace("a"), kConfigMaps, ""};
inline const Scope kAll{Workspace(), kConfigMaps, ""};

}  // namespace mailroom::storage
