// Leader election and the event recorder of the client kit, against a whole server.
#include "apiserver/client/leader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "apiserver/client/recorder.h"
#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

using namespace std::chrono_literals;

// The loopback with a wire that can be cut.
class Wire final : public client::Transport {
 public:
  explicit Wire(client::Transport& real) : real_(real) {}
  Result<Response> Send(Request request) override {
    if (cut) return Unavailable("the wire is cut");
    return real_.Send(std::move(request));
  }
  std::unique_ptr<client::OpenStream> Open(Request request, client::StreamSink& sink) override {
    return real_.Open(std::move(request), sink);
  }
  void After(std::chrono::milliseconds delay, std::function<void()> task) override {
    real_.After(delay, std::move(task));
  }
  std::atomic<bool> cut{false};

 private:
  client::Transport& real_;
};

class LeaderTest : public testing::Test {
 protected:
  struct Process {
    Process(LeaderTest& test, std::string name, const std::function<void()>& slowly = [] {})
        : wire(test.hub.server().loopback()) {
      leader = client::Leader::Run(
          {.client = client::Client(wire, "/clusters/root", "test"),
           .ns = "kube-system",
           .name = "lease",
           .identity = std::move(name),
           // So far apart that a thread which has to wait for the processor changes nothing.
           .lease = 3s,
           .renewal = 1s,
           .retry = 50ms},
          [this, &test, slowly] {
            slowly();
            if (++test.working > 1) test.overlapped = true;
            works = true;
          },
          [this, &test] {
            --test.working;
            works = false;
          });
    }
    Wire wire;
    std::atomic<bool> works{false};
    std::unique_ptr<client::Leader> leader;
  };

  TestHub hub;
  std::atomic<int> working{0};
  std::atomic<bool> overlapped{false};
};

TEST_F(LeaderTest, OneLeadsAndALeavingOneHandsOver) {
  auto a = std::make_unique<Process>(*this, "a");
  ASSERT_TRUE(Eventually([&] { return a->works.load(); }));
  Process b(*this, "b");
  EXPECT_FALSE(b.works);
  a.reset();
  EXPECT_TRUE(Eventually([&] { return b.works.load(); }));
  EXPECT_FALSE(overlapped);
  const Json lease =
      hub.Get("/clusters/root/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/lease").body;
  EXPECT_EQ(StringAt(lease, {"spec", "holderIdentity"}), "b");
  EXPECT_EQ(IntAt(lease, {"spec", "leaseTransitions"}), 1);
}

TEST_F(LeaderTest, ALeaderThatIsCutOffStepsDownBeforeAnotherStarts) {
  Process a(*this, "a");
  ASSERT_TRUE(Eventually([&] { return a.works.load(); }));
  Process b(*this, "b");
  a.wire.cut = true;
  EXPECT_TRUE(Eventually([&] { return b.works.load(); }));
  EXPECT_FALSE(a.works);
  EXPECT_FALSE(overlapped);
  a.wire.cut = false;
  b.leader.reset();
  EXPECT_TRUE(Eventually([&] { return a.works.load(); }));
  EXPECT_FALSE(overlapped);
}

TEST_F(LeaderTest, TheLeaseIsKeptHoweverLongAStartTakes) {
  std::promise<void> go;
  Process a(*this, "a", [started = go.get_future().share()] { started.wait(); });
  ASSERT_TRUE(Eventually([&] { return a.leader->leading(); }));
  Process b(*this, "b");
  const std::string path =
      "/clusters/root/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/lease";
  // For three times as long as it lasts.
  EXPECT_TRUE(Eventually([&] {
    const Json lease = hub.Get(path).body;
    return ParseTime(StringAt(lease, {"spec", "renewTime"})) -
               ParseTime(StringAt(lease, {"spec", "acquireTime"})) >= 9;
  }));
  EXPECT_EQ(StringAt(hub.Get(path).body, {"spec", "holderIdentity"}), "a");
  EXPECT_FALSE(b.works);
  go.set_value();
  EXPECT_TRUE(Eventually([&] { return a.works.load(); }));
  EXPECT_FALSE(overlapped);
}

TEST_F(LeaderTest, TheRecorderCountsWhatItSaysAgain) {
  client::Recorder recorder("tester");
  const client::Client root(hub.server().loopback(), "/clusters/root", "test");
  const client::Recorder::About about{"v1", "ConfigMap", "default", "x", "some-uid"};
  for (int i = 0; i < 3; ++i) {
    auto said = recorder.Record(root, about, "Warning", "Broken", "it broke");
    ASSERT_TRUE(said.ok()) << said.error().message();
  }
  ASSERT_TRUE(recorder.Record(root, about, "Normal", "Mended", "it works").ok());
  const std::string path = "/clusters/root/api/v1/namespaces/default/events";
  const Json events = hub.Get(path).body;
  ASSERT_EQ(Find(events, {"items"})->size(), 2u);
  std::string broken;
  for (const Json& each : *Find(events, {"items"})) {
    if (StringAt(each, {"reason"}) != "Broken") continue;
    EXPECT_EQ(IntAt(each, {"count"}), 3);
    EXPECT_EQ(StringAt(each, {"source", "component"}), "tester");
    broken = StringAt(each, {"metadata", "name"});
  }
  // One that has expired meanwhile is made again.
  EXPECT_EQ(hub.Do("DELETE", path + "/" + broken).code, 200);
  ASSERT_TRUE(recorder.Record(root, about, "Warning", "Broken", "it broke").ok());
  EXPECT_EQ(IntAt(hub.Get(path + "/" + broken).body, {"count"}), 4);
}

}  // namespace
}  // namespace mailroom
