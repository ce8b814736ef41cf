#include "storage/etcd_store.h"

#include <condition_variable>
#include <list>
#include <mutex>

#include "storage/etcd_client.h"
#include "storage/etcd_watch.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/resource_key.h"
#include "storage/txn.h"

namespace mailroom::storage {
namespace {

Revision RevisionOf(const wire::ResponseHeader& header) {
  return Revision(static_cast<std::uint64_t>(header.revision()));
}

std::string RangeEnd(const std::string& prefix) {
  std::string end = PrefixEnd(prefix);
  return end.empty() ? std::string(1, '\0') : end;  // etcd's form of "no bound"
}

wire::TxnRequest ToWire(Txn txn) {
  wire::TxnRequest request;
  for (Compare& compare : txn.compares) {
    wire::Compare& out = *request.add_compare();
    out.set_result(wire::Compare::EQUAL);
    out.set_target(wire::Compare::MOD);
    out.set_mod_revision(static_cast<std::int64_t>(compare.mod_revision.value()));
    out.set_key(compare.key);
    request.add_failure()->mutable_request_range()->set_key(std::move(compare.key));
  }
  for (Operation& operation : txn.operations) {
    wire::RequestOp& out = *request.add_success();
    if (operation.type == Operation::Type::kPut) {
      out.mutable_request_put()->set_key(std::move(operation.key));
      out.mutable_request_put()->set_value(*operation.value);
      continue;
    }
    wire::DeleteRangeRequest& range = *out.mutable_request_delete_range();
    if (operation.type == Operation::Type::kDeletePrefix) {
      range.set_range_end(RangeEnd(operation.key));
    }
    range.set_key(std::move(operation.key));
  }
  return request;
}

TxnResult ResultFromWire(wire::TxnResponse response) {
  TxnResult result;
  result.committed = response.succeeded();
  result.revision = RevisionOf(response.header());
  if (result.committed) return result;
  for (wire::ResponseOp& operation : *response.mutable_responses()) {
    for (wire::KeyValue& entry : *operation.mutable_response_range()->mutable_kvs()) {
      result.actual.push_back(FromWire(std::move(entry)));
    }
  }
  return result;
}

// Ends a watch's sink when the store closes, and forgets it when its handle goes first.
class OpenWatches {
 public:
  struct Open {
    ChangeSink* sink;
    std::unique_ptr<WatchHandle> watch;
  };

  Result<std::unique_ptr<WatchHandle>> Add(const std::shared_ptr<EtcdClient>& client,
                                           const std::string& prefix, Revision after,
                                           ChangeSink& sink);
  void End(const Status& why);

 private:
  class Handle;
  struct State {
    std::mutex mutex;
    std::list<Open> open;  // guarded by mutex
    bool ended = false;    // guarded by mutex
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class OpenWatches::Handle final : public WatchHandle {
 public:
  Handle(std::shared_ptr<State> state, std::list<Open>::iterator self)
      : state_(std::move(state)), self_(self) {}
  ~Handle() override {
    std::list<Open> gone;
    std::lock_guard lock(state_->mutex);
    if (!state_->ended) gone.splice(gone.end(), state_->open, self_);
    gone.clear();
  }

 private:
  std::shared_ptr<State> state_;
  std::list<Open>::iterator self_;
};

Result<std::unique_ptr<WatchHandle>> OpenWatches::Add(const std::shared_ptr<EtcdClient>& client,
                                                      const std::string& prefix, Revision after,
                                                      ChangeSink& sink) {
  std::lock_guard lock(state_->mutex);
  if (state_->ended) return Unavailable("the store is closed");
  state_->open.push_back(Open{&sink, StartEtcdWatch(client, prefix, after, sink)});
  return std::unique_ptr<WatchHandle>(
      std::make_unique<Handle>(state_, std::prev(state_->open.end())));
}

void OpenWatches::End(const Status& why) {
  std::lock_guard lock(state_->mutex);
  if (state_->ended) return;
  state_->ended = true;
  for (Open& open : state_->open) {
    open.watch.reset();
    open.sink->OnEnd(why);
  }
}

class EtcdStore final : public Store {
 public:
  explicit EtcdStore(std::shared_ptr<EtcdClient> client) : client_(std::move(client)) {}
  ~EtcdStore() override { Close(); }

  Result<GetResult> Get(const std::string& key) override;
  Result<ListResult> List(const ListOptions& options) override;
  void Commit(Txn txn, CommitDone done) override;
  Result<std::unique_ptr<WatchHandle>> Watch(const std::string& prefix, Revision after,
                                             ChangeSink& sink) override {
    return watches_.Add(client_, prefix, after, sink);
  }
  Result<void> Compact(Revision at) override;
  Result<Revision> CurrentRevision() override;
  void Close() override;

 private:
  Result<void> Admit();
  void Leave();
  // An OUT_OF_RANGE answer for a revision is either about the past or about the future.
  Status ExplainRange(Status status, Revision at);

