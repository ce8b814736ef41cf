#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>

#include "apiserver/converted_watcher.h"
#include "apiserver/implied.h"
#include "apiserver/list_body.h"
#include "apiserver/read_options.h"
#include "apiserver/render.h"
#include "apiserver/timer_queue.h"
#include "apiserver/verbs.h"
#include "storage/event_run.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// The transport's ready callback, shared with whoever may wake the stream, and the tasks that will.
// After End returns the callback is not running and never runs again, and no task waits any more.
class Waker : public std::enable_shared_from_this<Waker> {
 public:
  explicit Waker(TimerQueue& timers) : timers_(timers) {}

  void Set(std::function<void()> ready) {
    std::lock_guard lock(mutex_);
    ready_ = std::move(ready);
  }
  void Wake() {
    std::lock_guard lock(mutex_);
    if (ready_) ready_();
  }
  void Expire() {
    expired = true;
    Wake();
  }
  void ExpireAfter(std::chrono::seconds lifetime) {
    std::lock_guard lock(mutex_);
    deadline_ = timers_.At(std::chrono::steady_clock::now() + lifetime,
                           [weak = weak_from_this()] {
                             if (auto waker = weak.lock()) waker->Expire();
                           });
  }
  void ScheduleBookmark() {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    bookmark_ = timers_.At(std::chrono::steady_clock::now() + limits::kBookmarkInterval,
                           [weak = weak_from_this()] {
                             auto waker = weak.lock();
                             if (!waker) return;
                             waker->bookmark_due = true;
                             waker->Wake();
                             waker->ScheduleBookmark();
                           });
  }
  void End() {
    std::lock_guard lock(mutex_);
    ready_ = nullptr;
    if (std::exchange(ended_, true)) return;
    timers_.Cancel(deadline_);
    timers_.Cancel(bookmark_);
  }
  std::atomic<bool> expired{false};       // the watch's own deadline passed
  std::atomic<bool> bookmark_due{false};

 private:
  TimerQueue& timers_;
  std::mutex mutex_;  // guards everything below
  std::function<void()> ready_;
  bool ended_ = false;
  TimerQueue::Id deadline_ = {}, bookmark_ = {};
};

// Events as text.
class Frames {
 public:
  Frames(FrameEncoder& encoder, std::vector<SharedBytes>& out) : encoder_(encoder), out_(out) {}
  void Initial(const storage::Entry& entry) { Add(encoder_.EncodeInitial(entry)); }
  void Event(const storage::Watcher::Item& item) { Add(encoder_.Encode(item.type, item.event)); }
  void Bookmark(Revision revision, bool end_of_initial) {
    Add(encoder_.EncodeBookmark(revision, end_of_initial));
  }
  void Failure(const Status& status) { Add(encoder_.EncodeFailure(status)); }
  // All of them at once, in the text that others are sent, too.
  void Run(const storage::EventRun& run) {
    SharedBytes text = encoder_.Encode(run);
    if (text) return Add(std::move(text));
    for (const storage::Watcher::Item& item : run.items()) Event(item);
  }
  bool takes_runs() const { return encoder_.joins(); }
  std::size_t bytes() const { return bytes_; }

 private:
  void Add(SharedBytes frame) {
    bytes_ += frame->size();
    out_.push_back(std::move(frame));
  }
  FrameEncoder& encoder_;
  std::vector<SharedBytes>& out_;
  std::size_t bytes_ = 0;
};

// Events as they are, for readers in this process.
class Objects {
 public:
  using Type = WatchedObject::Type;
  Objects(FrameEncoder& encoder, std::vector<WatchedObject>& out) : encoder_(encoder), out_(out) {}
  void Initial(const storage::Entry& entry) {
    Add(Type::kSet, entry.workspace != nullptr ? *entry.workspace : Workspace(), entry.object);
  }
  void Event(const storage::Watcher::Item& item) {
    const bool deleted = item.type == storage::EventType::kDeleted;
    Add(deleted ? Type::kDeleted : Type::kSet, item.event->workspace(), item.event->Shown(item.type));
  }
  void Bookmark(Revision revision, bool end_of_initial) {
    out_.push_back({end_of_initial ? Type::kInitialEnd : Type::kBookmark, revision});
  }
  void Failure(const Status&) {}
  void Run(const storage::EventRun&) {}
  bool takes_runs() const { return false; }
  std::size_t bytes() const { return bytes_; }

 private:
  void Add(Type type, const Workspace& workspace, ObjectPtr object) {
    object = encoder_.Whole(std::move(object));
    bytes_ += object->bytes().size();
    out_.push_back({type, object->revision(), workspace, object});
  }
  FrameEncoder& encoder_;
  std::vector<WatchedObject>& out_;
  std::size_t bytes_ = 0;
};

