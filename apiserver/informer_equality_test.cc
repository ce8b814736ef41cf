// An informer's cache equals the server's list, whatever happened on the way: random writes, broken
// streams, history that the server has dropped meanwhile. A seeded transport breaks the streams.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <random>

#include "apiserver/client/informer.h"
#include "storage/embedded_store.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

using client::ObjectKey;

// The server remembers so few events that a pause is often too long to resume after.
constexpr std::size_t kRemembered = 24;

// What is told and counted while the test runs; outlives the transport in tasks still to come.
struct Weather {
  std::atomic<bool> calm{false};
  std::atomic<bool> paused{false};  // nothing is written for a while: do not wait for it
  std::atomic<int> written{0};  // by the test
  std::atomic<int> expired{0};
  std::atomic<int> passed{0};   // events, as objects
};
using WeatherPtr = std::shared_ptr<Weather>;

// Runs the task once that much has been written.
void WhenWritten(client::Transport& real, const WeatherPtr& weather, int until,
                 std::function<void()> task) {
  auto look = [&real, weather, until, task = std::move(task)]() mutable {
    if (weather->calm || weather->paused || weather->written >= until) return task();
    WhenWritten(real, weather, until, std::move(task));
  };
  real.After(std::chrono::milliseconds(1), look);
}

// Ends streams after a random number of bytes, and lets the next one wait a while.
class Faulty final : public client::Transport {
 public:
  Faulty(client::Transport& real, unsigned seed) : real_(real), random_(seed) {}

  Result<Response> Send(Request request) override { return real_.Send(std::move(request)); }
  // Whoever comes back finds that some writes were made meanwhile, often more than are remembered.
  // (Back-off is tested elsewhere; here it would only take time.)
  void After(std::chrono::milliseconds delay, std::function<void()> task) override {
    if (delay > limits::kReconnectLast) return real_.After(delay, std::move(task));
    const int missed = static_cast<int>(Random() % (2 * kRemembered));
    WhenWritten(real_, weather, weather->written + missed, std::move(task));
  }

