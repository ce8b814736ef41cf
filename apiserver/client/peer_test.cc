// The client kit against a real API server over HTTPS: informers, leader election, Events. The
// server is named by MAILROOM_PEER_KUBECONFIG; MAILROOM_PEER_COMPACT, if set, is a command that
// makes it forget its history. Run by test/e2e/client_kit.sh.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <random>

#include "apiserver/client/curl_transport.h"
#include "apiserver/client/informer.h"
#include "apiserver/client/leader.h"
#include "apiserver/client/recorder.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/eventually.h"

namespace mailroom::client {
namespace {

using namespace std::chrono_literals;
using State = std::map<ObjectKey, std::string>;  // revisions

// A transport whose streams can be cut; what they wait for afterwards waits for Mend.
class Cuttable final : public Transport {
 public:
  explicit Cuttable(Transport& real) : real_(real) {}
  Result<Response> Send(Request request) override { return real_.Send(std::move(request)); }
  void After(std::chrono::milliseconds delay, std::function<void()> task) override {
    if (delay > limits::kReconnectLast) return real_.After(delay, std::move(task));
    Later(real_, state_, std::move(task));
  }
  std::unique_ptr<OpenStream> Open(Request request, StreamSink& sink) override {
    auto between = std::make_shared<Between>(state_, sink);
    {
      std::lock_guard lock(state_->mutex);
      state_->open.push_back(between);
    }
    return std::make_unique<Handle>(between, real_.Open(std::move(request), *between));
  }

  // Returns when every stream has ended.
  void Cut() {
    state_->held = true;
    std::promise<void> done;
    real_.After(0ms, [&] {
      std::list<std::weak_ptr<Between>> open;
      {
        std::lock_guard lock(state_->mutex);
        open.swap(state_->open);
      }
      for (const auto& each : open) {
        if (auto between = each.lock()) between->Break();
      }
      done.set_value();
    });
    done.get_future().wait();
  }
  void Mend() { state_->held = false; }
  int expired() const { return state_->expired; }

 private:
  struct Between;
  struct Shared {
    std::atomic<bool> held{false};
    std::atomic<int> expired{0};
    std::mutex mutex;
    std::list<std::weak_ptr<Between>> open;  // guarded by mutex
  };
  using SharedState = std::shared_ptr<Shared>;

  static void Later(Transport& real, const SharedState& state, std::function<void()> task) {
    real.After(2ms, [&real, state, task = std::move(task)]() mutable {
      if (!state->held) return task();
      Later(real, state, std::move(task));
    });
  }

  // Called on the loop thread only, but for the end of its reader.
  struct Between final : StreamSink {
    Between(SharedState shared, StreamSink& real) : state(std::move(shared)), sink(&real) {}
    void OnHead(int code, const Headers& headers) override {
      if (code == 410) ++state->expired;
      std::lock_guard lock(mutex);
      if (sink != nullptr) sink->OnHead(code, headers);
    }
    void OnData(std::string_view piece) override {
      if (piece.find(R"("code":410)") != std::string_view::npos) ++state->expired;
      std::lock_guard lock(mutex);
      if (sink != nullptr) sink->OnData(piece);
    }
    void OnEnd(const Status* error) override {
      std::lock_guard lock(mutex);
      if (sink != nullptr) std::exchange(sink, nullptr)->OnEnd(error);
    }
    void Break() {
      const Status cut = Unavailable("the stream was cut");
      OnEnd(&cut);
    }
    const SharedState state;
    std::recursive_mutex mutex;
    StreamSink* sink;  // guarded by mutex
  };
  struct Handle final : OpenStream {
    Handle(std::shared_ptr<Between> b, std::unique_ptr<OpenStream> s)
        : between(std::move(b)), stream(std::move(s)) {}
    ~Handle() override {
      {
        std::lock_guard lock(between->mutex);
        between->sink = nullptr;
      }
      stream.reset();
    }
    std::shared_ptr<Between> between;
    std::unique_ptr<OpenStream> stream;
  };

