// What the tests of this folder share: short forms for transactions, a sink that records a watch,
// and throw-away directories.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "storage/store.h"

namespace mailroom::storage::testing {

inline SharedBytes Bytes(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}
inline Operation Put(std::string key, std::string value) {
  return {Operation::Type::kPut, std::move(key), Bytes(std::move(value))};
}
inline Operation Delete(std::string key) {
  return {Operation::Type::kDelete, std::move(key), nullptr};
}
inline Operation DeletePrefix(std::string prefix) {
  return {Operation::Type::kDeletePrefix, std::move(prefix), nullptr};
}
inline Txn Write(std::vector<Operation> operations) { return {{}, std::move(operations)}; }

// Commits and returns the revision; fails the test when it does not commit.
inline Revision MustCommit(Store& store, Txn txn) {
  Result<TxnResult> result = CommitAndWait(store, std::move(txn));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  if (!result.ok()) return Revision();
  EXPECT_TRUE(result->committed);
  return result->revision;
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mailroom-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `put /a=1 @3 (was 0 @2)` and the like: one line per change.
inline std::string Describe(const Change& change) {
  std::string text = change.type == Change::Type::kPut ? "put " : "delete ";
  text += change.entry.key;
  if (change.entry.value) text += "=" + *change.entry.value;
  text += " @" + change.entry.mod_revision.ToString();
  if (change.previous) {
    text += " was " + (change.previous->value ? *change.previous->value : std::string("?")) + " @" +
            change.previous->mod_revision.ToString();
  }
  return text;
}

class RecordingSink final : public ChangeSink {
 public:
  void OnChanges(const ChangeBatch& batch) override {
    std::lock_guard lock(mutex_);
    for (const Change& change : batch.changes) {
      lines_.push_back(Describe(change));
      if (change.entry.mod_revision < last_) out_of_order_ = true;
      last_ = change.entry.mod_revision;
    }
    if (batch.revision < reached_) out_of_order_ = true;
    reached_ = batch.revision;
    arrived_.notify_all();
  }
  void OnEnd(const Status& why) override {
    std::lock_guard lock(mutex_);
    ended_ = why;
    arrived_.notify_all();
  }

  // Waits until everything up to `revision` was delivered, then returns all lines.
  std::vector<std::string> WaitFor(Revision revision) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, std::chrono::seconds(60),
                      [&] { return reached_ >= revision || ended_; });
    EXPECT_GE(reached_, revision) << (ended_ ? ended_->message() : "nothing arrived");
    EXPECT_FALSE(out_of_order_);
    return lines_;
  }
  std::optional<Status> WaitForEnd() {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, std::chrono::seconds(60), [&] { return ended_.has_value(); });
    return ended_;
  }
  std::optional<Status> ended() {
    std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::string> lines_;
  Revision last_;
  Revision reached_;
  bool out_of_order_ = false;
  std::optional<Status> ended_;
};

}  // namespace mailroom::storage::testing