  std::unique_ptr<client::OpenStream> Open(Request request, client::StreamSink& sink) override {
    auto between = std::make_shared<Between>(weather, objects, sink);
    // The whole state must have a chance to come through; a watch that resumes is cut soon.
    const bool resumes = request.query.find("&resourceVersion=") != std::string::npos;
    if (!weather->calm) between->budget = Random() % (resumes ? resumed_bytes : 40'000);
    return std::make_unique<Handle>(between, real_.Open(std::move(request), *between));
  }

  const WeatherPtr weather = std::make_shared<Weather>();
  bool objects = false;
  // A watch that resumes is cut within. One revision, which is a whole workspace's end, must fit.
  unsigned resumed_bytes = 3'000;

 private:
  struct Between final : client::StreamSink {
    Between(WeatherPtr shared, bool as_objects, client::StreamSink& real)
        : weather(std::move(shared)), objects(as_objects), sink(&real) {}
    void OnHead(int code, const Headers& headers) override {
      std::lock_guard lock(mutex);
      if (sink != nullptr) sink->OnHead(code, headers);
    }
    void OnData(std::string_view piece) override {
      if (piece.find(R"("code":410)") != std::string_view::npos) ++weather->expired;
      std::lock_guard lock(mutex);
      if (sink == nullptr) return;
      const std::size_t taken = std::min(budget, piece.size());
      budget -= taken;
      sink->OnData(piece.substr(0, taken));
      if (taken == piece.size() || sink == nullptr) return;
      const Status cut = Unavailable("the stream was cut");
      std::exchange(sink, nullptr)->OnEnd(&cut);
    }
    bool TakesObjects() const override { return objects; }
    void OnObject(const WatchedObject& event) override {
      std::lock_guard lock(mutex);
      if (sink == nullptr) return;
      ++weather->passed;
      const std::size_t size = event.object != nullptr ? event.object->bytes().size() : 100;
      if (size <= budget) {
        budget -= size;
        return sink->OnObject(event);
      }
      const Status cut = Unavailable("the stream was cut");
      std::exchange(sink, nullptr)->OnEnd(&cut);
    }
    void OnEnd(const Status* error) override {
      std::lock_guard lock(mutex);
      if (sink != nullptr) std::exchange(sink, nullptr)->OnEnd(error);
    }
    const WeatherPtr weather;
    const bool objects;
    std::recursive_mutex mutex;
    client::StreamSink* sink;  // guarded by mutex
    std::size_t budget = SIZE_MAX;
  };
  struct Handle final : client::OpenStream {
    Handle(std::shared_ptr<Between> b, std::unique_ptr<client::OpenStream> s)
        : between(std::move(b)), stream(std::move(s)) {}
    ~Handle() override {
      {
        std::lock_guard lock(between->mutex);
        between->sink = nullptr;
      }
      stream.reset();
    }
    std::shared_ptr<Between> between;
    std::unique_ptr<client::OpenStream> stream;
  };

  unsigned Random() {
    std::lock_guard lock(mutex_);
    return static_cast<unsigned>(random_());
  }

  client::Transport& real_;
  std::mutex mutex_;
  std::mt19937 random_;  // guarded by mutex_
};

using State = std::map<ObjectKey, std::string>;

// An informer over bad wires, and what its notifications alone add up to.
class Reader {
 public:
  Reader(client::Transport& wire, const std::string& base, bool watch_list) {
    informer_ = client::Informer::Start(
        {.client = client::Client(wire, base, "test"),
         .gvr = {"v1", "configmaps"},
         .query = {},
         .watch_list = watch_list},
        [this](const ObjectKey& key, const ObjectPtr& before, const ObjectPtr& now) {
          std::lock_guard lock(mutex_);
          EXPECT_EQ(told_.contains(key), before != nullptr) << key.workspace << " " << key.name;
          if (now == nullptr) {
            told_.erase(key);
          } else {
            told_[key] = std::string(now->bytes());
          }
        });
  }

  // Whether it holds, and has told, the objects of that list and their revisions.
  bool Holds(const State& truth) {
    const auto objects = informer_->List();
    State cached;
    for (const auto& [key, object] : objects) cached[key] = object->revision().ToString();
    if (cached != truth) return false;
    std::lock_guard lock(mutex_);
    if (told_.size() != truth.size()) return false;
    for (const auto& [key, object] : objects) {
      if (told_[key] != object->bytes()) return false;
    }
    return true;
  }

  // For people: where it is not as it should be.
  std::string Difference(const State& truth) {
    std::string text = informer_->last_error();
    State cached;
    for (const auto& [key, object] : informer_->List()) cached[key] = object->revision().ToString();
    for (const auto& [key, revision] : truth) {
      auto found = cached.find(key);
      const std::string held = found == cached.end() ? "nothing" : found->second;
      if (held == revision) continue;
      text += "\n" + key.workspace + "/" + key.name + ": " + held + " for " + revision;
    }
    for (const auto& [key, revision] : cached) {
      if (truth.contains(key)) continue;
      text += "\n" + key.workspace + "/" + key.name + ": " + revision + " for nothing";
    }
    return text;
  }

 private:
  std::mutex mutex_;
  State told_;  // guarded by mutex_
  std::unique_ptr<client::Informer> informer_;
};

State StateOf(const Json& list) {
  State state;
  for (const Json& item : *Find(list, {"items"})) {
    state[{StringAt(item, {"metadata", "annotations", "mailbox.kubestellar.io/workspace"}),
           StringAt(item, {"metadata", "namespace"}), StringAt(item, {"metadata", "name"})}] =
        StringAt(item, {"metadata", "resourceVersion"});
  }
  return state;
}

class InformerEquality : public testing::TestWithParam<std::tuple<int, bool, bool>> {
 protected:
  static apiserver::Server::Options Forgetful() {
    apiserver::Server::Options options;
    options.history_events = kRemembered;
    return options;
  }

