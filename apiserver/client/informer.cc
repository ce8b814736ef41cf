#include "apiserver/client/informer.h"

#include <absl/container/btree_set.h>

#include <condition_variable>
#include <mutex>
#include <tuple>

#include "apiserver/client/backoff.h"
#include "apiserver/client/wire_event.h"
#include "storage/object/limits.h"
#include "storage/object/log.h"
#include "storage/object/thinned.h"

namespace mailroom::client {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// Objects by their keys, which are read off the objects: thousands of mailboxes are in several of
// these, so an entry is little more than a pointer.
struct Known {
  std::string workspace;
  mutable ObjectPtr object;  // replaced only by one of the same key
};
struct ByKey {
  using is_transparent = void;
  using View = std::tuple<std::string_view, std::string_view, std::string_view>;
  static View Of(const Known& known) {
    const Metadata& meta = known.object->meta();
    return {known.workspace, meta.ns, meta.name};
  }
  static View Of(const ObjectKey& key) { return {key.workspace, key.ns, key.name}; }
  template <typename One, typename Other>
  bool operator()(const One& one, const Other& other) const {
    return Of(one) < Of(other);
  }
};
using KnownSet = absl::btree_set<Known, ByKey>;

ObjectKey KeyOf(const Known& known) {
  const Metadata& meta = known.object->meta();
  return {known.workspace, std::string(meta.ns), std::string(meta.name)};
}

// Null `now` removes. Returns what was there before.
ObjectPtr PutInto(KnownSet& objects, const ObjectKey& key, ObjectPtr now) {
  const auto found = objects.find(key);
  if (found == objects.end()) {
    if (now != nullptr) objects.insert({key.workspace, std::move(now)});
    return nullptr;
  }
  if (now != nullptr) return std::exchange(found->object, std::move(now));
  ObjectPtr before = found->object;
  objects.erase(found);
  return before;
}

// Versions of which no number is known say nothing.
bool SameState(const Object& one, const Object& other) {
  if (one.revision() != other.revision()) return false;
  return one.revision() != Revision() || one.bytes() == other.bytes();
}

// The objects known, readable from any thread.
class Cache {
 public:
  using Change = std::pair<ObjectKey, std::pair<ObjectPtr, ObjectPtr>>;  // before, now

  ObjectPtr Get(const ObjectKey& key) const {
    std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->object;
  }
  std::vector<Item> List() const {
    std::lock_guard lock(mutex_);
    std::vector<Item> items;
    items.reserve(objects_.size());
    for (const Known& each : objects_) items.emplace_back(KeyOf(each), each.object);
    return items;
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return objects_.size();
  }
  // `thinned` is set when little is left of much.
  ObjectPtr Put(const ObjectKey& key, const ObjectPtr& now, bool& thinned) {
    std::lock_guard lock(mutex_);
    ObjectPtr before = PutInto(objects_, key, now);
    thinned = thinned_.Now(objects_.size());
    if (thinned) PutTogether(objects_);
    return before;
  }
  // The cache becomes `fresh`; returns what that changed, and with `moved` what is the same state
  // in another place, too.
  std::vector<Change> Replace(KnownSet fresh, bool moved) {
    std::vector<Change> changes;
    std::lock_guard lock(mutex_);
    for (const Known& before : objects_) {
      if (!fresh.contains(before)) changes.push_back({KeyOf(before), {before.object, nullptr}});
    }
    for (const Known& now : fresh) {
      const auto known = objects_.find(now);
      const ObjectPtr before = known == objects_.end() ? nullptr : known->object;
      const bool same = before != nullptr && before->bytes() == now.object->bytes();
      const bool told = !same || (moved && before != now.object);
      if (told) changes.push_back({KeyOf(now), {before, now.object}});
    }
    objects_.swap(fresh);
    thinned_.Grown(objects_.size());
    return changes;
  }

 private:
  mutable std::mutex mutex_;
  KnownSet objects_;  // this and the next guarded by mutex_
  Thinned thinned_;
};

// The list-and-watch machine. Every step runs on the loop thread with run_mutex_ held; a step is
// an After task or a sink call. Each opened stream is one attempt; timers of past attempts do
// nothing.
//
//   list page -> (continue) list page ... -> watch -> (ended) watch ...
//   stream of the first state -> the same stream is the watch
//   any failure -> back-off -> the same step again; 410 or a broken protocol -> list from scratch
class ListWatch : public StreamSink, public std::enable_shared_from_this<ListWatch> {
 public:
  ListWatch(Informer::Options options, Informer::Handler handler)
      : options_(std::move(options)), handler_(std::move(handler)) {
    shape_.api_version = options_.gvr.api_version;
    streams_first_ = options_.watch_list;
    shape_.all_workspaces = options_.client.base_path().ends_with("/clusters/*");
  }

