#include "storage/etcd_watch.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/resource_key.h"

namespace mailroom::storage {
namespace {

// Why a stream ended, and whether the watch can go on from where it was.
struct StreamEnd {
  Status why;
  bool resumable;
};

// One stream. Reads are handled on gRPC's threads, one at a time; the owner waits for the end.
class Stream final : public grpc::ClientBidiReactor<wire::WatchRequest, wire::WatchResponse> {
 public:
  Stream(EtcdClient& client, const std::string& prefix, Revision after, ChangeSink& sink)
      : client_(client), prefix_(prefix), sink_(sink), last_(after) {}

  void Start() {
    if (Result<void> authorized = client_.Authorize(context_); !authorized.ok()) {
      Finish(StreamEnd{authorized.error(), true});
      return;
    }
    // A member cut off from the others must not keep a silent watch.
    context_.AddMetadata("hasleader", "true");
    wire::WatchCreateRequest& create = *request_.mutable_create_request();
    create.set_key(prefix_.empty() ? std::string(1, '\0') : prefix_);
    const std::string end = PrefixEnd(prefix_);
    create.set_range_end(end.empty() ? std::string(1, '\0') : end);
    create.set_start_revision(static_cast<std::int64_t>(last_.Next().value()));
    create.set_prev_kv(sink_.WantsPreviousValues());
    create.set_fragment(true);
    client_.WatchStub().async()->Watch(&context_, this);
    StartWrite(&request_);
    StartRead(&response_);
    StartCall();
  }
  void Cancel() { context_.TryCancel(); }
  StreamEnd Wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return end_.has_value(); });
    return *end_;
  }
  // REQUIRES: the stream has ended.
  Revision last() const { return last_; }
  bool delivered() const { return delivered_; }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (std::optional<StreamEnd> end = Handle()) {
      reason_ = std::move(end);
      context_.TryCancel();
      return;
    }
    response_.Clear();
    StartRead(&response_);
  }

  void OnDone(const grpc::Status& status) override {
    Finish(reason_ ? *reason_ : StreamEnd{FromGrpc(status, Intent::kRead), true});
  }

  void Finish(StreamEnd end) {
    // The waiter may destroy this object as soon as it holds the lock.
    std::lock_guard lock(mutex_);
    end_ = std::move(end);
    finished_.notify_all();
  }

  std::optional<StreamEnd> Handle() {
    const wire::WatchResponse& response = response_;
    if (response.canceled()) {
      if (response.compact_revision() != 0) {
        return StreamEnd{Expired("etcd: revision " + last_.ToString() + " was compacted"), false};
      }
      return StreamEnd{Unavailable("etcd: " + response.cancel_reason()), true};
    }
    if (response.created()) {
      const auto floor = static_cast<std::int64_t>(last_.value());
      Result<void> plausible = client_.CheckHeader(response.header(), floor);
      if (!plausible.ok()) return StreamEnd{plausible.error(), true};
    }
    return Deliver();
  }

  std::optional<StreamEnd> Deliver() {
    for (wire::Event& event : *response_.mutable_events()) {
      Change change;
      change.type = event.type() == wire::Event::PUT ? Change::Type::kPut : Change::Type::kDelete;
      change.entry = FromWire(std::move(*event.mutable_kv()));
      if (change.type == Change::Type::kDelete) change.entry.value = nullptr;
      if (event.has_prev_kv()) change.previous = FromWire(std::move(*event.mutable_prev_kv()));
      const Revision before = batch_.changes.empty() ? last_ : batch_.revision;
      const Revision revision = change.entry.mod_revision;
      // Known faults of old servers repeat or reorder history after a member caught up.
      if (revision <= last_ || revision < before) {
        return StreamEnd{Expired("etcd: the watch went back from revision " + before.ToString() +
                                 " to " + revision.ToString()),
                         false};
      }
      batch_.revision = revision;
      batch_.changes.push_back(std::move(change));
    }
    // A revision may be spread over fragments; it is delivered whole.
    if (response_.fragment() || batch_.changes.empty()) return std::nullopt;
    sink_.OnChanges(batch_);
    last_ = batch_.revision;
    delivered_ = true;
    batch_ = {};
    return std::nullopt;
  }

  EtcdClient& client_;
  const std::string& prefix_;
  ChangeSink& sink_;
  grpc::ClientContext context_;
  wire::WatchRequest request_;
  wire::WatchResponse response_;
  ChangeBatch batch_;  // not yet complete
  Revision last_;      // everything up to this was delivered
  bool delivered_ = false;
  std::optional<StreamEnd> reason_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::optional<StreamEnd> end_;  // guarded by mutex_
};

class EtcdWatch final : public WatchHandle {
 public:
  EtcdWatch(std::shared_ptr<EtcdClient> client, std::string prefix, Revision after,
            ChangeSink& sink)
      : client_(std::move(client)),
        prefix_(std::move(prefix)),
        sink_(sink),
        last_(after),
        thread_([this](std::stop_token stop) { Run(stop); }) {}
  ~EtcdWatch() override {
    thread_.request_stop();
    {
      std::lock_guard lock(mutex_);
      if (stream_) stream_->Cancel();
    }
    thread_.join();
  }

 private:
  void Run(std::stop_token stop) {
    auto delay = limits::kReconnectFirst;
    while (!stop.stop_requested()) {
      Stream stream(*client_, prefix_, last_, sink_);
      if (!Adopt(&stream, stop)) return;
      stream.Start();
      const StreamEnd end = stream.Wait();
      Adopt(nullptr, stop);
      last_ = stream.last();
      if (stop.stop_requested()) return;
      if (!end.resumable) {
        sink_.OnEnd(end.why);
        return;
      }
      Log(Level::kWarn, "etcd watch interrupted",
          {{"error", end.why.message()}, {"resuming after", last_.ToString()}});
      client_->RotateWatch();
      if (stream.delivered()) delay = limits::kReconnectFirst;
      std::unique_lock lock(mutex_);
      stopping_.wait_for(lock, stop, delay, [] { return false; });
      delay = std::min<std::chrono::milliseconds>(
          delay * 2, std::chrono::milliseconds(limits::kEtcdReconnectLastMs));
    }
  }

  // False when the watch is to stop and no stream may start.
  bool Adopt(Stream* stream, const std::stop_token& stop) {
    std::lock_guard lock(mutex_);
    stream_ = stream;
    return !stream || !stop.stop_requested();
  }

  const std::shared_ptr<EtcdClient> client_;
  const std::string prefix_;
  ChangeSink& sink_;
  Revision last_;  // of thread_
  std::mutex mutex_;
  std::condition_variable_any stopping_;
  Stream* stream_ = nullptr;  // guarded by mutex_
  std::jthread thread_;       // last: everything it uses exists
};

}  // namespace

KeyValue FromWire(wire::KeyValue&& entry) {
  return {std::move(*entry.mutable_key()),
          std::make_shared<const std::string>(std::move(*entry.mutable_value())),
          Revision(static_cast<std::uint64_t>(entry.create_revision())),
          Revision(static_cast<std::uint64_t>(entry.mod_revision()))};
}

std::unique_ptr<WatchHandle> StartEtcdWatch(std::shared_ptr<EtcdClient> client, std::string prefix,
                                            Revision after, ChangeSink& sink) {
  return std::make_unique<EtcdWatch>(std::move(client), std::move(prefix), after, sink);
}

}  // namespace mailroom::storage