  Transport& real_;
  const SharedState state_ = std::make_shared<Shared>();
};

class Peer : public testing::Test {
 protected:
  void SetUp() override {
    const char* file = std::getenv("MAILROOM_PEER_KUBECONFIG");
    if (file == nullptr) GTEST_SKIP() << "no server is named";
    auto config = LoadKubeconfig(file, "");
    ASSERT_TRUE(config.ok()) << config.error().message();
    transport = MakeCurlTransport(*config);
    base = config->base_path;
    static int count = 0;
    ns = "kit-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    auto made = Direct().Create({"v1", "namespaces"}, "",
                                {{"apiVersion", "v1"}, {"kind", "Namespace"},
                                 {"metadata", {{"name", ns}}}});
    ASSERT_TRUE(made.ok()) << made.error().message();
  }

  Client Direct() { return Client(*transport, base, "peer-test"); }

  State List(const std::string& resource, const std::string& query = "") {
    auto list = Direct().GetPath("/api/v1/namespaces/" + ns + "/" + resource + query);
    State state;
    if (!list.ok()) {
      ADD_FAILURE() << list.error().message();
      return state;
    }
    revision = StringAt(*list, {"metadata", "resourceVersion"});
    for (const Json& item : *Find(*list, {"items"})) {
      state[{"", ns, StringAt(item, {"metadata", "name"})}] =
          StringAt(item, {"metadata", "resourceVersion"});
    }
    return state;
  }

  std::unique_ptr<Informer> Watch(Transport& wire, const std::string& resource, bool watch_list) {
    ListQuery query;
    query.ns = ns;
    return Informer::Start({.client = Client(wire, base, "peer-test"),
                            .gvr = {"v1", resource},
                            .query = query,
                            .watch_list = watch_list},
                           [this](const ObjectKey& key, const ObjectPtr& before,
                                  const ObjectPtr& now) {
                             std::lock_guard lock(mutex);
                             EXPECT_EQ(told.contains(key), before != nullptr) << key.name;
                             if (now == nullptr) {
                               told.erase(key);
                             } else {
                               told[key] = now->revision().ToString();
                             }
                           });
  }
  bool Holds(const Informer& informer, const State& truth) {
    State cached;
    for (const auto& [key, object] : informer.List()) cached[key] = object->revision().ToString();
    std::lock_guard lock(mutex);
    return cached == truth && told == truth;
  }

  std::unique_ptr<Transport> transport;
  std::string base, ns, revision;
  std::mutex mutex;
  State told;  // guarded by mutex
};

class PeerInformer : public Peer, public testing::WithParamInterface<bool> {};

TEST_P(PeerInformer, TheCacheIsTheList) {
  Cuttable wire(*transport);
  const auto informer = Watch(wire, "configmaps", GetParam());
  ASSERT_TRUE(informer->WaitSynced(60s)) << informer->last_error();
  std::mt19937 random(7);
  const Client client = Direct();
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::string name = "m" + std::to_string(random() % 20);
      const Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"},
                           {"metadata", {{"name", name}}},
                           {"data", {{"step", std::to_string(random())}}}};
      const ObjectRef ref{{"v1", "configmaps"}, ns, name, ""};
      switch (random() % 3) {
        case 0:
          (void)client.Create(ref.gvr, ns, object);
          break;
        case 1:
          (void)client.Update(ref, object);
          break;
        default:
          (void)client.Delete(ref);
      }
      if (random() % 20 == 0) wire.Cut();
      if (random() % 10 == 0) wire.Mend();
    }
    wire.Mend();
    const State now = List("configmaps");
    const State exactly =
        List("configmaps", "?resourceVersionMatch=Exact&resourceVersion=" + revision);
    EXPECT_EQ(now, exactly);
    EXPECT_TRUE(Eventually([&] { return Holds(*informer, exactly); }))
        << "round " << round << ": " << informer->last_error();
  }
}

