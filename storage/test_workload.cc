#include "storage/test_workload.h"

#include <atomic>
#include <random>
#include <thread>

#include "storage/testing.h"

namespace mailroom::storage::testing {
namespace {

class Client {
 public:
  Client(Store& store, Recorder& recorder, unsigned seed, int number)
      : store_(store), recorder_(recorder), random_(seed), name_("c" + std::to_string(number)) {}

  void Call() {
    switch (random_() % 10) {
      case 0:
      case 1:
      case 2:
        recorder_.Commit(store_, testing::Write({Put(Key(), Value())})).ok();
        return;
      case 3: {
        const std::string first = Key(), second = Key();
        if (first == second) return;
        recorder_.Commit(store_, testing::Write({Put(first, Value()), Put(second, Value())})).ok();
        return;
      }
      case 4:
      case 5:
        CompareAndSwap();
        return;
      case 6:
        recorder_.Commit(store_, testing::Write({Delete(Key())})).ok();
        return;
      case 7:
        if (random_() % 4 == 0) {
          recorder_.Commit(store_, testing::Write({DeletePrefix("/t/a/")})).ok();
        }
        return;
      case 8:
        recorder_.Get(store_, Key()).ok();
        return;
      default:
        List();
    }
  }

 private:
  std::string Key() {
    return std::string("/t/") + "ab"[random_() % 2] + "/" + std::to_string(random_() % 5);
  }
  std::string Value() { return name_ + "-" + std::to_string(++count_); }

  void CompareAndSwap() {
    const std::string key = Key();
    Result<GetResult> current = recorder_.Get(store_, key);
    if (!current.ok()) return;
    const Revision seen = current->entry ? current->entry->mod_revision : Revision();
    recorder_.Commit(store_, Txn{{{key, seen}}, {Put(key, Value())}}).ok();
  }

  void List() {
    Result<ListResult> now = recorder_.List(store_, {.prefix = "/t/"});
    if (!now.ok() || now->revision.value() < 5) return;
    // Compaction may have been there first.
    const Revision past(now->revision.value() - random_() % 5);
    recorder_.List(store_, {.prefix = "/t/a/", .at = past}).ok();
  }

  Store& store_;
  Recorder& recorder_;
  std::mt19937 random_;
  const std::string name_;
  int count_ = 0;
};

constexpr std::chrono::seconds kPatience(60);

// Calls until it succeeds, at most for kPatience; returns the last outcome.
template <typename Call>
auto Persist(Call call) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  auto outcome = call(0);
  for (int attempt = 1; !outcome.ok() && std::chrono::steady_clock::now() < end; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    outcome = call(attempt);
  }
  return outcome;
}

}  // namespace

void RunTraffic(Store& store, Recorder& recorder, const Workload& workload,
                const std::atomic<bool>& over) {
  std::vector<std::jthread> clients;
  for (int i = 0; i < workload.clients; ++i) {
    clients.emplace_back([&, i] {
      Client client(store, recorder, workload.seed * 100 + static_cast<unsigned>(i), i);
      for (int call = 0; workload.calls == 0 ? !over : call < workload.calls; ++call) client.Call();
    });
  }
}

std::vector<std::string> RunAndJudge(Store& store, const Workload& workload,
                                     const Disturbance& disturb) {
  // The judge begins with an empty store.
  const Result<TxnResult> emptied =
      Persist([&](int) { return CommitAndWait(store, testing::Write({DeletePrefix("/t/")})); });
  if (!emptied.ok()) return {"the store cannot be emptied: " + emptied.error().message()};
  Recorder recorder;
  const Result<Revision> begun = Persist([&](int) { return store.CurrentRevision(); });
  if (!begun.ok()) return {"the store cannot be read: " + begun.error().message()};
  std::vector<std::string> violations;
  const Revision start = *begun;
  std::list<std::pair<RecordedStream*, std::unique_ptr<WatchHandle>>> watches;
  auto watch = [&](const std::string& prefix, Revision after) {
    RecordedStream& stream = recorder.Stream(prefix, after);
    Result<std::unique_ptr<WatchHandle>> handle = store.Watch(prefix, after, stream);
    if (handle.ok()) watches.emplace_back(&stream, std::move(*handle));
  };
  {
    std::atomic<bool> over = false;
    std::jthread traffic([&] { RunTraffic(store, recorder, workload, over); });
    std::jthread beside([&] {
      bool alive = true;
      if (disturb) {
        disturb([&] { return alive = alive && recorder.AwaitAcknowledged(20, kPatience); });
      }
      if (!alive) violations.push_back("no write was acknowledged for long");
      over = true;
    });
    for (int i = 0; i < workload.watches; ++i) {
      const Result<Revision> now = store.CurrentRevision();
      const Revision after = i % 2 == 0 || !now.ok() ? start : *now;
      watch(i % 3 == 0 ? "/t/a/" : "/t/", after);
    }
  }
  // A last write under every prefix, so that each watch has an end to wait for.
  const Result<TxnResult> last = Persist([&](int attempt) {
    const std::string value = "last-" + std::to_string(attempt);
    return recorder.Commit(store, testing::Write({Put("/t/a/last", value)}));
  });
  if (!last.ok()) violations.push_back("the store did not recover: " + last.error().message());
  watch("/t/", start);
  for (auto& [stream, handle] : watches) {
    if (last.ok() && !stream->WaitFor(last->revision) && !stream->ended) {
      violations.push_back("watch of " + stream->prefix + " hangs at " +
                           stream->reached.ToString());
    }
    handle.reset();
  }
  recorder.List(store, {.prefix = "/t/"}).ok();
  if (last.ok() &&
      last->revision.value() < start.value() + static_cast<unsigned>(workload.minimum)) {
    violations.push_back("too little traffic to judge");
  }
  for (std::string& each : recorder.Judge(start)) violations.push_back(std::move(each));
  return violations;
}

}  // namespace mailroom::storage::testing