  void Start() {
    std::lock_guard run(run_mutex_);
    Schedule(milliseconds(0), Step::kList);
  }

  void Stop() {
    std::unique_ptr<OpenStream> last;
    std::lock_guard run(run_mutex_);
    stopped_ = true;
    last = std::move(stream_);
  }

  const Cache& cache() const { return cache_; }
  bool synced() const {
    std::lock_guard lock(state_mutex_);
    return synced_;
  }
  bool WaitSynced(milliseconds timeout) const {
    std::unique_lock lock(state_mutex_);
    return became_synced_.wait_for(lock, timeout, [this] { return synced_; });
  }
  std::string last_error() const {
    std::lock_guard lock(state_mutex_);
    return last_error_;
  }

  void OnHead(int code, const Headers&) override {
    std::lock_guard run(run_mutex_);
    code_ = code;
    if (Streams() && code == 200) SetError("");
  }

  void OnData(std::string_view piece) override {
    const auto self = shared_from_this();
    std::lock_guard run(run_mutex_);
    if (stopped_) return;
    if (Streams() && code_ == 200) return TakeEvents(piece);
    if (body_.size() + piece.size() > limits::kClientResponseBytes) {
      return Fail(Unavailable("the list is larger than this client accepts"), Step::kList);
    }
    body_ += piece;
  }

  bool TakesObjects() const override { return !options_.metadata_only; }
  void OnObject(const WatchedObject& event) override {
    const auto self = shared_from_this();
    std::lock_guard run(run_mutex_);
    shares_objects_ = true;
    if (!stopped_) TakeEvent(EventOf(event));
  }

  void OnEnd(const Status* error) override {
    const auto self = shared_from_this();
    std::lock_guard run(run_mutex_);
    if (stopped_) return;
    if (error != nullptr) return Fail(*error, step_);
    if (step_ == Step::kFirst && (code_ == 400 || code_ == 405 || code_ == 422)) {
      streams_first_ = false;
      return Schedule(milliseconds(0), Step::kList);
    }
    if (code_ != 200) return Fail(Status::FromBody(code_, std::exchange(body_, {})), step_);
    if (step_ == Step::kFirst) return Fail(Unavailable("the first state was cut off"), Step::kList);
    if (step_ == Step::kWatch) return EndWatch();
    TakePage();
  }

 private:
  enum class Step { kList, kPage, kFirst, kWatch };

  bool Streams() const { return step_ == Step::kWatch || step_ == Step::kFirst; }

  void Schedule(milliseconds delay, Step step) {
    const std::uint64_t attempt = ++attempt_;
    options_.client.transport().After(delay, [weak = weak_from_this(), attempt, step] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      std::lock_guard run(self->run_mutex_);
      if (!self->stopped_ && self->attempt_ == attempt) self->Take(step);
    });
  }

  void Take(Step step) {
    if (step == Step::kList) {
      gathered_.clear();
      continue_.clear();
      step = streams_first_ ? Step::kFirst : Step::kPage;
    }
    step_ = step;
    code_ = 0;
    body_.clear();
    lines_ = LineBuffer();
    arriving_.clear();
    opened_ = SteadyClock::now();
    heard_ = false;
    const auto lifetime = std::chrono::seconds(
        RandomBetween(limits::kWatchShortest.count(), limits::kWatchLongest.count()));
    stream_.reset();
    Guard(Streams() ? milliseconds(lifetime + limits::kWatchGrace)
                    : milliseconds(limits::kClientTimeout));
    stream_ = options_.client.transport().Open(NewRequest(step, lifetime), *this);
  }