// A watch response body. Initial frames first, then the watcher's events as they come.
class WatchStream final : public Stream {
 public:
  WatchStream(const Call& call, Accepted accepted, const ReadOptions& options,
              storage::CacheWatch watch)
      : encoder_(call, std::move(accepted)), bookmarks_(options.bookmarks),
        initial_(std::move(watch.initial)), seen_(watch.revision),
        end_of_initial_(options.bookmarks && options.send_initial.value_or(false)),
        watcher_(std::move(watch.watcher)), waker_(std::make_shared<Waker>(call.hub.timers)) {
    Schedule(call, options);
  }
  // Of objects that a webhook converts.
  WatchStream(const Call& call, Accepted accepted, const ReadOptions& options, Revision at,
              std::unique_ptr<ConvertedWatcher> converted)
      : encoder_(call, std::move(accepted)), bookmarks_(options.bookmarks), seen_(at),
        end_of_initial_(options.bookmarks && options.send_initial.value_or(false)),
        converted_(converted.get()), watcher_(std::move(converted)),
        waker_(std::make_shared<Waker>(call.hub.timers)) {
    Schedule(call, options);
  }
  ~WatchStream() override { Cancel(); }

  void OnReady(std::function<void()> ready) override {
    waker_->Set(std::move(ready));
    watcher_->OnReady([weak = std::weak_ptr<Waker>(waker_)] {
      if (auto waker = weak.lock()) waker->Wake();
    });
  }

  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    return Draw(Frames(encoder_, out), max_bytes);
  }

  bool gives_objects() const override {
    return converted_ == nullptr && encoder_.whole_objects();
  }
  State PullObjects(std::vector<WatchedObject>& out, std::size_t max_bytes) override {
    return Draw(Objects(encoder_, out), max_bytes);
  }

  void Cancel() override {
    waker_->End();
    removal_.reset();
    converted_ = nullptr;
    watcher_.reset();
  }
  bool broken() const override { return watcher_ != nullptr && watcher_->overflowed(); }
  std::size_t pending() const override {
    std::size_t bytes = watcher_ == nullptr ? 0 : watcher_->pending();
    for (std::size_t i = next_item_; i < items_.size(); ++i) bytes += storage::BytesOf(*items_[i].event);
    return bytes;
  }

 private:
  // The watch's next events, put into `out`: Frames or Objects.
  template <typename Out>
  State Draw(Out out, std::size_t max_bytes) {
    while (next_initial_ < initial_.size()) {
      out.Initial(initial_[next_initial_]);
      initial_[next_initial_++] = {};
      if (out.bytes() >= max_bytes) return State::kMore;
    }
    std::vector<storage::Entry>().swap(initial_);  // its room, too: a watch lasts
    next_initial_ = 0;
    // Drained by an earlier call. More may have come since, and been told of.
    if (!HandOn(out, max_bytes)) return State::kMore;
    while (true) {
      if (end_of_initial_ && (converted_ == nullptr || converted_->InitialDone())) {
        end_of_initial_ = false;
        out.Bookmark(seen_, true);
      }
      if (out.takes_runs() && !DrawRuns(out, max_bytes)) return State::kMore;
      const auto state = watcher_->Drain(items_, kDrain, up_to_);
      if (items_.empty() && state != storage::Watcher::State::kOpen) {
        if (converted_ == nullptr) return State::kEnd;
        if (const auto error = converted_->error()) out.Failure(*error);
        return State::kEnd;
      }
      // A converted watch hands on less than there is: batch by batch, and what was there at the
      // start apart from what came later.
      // Nobody tells of its end twice.
      const bool more =
          items_.size() == kDrain || state != storage::Watcher::State::kOpen ||
          (converted_ != nullptr && (!items_.empty() || converted_->InitialJustDone()));
      if (!HandOn(out, max_bytes) || out.bytes() >= max_bytes) return State::kMore;
      if (!more) break;
    }
    const bool expired = waker_->expired;
    if (bookmarks_ && (waker_->bookmark_due.exchange(false) || expired)) {
      out.Bookmark(seen_, false);
    }
    return expired ? State::kEnd : State::kIdle;
  }

  // Events as they are shared, as many as there is room for. False when something may be left.
  template <typename Out>
  bool DrawRuns(Out& out, std::size_t max_bytes) {
    while (out.bytes() < max_bytes) {
      const auto run = watcher_->DrainRun(2 * limits::kWriteBlock);
      if (run == nullptr) return true;
      out.Run(*run);
      seen_ = std::max(seen_, run->last());
    }
    return false;
  }

  // What was drained, as much as there is room for. False when something is left.
  template <typename Out>
  bool HandOn(Out& out, std::size_t max_bytes) {
    while (next_item_ < items_.size()) {
      if (out.bytes() >= max_bytes) return false;
      const storage::Watcher::Item item = std::move(items_[next_item_++]);
      out.Event(item);
      seen_ = std::max(seen_, item.event->revision());
    }
    items_.clear();
    // A quiet watch keeps no room.
    if (items_.capacity() > kKeptItems) std::vector<storage::Watcher::Item>().swap(items_);
    next_item_ = 0;
    seen_ = std::max(seen_, std::exchange(up_to_, Revision()));
    return true;
  }

  void Schedule(const Call& call, const ReadOptions& options) {
    std::int64_t seconds = options.timeout_seconds;
    if (seconds <= 0) {
      thread_local std::minstd_rand random(std::random_device{}());
      const auto floor = limits::kWatchMinLifetime.count();
      seconds = floor + static_cast<std::int64_t>(random() % static_cast<unsigned>(floor));
    }
    waker_->ExpireAfter(std::min(std::chrono::seconds(seconds), limits::kWatchLifetime));
    if (bookmarks_) waker_->ScheduleBookmark();
    removal_ = call.hub.workspaces.OnRemoval(call.info.workspace,
                                             [weak = std::weak_ptr<Waker>(waker_)] {
                                               if (auto waker = weak.lock()) waker->Expire();
                                             });
  }

  static constexpr std::size_t kDrain = 256;
  static constexpr std::size_t kKeptItems = 16;
  FrameEncoder encoder_;
  bool bookmarks_;
  std::vector<storage::Entry> initial_;
  std::size_t next_initial_ = 0;
  Revision seen_;
  bool end_of_initial_;
  std::vector<storage::Watcher::Item> items_;  // drained, and those from next_item_ on not shown
  std::size_t next_item_ = 0;
  Revision up_to_;  // seen with the last of them
  ConvertedWatcher* converted_ = nullptr;  // the watcher, when it is one
  std::unique_ptr<storage::Watcher> watcher_;
  std::shared_ptr<Waker> waker_;
  Workspaces::Ticket removal_;
};

