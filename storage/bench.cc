// `hack/bench storage`: what the storage layer costs, as a table. Ratios within one run count;
// absolute figures depend on the machine and its disk.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/bench_load.h"
#include "storage/cached_store.h"
#include "storage/embedded_store.h"
#include "storage/object/limits.h"

namespace mailroom::storage {
namespace {

using namespace bench;  // NOLINT: this program is the benchmark

double BareAppends(const std::string& directory, int batch, int rounds) {
  const std::string file = directory + "/append";
  const int descriptor = open(file.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  const std::string bytes(static_cast<std::size_t>(batch) * 1024, 'x');
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < rounds; ++i) {
    if (write(descriptor, bytes.data(), bytes.size()) < 0 || fdatasync(descriptor) != 0) return 0;
  }
  const double elapsed = Seconds(Clock::now() - start);
  close(descriptor);
  return batch * rounds / elapsed;
}

void BenchEmbedded(const std::string& directory) {
  for (const int writers : {1, 16, 64, 512}) {
    const int total = writers == 1 ? 8'000 : writers == 16 ? 40'000 : 150'000;
    const double bare = BareAppends(directory, writers, std::max(200, total / writers / 4));
    Row("append + fdatasync, batches of " + std::to_string(writers), bare, "KiB/s", 0);
    auto store = OpenEmbedded(directory + "/embedded-" + std::to_string(writers)).value();
    RunWriters(*store, 512, 20'000);  // until the log is as long as it gets
    const Load load =
        writers == 1 ? RunLoneWriter(*store, total) : RunWriters(*store, writers, total);
    const double target = writers == 1 ? 4'000 : writers == 512 ? 50'000 : 0;
    Row("embedded, 1 KiB transactions, " + std::to_string(writers) + " writers", load.per_second,
        "txn/s", target, load.Latency());
  }
}

CachedStore::Options CacheOptions(std::size_t queue = limits::kWatchQueueEvents) {
  return {.history_events = limits::kHistoryEvents, .watch_queue = queue, .probe = false};
}

void BenchCached(const std::string& directory) {
  auto store = OpenEmbedded(directory + "/cached").value();
  auto cache = CachedStore::Start(*store, CacheOptions()).value();
  const Load load = RunWriters(*store, 512, 150'000);
  Row("embedded with a cache following, 512 writers", load.per_second, "txn/s", 0, load.Latency());
}

// Feeds the river directly.
class FeedStore final : public Store {
 public:
  Result<GetResult> Get(const std::string&) override { return GetResult{}; }
  Result<ListResult> List(const ListOptions&) override { return ListResult{}; }
  void Commit(Txn, CommitDone) override {}
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string&, Revision,
                                             ChangeSink& sink) override {
    sink_ = &sink;
    return std::unique_ptr<WatchHandle>(std::make_unique<WatchHandle>());
  }
  Result<void> Compact(Revision) override { return Ok(); }
  Result<Revision> CurrentRevision() override { return Revision(); }
  void Close() override {}
  ChangeSink* sink_ = nullptr;
};

void BenchRiver(bool everyone) {
  constexpr int kWatchers = 100, kBatch = 64;
  const int events = everyone ? 200'000 : 400'000;
  FeedStore store;
  auto cache = CachedStore::Start(store, CacheOptions(1'000'000)).value();
  std::vector<CacheWatch> watches;
  for (int i = 0; i < kWatchers; ++i) {
    const Workspace workspace("ws-" + std::to_string(everyone ? 0 : i));
    watches.push_back(
        cache->Watch({.scope = {workspace, GroupResource{"", "configmaps"}, ""}}).value());
  }
  std::vector<ChangeBatch> batches;
  std::uint64_t revision = 0;
  for (int i = 0; i < events; i += kBatch) {
    ChangeBatch batch;
    for (int j = 0; j < kBatch; ++j) {
      const ResourceKey key = KeyOf(everyone ? 0 : (i + j) % kWatchers, (i + j) % 10'000);
      ++revision;
      batch.changes.push_back(
          {Change::Type::kPut,
           {key.ToStoreKey(), MakeValue(key.name), Revision(revision), Revision(revision)}});
    }
    batch.revision = Revision(revision);
    batches.push_back(std::move(batch));
  }
  std::atomic<std::uint64_t> drained = 0;
  const std::uint64_t expected = revision * (everyone ? kWatchers : 1);
  const double cpu = CpuSeconds();
  const Clock::time_point start = Clock::now();
  std::jthread reader([&] {
    std::vector<Watcher::Item> items;
    while (drained < expected) {
      for (CacheWatch& watch : watches) {
        Revision up_to;
        items.clear();
        if (watch.watcher->Drain(items, 4096, up_to) != Watcher::State::kOpen) return;
        drained += items.size();
      }
    }
  });
  for (const ChangeBatch& batch : batches) store.sink_->OnChanges(batch);
  const double applied = Seconds(Clock::now() - start);
  reader.join();
  const double delivered = Seconds(Clock::now() - start);
  const double used = (CpuSeconds() - cpu) / static_cast<double>(revision);
  Row(everyone ? "river, 100 watchers of one collection" : "river, 100 watchers, one each",
      static_cast<double>(revision) / delivered, "events/s", 100'000,
      "applied at " + std::to_string(static_cast<int>(static_cast<double>(revision) / applied)) +
          "/s, deliveries " + std::to_string(drained.load()) + ", cpu per event " +
          std::to_string(static_cast<int>(used * 1e9)) + " ns");
}

std::size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void BenchMemory(const std::string& directory) {
  constexpr int kObjects = 100'000;
  const std::string path = directory + "/memory";
  std::size_t value_bytes = 0;
  {
    auto store = OpenEmbedded(path).value();
    RunWriters(*store, 512, kObjects);
    if (!store->Compact(*store->CurrentRevision()).ok()) return;
    value_bytes = MakeValue("object-50000")->size();
  }
  malloc_trim(0);
  const std::size_t before = ResidentBytes();
  const std::size_t heap_before = mallinfo2().uordblks;
  const double cpu = CpuSeconds();
  const Clock::time_point start = Clock::now();
  auto store = OpenEmbedded(path).value();
  const double opened = Seconds(Clock::now() - start);
  auto cache = CachedStore::Start(*store, CacheOptions()).value();
  const double started = Seconds(Clock::now() - start);
  const double used = CpuSeconds() - cpu;
  malloc_trim(0);
  const double heap = static_cast<double>(mallinfo2().uordblks - heap_before) / kObjects;
  const double resident = static_cast<double>(ResidentBytes() - before) / kObjects;
  Row("start-up over 100,000 objects, ms", started * 1000, "ms", 10'000,
      "open " + Milliseconds(opened) + ", cpu " + Milliseconds(used));
  Row("memory per cached object of " + std::to_string(value_bytes) + " bytes, resident", resident,
      "bytes", 1638, "heap " + std::to_string(static_cast<int>(heap)));
}

int Main(int argc, char** argv) {
  std::string pattern = argc > 1 ? argv[1] : "";
  std::string directory = (std::filesystem::current_path() / "bench-XXXXXX").string();
  if (!mkdtemp(directory.data())) return 1;
  Head();
  auto wanted = [&](const char* name) { return pattern.empty() || pattern == name; };
  if (wanted("memory")) BenchMemory(directory);
  if (wanted("embedded")) BenchEmbedded(directory);
  if (wanted("cached")) BenchCached(directory);
  if (wanted("river")) {
    BenchRiver(false);
    BenchRiver(true);
  }
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace mailroom::storage

int main(int argc, char** argv) { return mailroom::storage::Main(argc, argv); }
