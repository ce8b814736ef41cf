#include "apiserver/client/leader.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "apiserver/client/backoff.h"
#include "storage/object/json_path.h"
#include "storage/object/log.h"

namespace mailroom::client {
namespace {

using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

class Candidate final : public Leader {
 public:
  Candidate(Options options, std::function<void()> start, std::function<void()> stop)
      : options_(std::move(options)), start_(std::move(start)), stop_(std::move(stop)),
        worker_([this](const std::stop_token& token) { Work(token); }),
        thread_([this](const std::stop_token& token) { Loop(token); }) {}
  ~Candidate() override {
    thread_.request_stop();
    thread_.join();
    worker_.request_stop();
    worker_.join();
  }
  bool leading() const override { return leading_; }

 private:
  void Loop(const std::stop_token& token) {
    Time renewed{};
    while (!token.stop_requested()) {
      const Time now = options_.clock.Monotonic();
      Result<bool> held = TryHold(now);
      if (!held.ok()) {
        Log(Level::kDebug, "lease not reached", {{"error", held.error().message()}});
      }
      if (held.ok() && *held) {
        renewed = now;
        if (!leading_) Begin();
      } else if (leading_) {
        const bool lost = held.ok();  // somebody else has it
        if (lost || options_.clock.Monotonic() - renewed >= options_.renewal) End("lost");
      }
      Wait(token);
    }
    if (!leading_) return;
    End("stopping");
    Release();
  }

  void Begin() {
    Log(Level::kInfo, "leading", {{"lease", options_.name}, {"identity", options_.identity}});
    leading_ = true;
    std::lock_guard lock(mutex_);
    wanted_ = true;
    wake_.notify_all();
  }

  void End(const char* why) {
    Log(Level::kInfo, "no longer leading", {{"lease", options_.name}, {"why", why}});
    leading_ = false;
    std::unique_lock lock(mutex_);
    wanted_ = false;
    wake_.notify_all();
    wake_.wait(lock, [this] { return !works_ && !turning_; });
  }

  // Starts and stops, so that the lease is renewed however long that takes.
  void Work(const std::stop_token& token) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, token, [this] { return wanted_ != works_; })) {
      const bool starts = wanted_;
      turning_ = true;
      lock.unlock();
      (starts ? start_ : stop_)();
      lock.lock();
      works_ = starts;
      turning_ = false;
      wake_.notify_all();
    }
  }

  void Wait(const std::stop_token& token) {
    const std::int64_t whole = options_.retry.count();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, token, milliseconds(RandomBetween(whole * 3 / 4, whole)),
                   [] { return false; });
  }

  ObjectRef Ref() const {
    return {.gvr = {"coordination.k8s.io/v1", "leases"},
            .ns = options_.ns,
            .name = options_.name,
            .subresource = ""};
  }

  // Takes or renews the lease if that is possible now; true when it is ours.
  Result<bool> TryHold(Time now) {
    auto lease = options_.client.Get(Ref());
    if (!lease.ok()) {
      if (lease.error().reason() != Reason::kNotFound) return std::move(lease).error();
      const Json fresh = {{"apiVersion", "coordination.k8s.io/v1"},
                          {"kind", "Lease"},
                          {"metadata", {{"name", options_.name}, {"namespace", options_.ns}}},
                          {"spec", Spec(0, "")}};
      return Mine(options_.client.Create(Ref().gvr, options_.ns, fresh));
    }
    const std::string version = StringAt(*lease, {"metadata", "resourceVersion"});
    if (version != seen_) {
      seen_ = version;
      seen_at_ = now;
    }
    const std::string holder = StringAt(*lease, {"spec", "holderIdentity"});
    const bool ours = holder == options_.identity;
    const milliseconds theirs =
        std::chrono::seconds(IntAt(*lease, {"spec", "leaseDurationSeconds"}, 1));
    if (!ours && !holder.empty() && now - seen_at_ < std::max(theirs, options_.lease)) return false;
    const std::int64_t transitions = IntAt(*lease, {"spec", "leaseTransitions"});
    Json spec = Spec(ours ? transitions : transitions + 1,
                     ours ? StringAt(*lease, {"spec", "acquireTime"}) : "");
    (*lease)["spec"] = std::move(spec);
    return Mine(options_.client.Update(Ref(), *lease));
  }

  // A conflict says that somebody else was faster.
  Result<bool> Mine(Result<Json> written) {
    if (written.ok()) {
      seen_ = StringAt(*written, {"metadata", "resourceVersion"});
      seen_at_ = options_.clock.Monotonic();
      return true;
    }
    const Reason reason = written.error().reason();
    if (reason == Reason::kConflict || reason == Reason::kAlreadyExists) {
      // Whoever wrote may have been this process itself, in an answer that got lost.
      if (!leading_) return false;
    }
    return std::move(written).error();
  }

  Json Spec(std::int64_t transitions, const std::string& acquired) const {
    const std::string now = FormatMicroTime(options_.clock.Now());
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.lease).count();
    return {{"holderIdentity", options_.identity},
            {"leaseDurationSeconds", seconds},
            {"acquireTime", acquired.empty() ? now : acquired},
            {"renewTime", now},
            {"leaseTransitions", transitions}};
  }

  void Release() {
    auto lease = options_.client.Get(Ref());
    if (!lease.ok() || StringAt(*lease, {"spec", "holderIdentity"}) != options_.identity) return;
    Set(*lease, {"spec", "holderIdentity"}, "");
    Set(*lease, {"spec", "leaseDurationSeconds"}, 1);
    (void)options_.client.Update(Ref(), *lease);
  }

  const Options options_;
  const std::function<void()> start_, stop_;
  std::atomic<bool> leading_{false};
  // Of the thread that holds the lease.
  std::string seen_;  // resourceVersion of the lease when it last changed
  Time seen_at_{};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool wanted_ = false, works_ = false, turning_ = false;  // guarded by mutex_
  std::jthread worker_;
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Leader> Leader::Run(Options options, std::function<void()> start,
                                    std::function<void()> stop) {
  return std::make_unique<Candidate>(std::move(options), std::move(start), std::move(stop));
}

}  // namespace mailroom::client
