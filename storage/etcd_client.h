// Connections to an etcd cluster: one channel per endpoint for calls and one for watches (a busy
// connection must not starve the watch), the choice of endpoint, credentials, deadlines, and the
// only mapping from gRPC's errors to Status. Included by etcd_*.cc only. Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "etcd.grpc.pb.h"
#include "storage/etcd_store.h"
#include "storage/object/result.h"

namespace mailroom::storage {

namespace wire = etcdserverpb;

class EtcdClient {
 public:
  static Result<std::shared_ptr<EtcdClient>> Open(const EtcdOptions& options);

  // Reads and compactions may be put again to another member when one cannot be reached.
  Result<wire::RangeResponse> Range(const wire::RangeRequest& request);
  Result<wire::CompactionResponse> Compact(const wire::CompactionRequest& request);
  Result<wire::StatusResponse> GetStatus();
  // Never repeated: a lost answer leaves the outcome unknown, and says so.
  void Txn(wire::TxnRequest request, std::function<void(Result<wire::TxnResponse>)> done);

  // A stub for a watch stream, on the connection kept for watches.
  wire::Watch::Stub& WatchStub();
  // The next stub is another member's.
  void RotateWatch() { ++watch_turn_; }
  // Adds the token, fetching one when there is none or it is old. May block.
  Result<void> Authorize(grpc::ClientContext& context);

  // Refuses a header that comes from another cluster or lies before `floor`.
  Result<void> CheckHeader(const wire::ResponseHeader& header, std::int64_t floor);
  // The highest revision that any answer has shown.
  std::int64_t highest() const { return highest_.load(); }

 private:
  struct Endpoint {
    std::string address;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<wire::KV::Stub> kv;
    std::unique_ptr<wire::Maintenance::Stub> maintenance;
    std::unique_ptr<wire::Auth::Stub> auth;
    std::unique_ptr<wire::Watch::Stub> watch;
  };

  EtcdClient(EtcdOptions options, std::vector<Endpoint> endpoints)
      : options_(std::move(options)), endpoints_(std::move(endpoints)) {}
  // A connected endpoint when there is one, starting with the one used last.
  Endpoint& Pick();
  void Rotate(const Endpoint& failed);
  void ForgetToken();
  template <typename Response, typename Call>
  Result<Response> CallWithRetry(Call call);

  const EtcdOptions options_;
  std::vector<Endpoint> endpoints_;
  std::atomic<std::size_t> turn_{0};
  std::atomic<std::size_t> watch_turn_{0};
  std::atomic<std::uint64_t> cluster_{0};
  std::atomic<std::int64_t> highest_{0};
  std::mutex token_mutex_;
  std::string token_;  // this and the next guarded by token_mutex_
  std::chrono::steady_clock::time_point token_since_;
};

// What a failed call means to us; a failed write may have happened nevertheless.
enum class Intent { kRead, kWrite };
Status FromGrpc(const grpc::Status& status, Intent intent);

}  // namespace mailroom::storage
