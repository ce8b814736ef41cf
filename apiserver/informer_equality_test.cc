// An informer's cache equals the server's list, whatever happened on the way: random writes, broken
// streams, history that the server has dropped meanwhile. A seeded transport breaks the streams.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>

#include "apiserver/client/informer.h"
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
  std::atomic<int> written{0};  // by the test
  std::atomic<int> expired{0};
  std::atomic<int> passed{0};   // events, as objects
};
using WeatherPtr = std::shared_ptr<Weather>;

// Runs the task once that much has been written.
void WhenWritten(client::Transport& real, const WeatherPtr& weather, int until,
                 std::function<void()> task) {
  auto look = [&real, weather, until, task = std::move(task)]() mutable {
    if (weather->calm || weather->written >= until) return task();
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
    if (!weather->calm) between->budget = Random() % (resumes ? 3'000 : 40'000);
    return std::make_unique<Handle>(between, real_.Open(std::move(request), *between));
  }

  const WeatherPtr weather = std::make_shared<Weather>();
  bool objects = false;

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

class InformerEquality : public testing::TestWithParam<std::tuple<int, bool, bool>> {};

TEST_P(InformerEquality, TheCacheIsTheList) {
  const auto [seed, watch_list, objects] = GetParam();
  apiserver::Server::Options options;
  options.history_events = kRemembered;
  TestHub hub(options);
  Faulty wire(hub.server().loopback(), static_cast<unsigned>(seed));
  wire.objects = objects;
  const std::string path = "/clusters/wds1/api/v1/namespaces/default/configmaps";
  // What the notifications alone add up to.
  std::mutex mutex;
  std::map<ObjectKey, std::string> told;
  auto informer = client::Informer::Start(
      {.client = client::Client(wire, "/clusters/wds1", "test"),
       .gvr = {"v1", "configmaps"},
       .query = {},
       .watch_list = watch_list},
      [&](const ObjectKey& key, const ObjectPtr& before, const ObjectPtr& now) {
        std::lock_guard lock(mutex);
        EXPECT_EQ(told.contains(key), before != nullptr) << key.name;
        if (now == nullptr) {
          told.erase(key);
        } else {
          told[key] = std::string(now->bytes());
        }
      });
  std::mt19937 random(static_cast<unsigned>(seed) * 7919U);
  for (int i = 0; i < 1500; ++i) {
    const std::string name = "m" + std::to_string(random() % 40);
    const Json body = ConfigMap(name, {{"step", std::to_string(i)}});
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
    ++wire.weather->written;
  }
  wire.weather->calm = true;
  std::map<ObjectKey, std::string> truth;
  const Json list = hub.Get("/clusters/wds1/api/v1/configmaps").body;
  for (const Json& item : *Find(list, {"items"})) {
    truth[{"", StringAt(item, {"metadata", "namespace"}), StringAt(item, {"metadata", "name"})}] =
        StringAt(item, {"metadata", "resourceVersion"});
  }
  const auto cached = [&] {
    std::map<ObjectKey, std::string> now;
    for (const auto& [key, object] : informer->List()) now[key] = object->revision().ToString();
    return now;
  };
  EXPECT_TRUE(Eventually([&] { return cached() == truth; }));
  EXPECT_TRUE(Eventually([&] {
    std::lock_guard lock(mutex);
    if (told.size() != truth.size()) return false;
    for (const auto& [key, object] : informer->List()) {
      if (told[key] != object->bytes()) return false;
    }
    return true;
  }));
  EXPECT_EQ(wire.weather->passed > 0, objects);
  EXPECT_GT(wire.weather->expired, 0) << "no history was lost";
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformerEquality,
                         testing::Combine(testing::Range(1, 5), testing::Bool(), testing::Bool()));

}  // namespace
}  // namespace mailroom
