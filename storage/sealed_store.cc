#include "storage/sealed_store.h"

#include <algorithm>

#include "storage/object/limits.h"
#include "storage/object/resource_key.h"

namespace mailroom::storage {
namespace {

Result<void> OpenEntry(const Seal& seal, KeyValue& entry) {
  if (!entry.value || !Seal::IsSealed(*entry.value)) return Ok();
  entry.value = std::make_shared<const std::string>(TRY(seal.Open(entry.key, *entry.value)));
  return Ok();
}

// Gives plain values to the sink above. A value that cannot be opened is passed on as it is:
// whoever decodes it says so, and takes it neither for an object nor for the end of one.
class OpeningSink final : public ChangeSink {
 public:
  OpeningSink(const Seal& seal, ChangeSink& above) : seal_(seal), above_(above) {}

  void OnChanges(const ChangeBatch& batch) override {
    const bool sealed = std::any_of(batch.changes.begin(), batch.changes.end(), [](const Change& c) {
      return (c.entry.value && Seal::IsSealed(*c.entry.value)) ||
             (c.previous && c.previous->value && Seal::IsSealed(*c.previous->value));
    });
    if (!sealed) return above_.OnChanges(batch);
    ChangeBatch plain = batch;
    for (Change& change : plain.changes) {
      Open(change.entry);
      if (change.previous) Open(*change.previous);
    }
    above_.OnChanges(plain);
  }
  bool WantsPreviousValues() const override { return above_.WantsPreviousValues(); }
  void OnEnd(const Status& why) override { above_.OnEnd(why); }

 private:
  void Open(KeyValue& entry) { (void)OpenEntry(seal_, entry).ok(); }
  const Seal& seal_;
  ChangeSink& above_;
};

class SealedWatch final : public WatchHandle {
 public:
  SealedWatch(const Seal& seal, ChangeSink& above) : sink(seal, above) {}
  OpeningSink sink;
  std::unique_ptr<WatchHandle> handle;  // ends first
};

class SealedStore final : public Store {
 public:
  SealedStore(std::unique_ptr<Store> below, Seal seal)
      : seal_(std::move(seal)), below_(std::move(below)) {}

  Result<GetResult> Get(const std::string& key) override {
    GetResult result = TRY(below_->Get(key));
    if (result.entry) TRY(OpenEntry(seal_, *result.entry));
    return result;
  }

  Result<ListResult> List(const ListOptions& options) override {
    ListResult result = TRY(below_->List(options));
    for (KeyValue& entry : result.entries) TRY(OpenEntry(seal_, entry));
    return result;
  }

  void Commit(Txn txn, CommitDone done) override {
    for (Operation& operation : txn.operations) {
      if (operation.type != Operation::Type::kPut || !operation.value) continue;
      auto closed = seal_.Close(operation.key, *operation.value);
      if (!closed.ok()) return done(std::move(closed).error());
      operation.value = std::make_shared<const std::string>(std::move(*closed));
    }
    below_->Commit(std::move(txn), [this, done = std::move(done)](Result<TxnResult> result) {
      if (!result.ok()) return done(std::move(result));
      for (KeyValue& entry : result->actual) {
        if (auto opened = OpenEntry(seal_, entry); !opened.ok()) {
          return done(std::move(opened).error());
        }
      }
      done(std::move(result));
    });
  }

  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    auto watch = std::make_unique<SealedWatch>(seal_, sink);
    watch->handle = TRY(below_->Watch(prefix, after, watch->sink));
    return std::unique_ptr<WatchHandle>(std::move(watch));
  }

  Result<void> Compact(Revision at) override { return below_->Compact(at); }
  Result<Revision> CurrentRevision() override { return below_->CurrentRevision(); }
  void Close() override { below_->Close(); }

 private:
  const Seal seal_;
  const std::unique_ptr<Store> below_;
};

}  // namespace

std::unique_ptr<Store> OpenSealed(std::unique_ptr<Store> below, Seal seal) {
  return std::make_unique<SealedStore>(std::move(below), std::move(seal));
}

Result<std::size_t> Reseal(Store& below, const Seal& seal) {
  std::size_t written = 0;
  ListOptions options{.prefix = HubPrefix(), .start_after = "", .limit = limits::kSealedPage,
                      .at = {}};
  while (true) {
    const ListResult page = TRY(below.List(options));
    for (const KeyValue& entry : page.entries) {
      if (!entry.value || !seal.IsStale(entry.key, *entry.value)) continue;
      const std::string plain = TRY(seal.Open(entry.key, *entry.value));
      Txn txn;
      txn.compares.push_back({entry.key, entry.mod_revision});
      txn.operations.push_back(
          {Operation::Type::kPut, entry.key,
           std::make_shared<const std::string>(TRY(seal.Close(entry.key, plain)))});
      if (TRY(CommitAndWait(below, std::move(txn))).committed) ++written;
    }
    if (!page.more || page.entries.empty()) return written;
    options.start_after = page.entries.back().key;
  }
}

}  // namespace mailroom::storage