  // A peer that accepts a request and then says nothing must not hold the informer for ever.
  void Guard(milliseconds time) {
    const std::uint64_t attempt = attempt_;
    options_.client.transport().After(time, [weak = weak_from_this(), attempt] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      std::lock_guard run(self->run_mutex_);
      if (self->stopped_ || self->attempt_ != attempt) return;
      self->Fail(Timeout("the server did not finish its answer"), self->step_);
    });
  }

  Request NewRequest(Step step, std::chrono::seconds lifetime) const {
    const ObjectRef all{
        .gvr = options_.gvr, .ns = options_.query.ns, .name = "", .subresource = ""};
    Request request =
        options_.client.NewRequest("GET", options_.client.PathOf(all), Query(step, lifetime));
    if (options_.metadata_only) {
      const std::string kind =
          step != Step::kPage ? "PartialObjectMetadata" : "PartialObjectMetadataList";
      request.headers.Set("accept",
                          "application/json;as=" + kind + ";g=meta.k8s.io;v=v1,application/json");
    }
    return request;
  }

  std::string Query(Step step, std::chrono::seconds lifetime) const {
    std::string query = options_.query.ToQuery();
    const auto add = [&query](std::string_view name, std::string_view value) {
      if (!query.empty()) query += '&';
      query.append(name).append("=").append(PercentEncode(value));
    };
    if (step != Step::kPage) {
      add("watch", "1");
      add("allowWatchBookmarks", "true");
      if (step == Step::kWatch) {
        add("resourceVersion", resource_version_);
      } else {
        add("sendInitialEvents", "true");
        add("resourceVersionMatch", "NotOlderThan");
      }
      add("timeoutSeconds", std::to_string(lifetime.count()));
      return query;
    }
    if (!whole_list_) add("limit", std::to_string(limits::kClientListPage));
    if (!continue_.empty()) add("continue", continue_);
    return query;
  }

  void TakePage() {
    Result<ListPage> page = DecodePage(std::exchange(body_, {}), shape_);
    if (!page.ok()) return Fail(page.error(), Step::kList);
    for (Item& item : page->items) PutInto(gathered_, item.first, std::move(item.second));
    resource_version_ = page->resource_version;
    continue_ = page->continue_token;
    if (!continue_.empty()) return Schedule(milliseconds(0), Step::kPage);
    whole_list_ = false;
    if (TakeState()) Schedule(milliseconds(0), Step::kWatch);
  }

  // The gathered objects are the state at resource_version_. False when a handler stopped this.
  bool TakeState() {
    const bool moved = std::exchange(refreshing_, false);
    for (const auto& [key, change] : cache_.Replace(std::exchange(gathered_, {}), moved)) {
      handler_(key, change.first, change.second);
      if (stopped_) return false;
    }
    {
      std::lock_guard lock(state_mutex_);
      if (std::exchange(synced_, true)) return true;
      became_synced_.notify_all();
    }
    if (options_.on_synced) options_.on_synced();
    return !stopped_;
  }

  void TakeEvents(std::string_view piece) {
    lines_.Feed(piece);
    std::string_view line;
    while (lines_.Next(line)) {
      Result<WireEvent> event = DecodeEvent(line, shape_);
      // After a line that makes no sense nothing is certain; the server's own ERROR is orderly.
      if (!event.ok()) return Fail(event.error(), Step::kList);
      if (event->error.has_value()) return Fail(*event->error, step_);
      if (!TakeEvent(std::move(*event))) return;
    }
    if (lines_.pending() > limits::kClientEventBytes) {
      Fail(Unavailable("a watch event is larger than this client accepts"), Step::kList);
    }
  }

  // False when a handler stopped this.
  bool TakeEvent(WireEvent event) {
    heard_ = true;
    failures_ = 0;
    if (!event.resource_version.empty()) Advance(event);
    if (step_ == Step::kFirst) return TakeFirst(std::move(event));
    if (event.type == WireEvent::Type::kBookmark) return true;
    const bool deleted = event.type == WireEvent::Type::kDeleted;
    const ObjectPtr now = deleted ? nullptr : event.item.second;
    bool thinned = false;
    const ObjectPtr before = cache_.Put(event.item.first, now, thinned);
    if (thinned && shares_objects_) RefreshLater();
    const bool again = before != nullptr && now != nullptr && SameState(*before, *now);
    if (!again && (before != nullptr || now != nullptr)) handler_(event.item.first, before, now);
    return !stopped_;
  }

  // Little is left of much, and that lies among what has gone. The server puts it into few pages when
  // its history has forgotten the rest (storage/gather.h); after that its places are asked for anew.
  void RefreshLater() {
    const std::uint64_t refresh = ++refresh_;
    const auto settled = limits::kHistoryAge + 6 * limits::kHistoryTrim;
    options_.client.transport().After(settled, [weak = weak_from_this(), refresh] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      std::lock_guard run(self->run_mutex_);
      if (self->stopped_ || self->refresh_ != refresh || self->step_ != Step::kWatch) return;
      if (self->cache_.size() > limits::kThinnedMost) return;  // so many are left where they are
      self->refreshing_ = true;
      self->Schedule(milliseconds(0), Step::kList);
    });
  }

  // Where to resume. Over all workspaces many objects change in one revision (those of a workspace
  // that is deleted): it is complete when a later one is heard, or a bookmark, and comes once more
  // after a stream that broke before.
  void Advance(const WireEvent& event) {
    if (!shape_.all_workspaces || event.type == WireEvent::Type::kBookmark) {
      resource_version_ = event.resource_version;
      arriving_.clear();
    } else if (event.resource_version != arriving_) {
      if (!arriving_.empty()) resource_version_ = arriving_;
      arriving_ = event.resource_version;
    }
  }

  WireEvent EventOf(const WatchedObject& given) const {
    using Given = WatchedObject::Type;
    WireEvent event;
    event.resource_version = given.revision.ToString();
    event.initial_end = given.type == Given::kInitialEnd;
    if (given.object == nullptr) return event;
    event.type = given.type == Given::kDeleted ? WireEvent::Type::kDeleted : WireEvent::Type::kSet;
    const Metadata& meta = given.object->meta();
    event.item = {{.workspace = shape_.all_workspaces ? given.workspace.name() : "",
                   .ns = std::string(meta.ns),
                   .name = std::string(meta.name)},
                  given.object};
    return event;
  }

  // One event before the first state is complete. False when a handler stopped this.
  bool TakeFirst(WireEvent event) {
    if (event.type == WireEvent::Type::kSet) {
      PutInto(gathered_, event.item.first, std::move(event.item.second));
    } else if (event.type == WireEvent::Type::kDeleted) {
      PutInto(gathered_, event.item.first, nullptr);
    } else if (event.initial_end) {
      step_ = Step::kWatch;
      return TakeState();
    }
    return true;
  }

  // A watch ends cleanly when its time is over; one that ends at once would make a busy loop.
  void EndWatch() {
    if (heard_ || SteadyClock::now() - opened_ >= std::chrono::seconds(1)) {
      failures_ = 0;
      return Schedule(milliseconds(0), Step::kWatch);
    }
    Schedule(Backoff(limits::kReconnectFirst, limits::kReconnectLast, failures_++), Step::kWatch);
  }

  void Fail(const Status& error, Step again) {
    const bool expired = error.code() == 410;
    // A list whose pages outlive the server's history is asked for in one piece.
    if (expired && step_ == Step::kPage && !continue_.empty()) whole_list_ = true;
    // A page is part of one consistent list, so the list starts over.
    if (expired || again != Step::kWatch) again = Step::kList;
    SetError(error.message());
    Log(Level::kDebug, "informer interrupted",
        {{"resource", options_.gvr.resource}, {"error", error.message()}});
    stream_.reset();
    Schedule(Backoff(limits::kReconnectFirst, limits::kReconnectLast, failures_++), again);
  }

  void SetError(std::string message) {
    std::lock_guard lock(state_mutex_);
    last_error_ = std::move(message);
  }

  const Informer::Options options_;
  const Informer::Handler handler_;
  Cache cache_;

  // Held during every step, so that Stop can wait for the one that runs. Recursive, because a
  // handler may stop its own informer and a transport may call the sink from inside Open.
  std::recursive_mutex run_mutex_;
  // Guarded by run_mutex_.
  bool stopped_ = false;
  Step step_ = Step::kList;
  std::uint64_t attempt_ = 0;
  std::uint64_t refresh_ = 0;
  bool refreshing_ = false;
  bool shares_objects_ = false;  // with the server, which is in this process
  std::unique_ptr<OpenStream> stream_;
  int code_ = 0;
  std::string body_;
  LineBuffer lines_;
  ItemShape shape_;
  KnownSet gathered_;
  std::string continue_;
  std::string resource_version_;
  std::string arriving_;  // the revision of the last event, not complete yet; "" when none
  bool whole_list_ = false;
  bool streams_first_ = false;
  bool heard_ = false;
  SteadyClock::time_point opened_;
  int failures_ = 0;

  mutable std::mutex state_mutex_;
  mutable std::condition_variable became_synced_;
  // Guarded by state_mutex_.
  bool synced_ = false;
  std::string last_error_;
};

class ListWatchInformer : public Informer {
 public:
  ListWatchInformer(Options options, Handler handler)
      : machine_(std::make_shared<ListWatch>(std::move(options), std::move(handler))) {
    machine_->Start();
  }
  ~ListWatchInformer() override { machine_->Stop(); }

  bool synced() const override { return machine_->synced(); }
  bool WaitSynced(milliseconds timeout) const override { return machine_->WaitSynced(timeout); }
  ObjectPtr Get(const ObjectKey& key) const override { return machine_->cache().Get(key); }
  std::vector<Item> List() const override { return machine_->cache().List(); }
  std::size_t size() const override { return machine_->cache().size(); }
  std::string last_error() const override { return machine_->last_error(); }

 private:
  std::shared_ptr<ListWatch> machine_;
};

}  // namespace

std::unique_ptr<Informer> Informer::Start(Options options, Handler handler) {
  return std::make_unique<ListWatchInformer>(std::move(options), std::move(handler));
}

}  // namespace mailroom::client