  // Writes at random, and now and then holds still until the reader is where the server is: at the
  // revision of a list, and as the server shows that revision when asked for exactly it.
  void Compare(TestHub& hub, const std::string& base, const std::function<void()>& write,
               const std::function<void()>& between) {
    const auto [seed, watch_list, objects] = GetParam();
    Faulty wire(hub.server().loopback(), static_cast<unsigned>(seed));
    wire.objects = objects;
    if (base.ends_with('*')) wire.resumed_bytes = 12'000;
    Reader reader(wire, base, watch_list);
    const std::string path = base + "/api/v1/configmaps";
    for (int round = 0; round < 5; ++round) {
      wire.weather->paused = false;
      for (int i = 0; i < 300; ++i) {
        write();
        ++wire.weather->written;
      }
      wire.weather->paused = true;
      wire.weather->calm = round == 4;
      const Json list = hub.Get(path).body;
      const auto exactly = hub.Get(path + "?resourceVersionMatch=Exact&resourceVersion=" +
                                   StringAt(list, {"metadata", "resourceVersion"}));
      ASSERT_EQ(exactly.code, 200) << exactly.text;
      const State truth = StateOf(exactly.body);
      EXPECT_EQ(truth, StateOf(list));
      EXPECT_TRUE(Eventually([&] { return reader.Holds(truth); }))
          << "round " << round << reader.Difference(truth);
      between();
    }
    EXPECT_EQ(wire.weather->passed > 0, objects);
    EXPECT_GT(wire.weather->expired, 0) << "no history was lost";
  }

  std::mt19937 random{static_cast<unsigned>(std::get<0>(GetParam())) * 7919U};
  int step = 0;

  void WriteOne(TestHub& hub, const std::string& workspace, unsigned names) {
    const std::string path = "/clusters/" + workspace + "/api/v1/namespaces/default/configmaps";
    const std::string name = "m" + std::to_string(random() % names);
    const Json body = ConfigMap(name, {{"step", std::to_string(step++)}});
    switch (random() % 3) {
      case 0:
        hub.Do("POST", path, body);
        break;
      case 1:
        hub.Do("PUT", path + "/" + name, body);
        break;
      default:
        hub.Do("DELETE", path + "/" + name);
    }
  }
};

TEST_P(InformerEquality, TheCacheIsTheList) {
  TestHub hub(Forgetful());
  Compare(hub, "/clusters/wds1", [&] { WriteOne(hub, "wds1", 40); }, [] {});
}

// Over all workspaces, of which some go and come again, and on the engine that is deployed, whose
// history is really compacted.
TEST_P(InformerEquality, TheCacheOfAllWorkspacesIsTheList) {
  const std::string folder = testing::TempDir() + "equality." + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  auto opened = storage::OpenEmbedded(folder);
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  storage::Store& engine = **opened;
  {
    TestHub hub(Forgetful(), std::move(*opened));
    const std::string workspaces = "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces";
    const std::vector<std::string> names = {"a", "b", "c"};
    for (const std::string& name : names) hub.NewWorkspace(name, "mailbox");
    Compare(
        hub, "/clusters/*",
        [&] {
          const std::string& name = names[random() % names.size()];
          if (random() % 50 != 0) return WriteOne(hub, name, 12);
          EXPECT_EQ(hub.Do("DELETE", workspaces + "/" + name).code, 200);
          hub.NewWorkspace(name, "mailbox");
        },
        [&] {
          auto now = engine.CurrentRevision();
          ASSERT_TRUE(now.ok());
          ASSERT_TRUE(engine.Compact(*now).ok());
        });
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformerEquality,
                         testing::Combine(testing::Range(1, 5), testing::Bool(), testing::Bool()));

}  // namespace
}  // namespace mailroom
