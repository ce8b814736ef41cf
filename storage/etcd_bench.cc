// What the etcd engine costs beside the least that any gRPC client could do: the same
// transactions, the same server, the same run.
#include <grpcpp/grpcpp.h>

#include <cstdio>

#include "etcd.grpc.pb.h"
#include "storage/bench_load.h"
#include "storage/cached_store.h"
#include "storage/etcd_store.h"
#include "storage/object/limits.h"
#include "storage/test_etcd.h"

namespace mailroom::storage {
namespace {

using namespace bench;  // NOLINT: this program is the benchmark

struct PlainCall {
  etcdserverpb::TxnRequest request;
  etcdserverpb::TxnResponse response;
  grpc::ClientContext context;
};

void PlainCommit(etcdserverpb::KV::Stub& stub, const Txn& txn, std::function<void(bool)> done) {
  auto call = std::make_shared<PlainCall>();
  auto& put = *call->request.add_success()->mutable_request_put();
  put.set_key(txn.operations[0].key);
  put.set_value(*txn.operations[0].value);
  stub.async()->Txn(
      &call->context, &call->request, &call->response,
      [call, done = std::move(done)](const grpc::Status& status) { done(status.ok()); });
}

void Bench(const std::string& version) {
  const std::string program = testing::EtcdProcess::Program(version);
  if (program.empty()) {
    std::printf("no etcd %s: run hack/peer etcd\n", version.c_str());
    return;
  }
  testing::EtcdProcess server(program);
  const EtcdOptions options{.endpoints = server.endpoints()};
  Result<std::unique_ptr<Store>> store = testing::ConnectEtcd(options);
  if (!store.ok()) {
    std::printf("%s\n", store.error().message().c_str());
    return;
  }
  const std::string address = server.endpoints()[0].substr(std::string("http://").size());
  auto stub =
      etcdserverpb::KV::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  auto plain = [&](Txn txn, std::function<void(bool)> done) {
    PlainCommit(*stub, txn, std::move(done));
  };
  for (const int writers : {1, 64, 512}) {
    const int total = writers == 1 ? 2'000 : 20'000;
    // Interleaved, so that a noisy moment hits both.
    double least = 0, ours = 0;
    Load load = {}, bare = {};
    for (int round = 0; round < 2; ++round) {
      bare = RunWriters(plain, writers, total);
      least += bare.per_second / 2;
      load = RunWriters(**store, writers, total);
      ours += load.per_second / 2;
    }
    const std::string who = "etcd " + version + ", " + std::to_string(writers) + " writers, ";
    Row(who + "minimal client", least, "txn/s", 0, bare.Latency());
    Row(who + "engine", ours, "txn/s", 0.8 * least, load.Latency());
  }
}

// How long a hub takes to load what is there, by range.
void BenchStart(const std::string& version) {
  constexpr int kObjects = 100'000;
  const std::string program = testing::EtcdProcess::Program(version);
  if (program.empty()) return;
  // Durability is not what is measured here.
  testing::EtcdProcess server(program, 1, {"--unsafe-no-fsync"});
  const EtcdOptions options{.endpoints = server.endpoints()};
  {
    std::unique_ptr<Store> store = testing::ConnectEtcd(options).value();
    RunWriters(*store, 256, kObjects);
  }
  const double cpu = CpuSeconds();
  const Clock::time_point start = Clock::now();
  std::unique_ptr<Store> store = OpenEtcd(options).value();
  auto cache = CachedStore::Start(*store, {.history_events = limits::kHistoryEvents,
                                           .watch_queue = limits::kWatchQueueEvents})
                   .value();
  Row("etcd " + version + ", start-up over 100,000 objects", Seconds(Clock::now() - start) * 1000,
      "ms", 10'000,
      std::to_string(cache->Stats().objects) + " objects, cpu " + Milliseconds(CpuSeconds() - cpu));
}

}  // namespace
}  // namespace mailroom::storage

int main() {
  mailroom::storage::bench::Head();
  mailroom::storage::Bench("3.4");
  mailroom::storage::Bench("3.5");
  mailroom::storage::BenchStart("3.4");
  mailroom::storage::BenchStart("3.5");
  return 0;
}