std::string ContentType(Media media) {
  return media == Media::kProtobuf ? "application/vnd.kubernetes.protobuf;stream=watch"
                                    : "application/json";
}

// Frames already known, then the end: how a watch that cannot start says so.
Response ErrorStream(const Status& status, Media media) {
  Response response;
  response.headers.Add("content-type", ContentType(media));
  response.body.push_back(FrameEncoder::EncodeError(status, media));
  return response;
}

// Where the watch starts: absent means the current state as initial events.
Result<std::optional<Revision>> StartOf(Call& call, const ReadOptions& options) {
  storage::CachedStore& store = call.hub.store;
  const bool any = !options.resource_version || *options.resource_version == Revision();
  const bool initial = options.send_initial.value_or(any);
  if (!options.resource_version) TRY(store.Freshen());
  // Another server of this store may have told of what has not come here yet.
  if (!any) TRY(store.WaitFor(*options.resource_version, call.Patience()));
  if (initial) return std::optional<Revision>();
  return std::optional<Revision>(any ? store.applied() : *options.resource_version);
}

}  // namespace

Result<Response> Watch(Call& call) {
  const ReadOptions options = TRY(ParseWatchOptions(call));
  Accepted accepted = TRY(Negotiate(call.request, call.info.query, *call.type, Shape::kWatch));
  accepted.pretty = false;
  if (accepted.form == Form::kTable) TRY(IncludeObject(call.info.query));
  auto start = StartOf(call, options);
  if (!start.ok()) return ErrorStream(start.error(), accepted.media);
  storage::CacheWatchOptions cache;
  cache.scope = {call.info.workspace, call.type->stored_as, call.info.ns};
  const bool converts = Settler(call).asks();
  if (!converts) cache.filter = FilterOf(call, options);
  cache.after = *start;
  auto watch = call.hub.store.Watch(cache);
  if (!watch.ok()) {
    if (watch.error().reason() != Reason::kExpired) return std::move(watch).error();
    return ErrorStream(watch.error(), accepted.media);
  }
  if (!cache.after) TRY(AddImplied(call, cache.filter, *watch));
  Response response;
  response.headers.Add("content-type", ContentType(accepted.media));
  if (converts) {
    const Revision at = watch->revision;
    auto converted = std::make_unique<ConvertedWatcher>(call, std::move(*watch),
                                                        FilterOf(call, options));
    response.stream = std::make_unique<WatchStream>(call, std::move(accepted), options, at,
                                                    std::move(converted));
    return response;
  }
  response.stream =
      std::make_unique<WatchStream>(call, std::move(accepted), options, std::move(*watch));
  return response;
}

}  // namespace mailroom::apiserver