  const std::shared_ptr<EtcdClient> client_;
  OpenWatches watches_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t under_way_ = 0;  // guarded by mutex_
  bool closed_ = false;        // guarded by mutex_
};

Result<GetResult> EtcdStore::Get(const std::string& key) {
  wire::RangeRequest request;
  request.set_key(key);
  wire::RangeResponse response = TRY(client_->Range(request));
  GetResult result;
  result.revision = RevisionOf(response.header());
  if (response.kvs_size() > 0) result.entry = FromWire(std::move(*response.mutable_kvs(0)));
  return result;
}

Result<Revision> EtcdStore::CurrentRevision() {
  wire::RangeRequest request;
  request.set_key(std::string(1, '\0'));
  request.set_count_only(true);
  return RevisionOf(TRY(client_->Range(request)).header());
}

Status EtcdStore::ExplainRange(Status status, Revision at) {
  if (status.reason() == Reason::kExpired &&
      static_cast<std::int64_t>(at.value()) > client_->highest()) {
    Result<Revision> current = CurrentRevision();
    if (current.ok() && at > *current) return TooLargeResourceVersion(at.value(), current->value());
  }
  return status;
}

Result<ListResult> EtcdStore::List(const ListOptions& options) {
  ListResult result;
  std::string from = options.prefix.empty() ? std::string(1, '\0') : options.prefix;
  if (!options.start_after.empty()) from = std::max(from, options.start_after + '\0');
  std::size_t page = limits::kEtcdPage;
  // An empty store is at revision 1; 0 would mean the present.
  std::uint64_t revision = options.at ? std::max<std::uint64_t>(options.at->value(), 1) : 0;
  while (true) {
    const std::size_t missing = options.limit - result.entries.size();
    wire::RangeRequest request;
    request.set_key(from);
    request.set_range_end(RangeEnd(options.prefix));
    request.set_limit(
        static_cast<std::int64_t>(options.limit == 0 ? page : std::min(page, missing)));
    request.set_revision(static_cast<std::int64_t>(revision));
    Result<wire::RangeResponse> response = client_->Range(request);
    // A page that is too large, or too much for the time of one call, is asked for in parts.
    const Reason failure = response.ok() ? Reason::kUnknown : response.error().reason();
    if ((failure == Reason::kRequestEntityTooLarge && page > 1) ||
        (failure == Reason::kTimeout && page > limits::kEtcdPage / 16)) {
      page = std::max<std::size_t>(1, page / 8);
      continue;
    }
    if (!response.ok()) return ExplainRange(response.error(), Revision(revision));
    if (revision == 0) revision = RevisionOf(response->header()).value();
    for (wire::KeyValue& entry : *response->mutable_kvs()) {
      result.entries.push_back(FromWire(std::move(entry)));
    }
    const bool full = options.limit != 0 && result.entries.size() >= options.limit;
    if (!response->more() || full) {
      result.more = response->more();
      result.revision = options.at.value_or(Revision(revision));
      return result;
    }
    from = result.entries.back().key + '\0';
  }
}

Result<void> EtcdStore::Admit() {
  std::lock_guard lock(mutex_);
  if (closed_) return Unavailable("the store is closed");
  if (under_way_ >= limits::kCommitQueue) {
    return TooManyRequests("too many writes are waiting for etcd", 1);
  }
  ++under_way_;
  return Ok();
}

void EtcdStore::Leave() {
  std::lock_guard lock(mutex_);
  if (--under_way_ == 0) idle_.notify_all();
}

void EtcdStore::Commit(Txn txn, CommitDone done) {
  Result<void> accepted = CheckTxn(txn);
  if (accepted.ok()) accepted = Admit();
  if (!accepted.ok()) {
    done(std::move(accepted).error());
    return;
  }
  client_->Txn(ToWire(std::move(txn)),
               [this, done = std::move(done)](Result<wire::TxnResponse> response) {
                 if (response.ok()) {
                   done(ResultFromWire(std::move(*response)));
                 } else {
                   done(std::move(response).error());
                 }
                 Leave();
               });
}

Result<void> EtcdStore::Compact(Revision at) {
  wire::CompactionRequest request;
  request.set_revision(static_cast<std::int64_t>(at.value()));
  Result<wire::CompactionResponse> response = client_->Compact(request);
  if (response.ok()) return Ok();
  const Status why = ExplainRange(response.error(), at);
  if (why.reason() == Reason::kExpired) return Ok();  // forgotten already
  return why;
}

void EtcdStore::Close() {
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    idle_.wait(lock, [this] { return under_way_ == 0; });
  }
  watches_.End(Unavailable("the store is closed"));
}

}  // namespace

Result<std::unique_ptr<Store>> OpenEtcd(const EtcdOptions& options) {
  std::shared_ptr<EtcdClient> client = TRY(EtcdClient::Open(options));
  Result<wire::StatusResponse> status = client->GetStatus();
  if (!status.ok()) {
    return Unavailable("storage: no etcd endpoint answers: " + status.error().message());
  }
  auto store = std::make_unique<EtcdStore>(std::move(client));
  const Revision revision = TRY(store->CurrentRevision());
  Log(Level::kInfo, "connected to etcd",
      {{"version", status->version()}, {"revision", revision.ToString()}});
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace mailroom::storage