// Events are watched without a cache of the server's, so that what etcd forgets is gone.
TEST_P(PeerInformer, ListsAgainWhenHistoryIsGone) {
  const char* compact = std::getenv("MAILROOM_PEER_COMPACT");
  if (compact == nullptr) GTEST_SKIP() << "this server's history cannot be cut";
  const Client client = Direct();
  const auto tell = [&](int i) {
    const Json event = {{"apiVersion", "v1"}, {"kind", "Event"},
                        {"metadata", {{"name", "e" + std::to_string(i)}}},
                        {"involvedObject", {{"namespace", ns}, {"kind", "Pod"}, {"name", "p"}}},
                        {"reason", "Test"}, {"message", "m"}, {"type", "Normal"}};
    auto made = client.Create({"v1", "events"}, ns, event);
    ASSERT_TRUE(made.ok()) << made.error().message();
  };
  for (int i = 0; i < 5; ++i) tell(i);
  Cuttable wire(*transport);
  const auto informer = Watch(wire, "events", GetParam());
  EXPECT_TRUE(Eventually([&] { return Holds(*informer, List("events")); }));
  wire.Cut();
  for (int i = 5; i < 10; ++i) tell(i);
  ASSERT_TRUE(client.Delete({{"v1", "events"}, ns, "e0", ""}).ok());
  ASSERT_EQ(std::system(compact), 0);
  wire.Mend();
  const State truth = List("events");
  EXPECT_EQ(truth.size(), 9u);
  EXPECT_TRUE(Eventually([&] { return Holds(*informer, truth); })) << informer->last_error();
  EXPECT_GT(wire.expired(), 0) << "no history was lost";
  tell(10);
  EXPECT_TRUE(Eventually([&] { return Holds(*informer, List("events")); })) << "it goes on";
}

INSTANTIATE_TEST_SUITE_P(Modes, PeerInformer, testing::Bool(), [](const auto& each) {
  return each.param ? "WatchList" : "ListAndWatch";
});

TEST_F(Peer, OneLeadsAndAnotherTakesOver) {
  std::atomic<int> working{0};
  std::atomic<bool> overlapped{false};
  const auto run = [&](const std::string& name, Transport& wire) {
    return Leader::Run({.client = Client(wire, base, "peer-test"),
                        .ns = ns,
                        .name = "lease",
                        .identity = name,
                        .lease = 3s,
                        .renewal = 2s,
                        .retry = 100ms},
                       [&] { if (++working > 1) overlapped = true; }, [&] { --working; });
  };
  const auto holder = [&] {
    auto lease = Direct().Get({{"coordination.k8s.io/v1", "leases"}, ns, "lease", ""});
    return lease.ok() ? StringAt(*lease, {"spec", "holderIdentity"}) : "";
  };
  auto a = run("a", *transport);
  ASSERT_TRUE(Eventually([&] { return a->leading() && working == 1; }));
  EXPECT_EQ(holder(), "a");
  auto b = run("b", *transport);
  a.reset();
  ASSERT_TRUE(Eventually([&] { return b->leading() && working == 1; }));
  EXPECT_EQ(holder(), "b");
  EXPECT_FALSE(overlapped);
}

TEST_F(Peer, TheRecorderWritesEvents) {
  Recorder recorder("kit");
  const Client client = Direct();
  const Recorder::About about{"v1", "ConfigMap", ns, "x", "some-uid"};
  for (int i = 0; i < 3; ++i) {
    auto said = recorder.Record(client, about, "Warning", "Broken", "it broke");
    ASSERT_TRUE(said.ok()) << said.error().message();
  }
  auto events = client.List({"v1", "events"}, {ns, "", "involvedObject.name=x", 0});
  ASSERT_TRUE(events.ok()) << events.error().message();
  ASSERT_EQ(Find(*events, {"items"})->size(), 1u);
  const Json& event = Find(*events, {"items"})->front();
  EXPECT_EQ(IntAt(event, {"count"}), 3);
  EXPECT_EQ(StringAt(event, {"reason"}), "Broken");
  EXPECT_EQ(StringAt(event, {"source", "component"}), "kit");
}

}  // namespace
}  // namespace mailroom::client
