// Watches of a real hub behind the front, with readers that are too slow for them.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "apiserver/http/frame_client.h"
#include "apiserver/http/test_client.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom::apiserver {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
constexpr std::size_t kEventBytes = 5000;
constexpr std::size_t kWholeEvent = 2 * kEventBytes;  // with its metadata

TestHub& Hub() {
  static TestHub hub;
  return hub;
}

// What a watch was asked for, and what of it has reached its reader.
struct Measure {
  std::atomic<std::size_t> drawn = 0, taken = 0, most_pending = 0, most_waiting = 0;
};
Measure trickle1, trickle2, wide, steady, bursts;

Measure& MeasureOf(const std::string& query) {
  const std::map<char, Measure*> by_end = {
      {'1', &trickle1}, {'2', &trickle2}, {'3', &wide}, {'4', &bursts}};
  const auto found = by_end.find(query.back());
  return found == by_end.end() ? steady : *found->second;
}
std::string Watch(char which) { return kMaps + "?watch=1&timeoutSeconds=100" + which; }

class Measured final : public Stream {
 public:
  Measured(std::unique_ptr<Stream> inner, Measure& measure)
      : inner_(std::move(inner)), measure_(measure) {}
  void OnReady(std::function<void()> ready) override { inner_->OnReady(std::move(ready)); }
  State Pull(std::vector<SharedBytes>& out, std::size_t max_bytes) override {
    const std::size_t before = out.size();
    const State state = inner_->Pull(out, max_bytes);
    for (std::size_t i = before; i < out.size(); ++i) measure_.drawn += out[i]->size();
    const std::size_t drawn = measure_.drawn, taken = measure_.taken;
    measure_.most_pending = std::max<std::size_t>(measure_.most_pending, drawn - std::min(drawn, taken));
    return state;
  }
  void Cancel() override { inner_->Cancel(); }
  bool broken() const override { return inner_->broken(); }
  std::size_t pending() const override {
    const std::size_t bytes = inner_->pending();
    measure_.most_waiting = std::max<std::size_t>(measure_.most_waiting, bytes);
    return bytes;
  }

 private:
  const std::unique_ptr<Stream> inner_;
  Measure& measure_;
};

const bool kConfigured = [] {
  // Long enough for a busy machine to catch up.
  TestFront::Configure(
      [](FrontOptions& options) { options.timeouts.end_stall = std::chrono::seconds(3); });
  TestFront::Answer([](const Request& request) {
    Request asked = request;
    asked.peer.common_name = "admin";
    asked.peer.organizations = {"system:masters"};
    Response response = Hub().server().dispatcher().Handle(asked);
    if (response.stream) {
      response.stream =
          std::make_unique<Measured>(std::move(response.stream), MeasureOf(request.query));
    }
    return response;
  });
  return true;
}();

void Write(std::size_t events) {
  Hub().Do("DELETE", kMaps + "/busy");
  Hub().Do("POST", kMaps, ConfigMap("busy"));
  for (std::size_t i = 0; i < events; ++i) {
    const std::string text = std::to_string(i) + std::string(kEventBytes, '.');
    ASSERT_EQ(Hub().Do("PUT", kMaps + "/busy", ConfigMap("busy", {{"k", text}})).code, 200);
  }
}

// The reader was never owed more than the bound by the front, was seen to fall behind, and what was
// queued for it did not have to pass through it before it was ended.
void ExpectBounded(const Measure& measure) {
  EXPECT_GT(measure.drawn, 0u);
  EXPECT_LT(measure.most_pending, limits::kStreamPendingBytes + kWholeEvent);
  EXPECT_GT(measure.most_waiting, limits::kStreamPendingBytes);
  EXPECT_LT(measure.drawn, limits::kStreamPendingBytes);
}

TEST(SlowWatch, IsEndedOnceItIsTooFarBehind) {
  const auto patience = std::chrono::milliseconds(125);
  // A trickle over HTTP/1.1: a kilobyte a second.
  RawClient client(TestFront::Get().port(), {.receive_buffer = 4096});
  client.Send("GET " + Watch('1') + " HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && client.ReadExactly(128).size() == 128) {
      trickle1.taken += 128;
      std::this_thread::sleep_for(patience);
    }
  });
  // The same over HTTP/2.
  FrameClient frames;
  frames.Send(GetFrame(1, Watch('2')));
  // Two threads may use the connection once nothing of the handshake is left to be read.
  EXPECT_EQ(frames.Await(NGHTTP2_HEADERS).stream, 1u);
  std::jthread window([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(patience);
      frames.Send(Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, Number(128, 4)) +
                  Frame(NGHTTP2_WINDOW_UPDATE, 0, 1, Number(128, 4)));
    }
  });
  // A wide window, and nothing is read.
  constexpr std::uint32_t kWide = 1u << 30;
  FrameClient stuck({.alpn = "h2", .receive_buffer = 4096});
  stuck.Send(Frame(NGHTTP2_SETTINGS, 0, 0, Number(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) +
                                               Number(kWide, 4)) +
             Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, Number(kWide, 4)) + GetFrame(1, Watch('3')));
  ASSERT_TRUE(TestFront::Get().AwaitStreams(3));

  // What is written is a few times what may wait, and far from what a queue may hold.
  constexpr std::size_t kEvents = 4 * limits::kStreamPendingBytes / (2 * kEventBytes);
  static_assert(kEvents * 2 * kEventBytes < limits::kWatchQueueBytes);
  static_assert(kEvents < limits::kWatchQueueEvents);
  Write(kEvents);
  const auto reset = frames.Await(NGHTTP2_RST_STREAM);
  EXPECT_EQ(reset.stream, 1u);
  EXPECT_EQ(FrameClient::ErrorOf(reset), NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_TRUE(TestFront::Get().AwaitStreams(0));  // though the last has not read its reset
  ExpectBounded(trickle1);
  ExpectBounded(trickle2);
  ExpectBounded(wide);
}

TEST(SlowWatch, HasLessThanASecondUnlessToldOtherwise) {
  EXPECT_LT(FrontTimeouts().end_stall, std::chrono::seconds(1));
  EXPECT_EQ(FrontOptions().stream_pending, std::size_t{1024 * 1024});
}

// A burst that is more than may wait is no harm to a reader who takes it in time.
TEST(SlowWatch, ThatCatchesUpGetsEveryEvent) {
  Write(1);
  RawClient client(TestFront::Get().port(), {.receive_buffer = 4096});
  // Without chunks, which might part what is looked for.
  client.Send("GET " + Watch('4') + " HTTP/1.0\r\n\r\n");
  client.ReadUntil("\"k\":\"0.");
  constexpr std::size_t kLarge = 400'000, kRounds = 3, kBurst = 4;
  for (std::size_t round = 0; round < kRounds; ++round) {
    bursts.most_waiting = 0;
    for (std::size_t i = 0; i < kBurst; ++i) {
      const std::string text = std::to_string(i) + std::string(kLarge, '.');
      ASSERT_EQ(Hub().Do("PUT", kMaps + "/busy", ConfigMap("busy", {{"k", text}})).code, 200);
    }
    const std::string last = "\"k\":\"" + std::to_string(kBurst - 1) + ".";
    // What waits is looked at when it is offered to the socket, a moment after it was written.
    EXPECT_TRUE(Eventually([] { return bursts.most_waiting > limits::kStreamPendingBytes; })) << round;
    ASSERT_TRUE(client.ReadUntil(last).ends_with(last)) << round;
  }
}

TEST(SlowWatch, ThatKeepsUpGetsEveryEvent) {
  constexpr std::size_t kEvents = 1000;
  Write(1);
  RawClient client(TestFront::Get().port());
  client.Send("GET " + Watch('0') + " HTTP/1.0\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  std::jthread writer([] { Write(kEvents); });
  client.ReadUntil("\"DELETED\"");  // what was there before
  const std::string last = "\"k\":\"" + std::to_string(kEvents - 1) + ".";
  const std::string all = client.ReadUntil(last);
  ASSERT_TRUE(all.ends_with(last));
  std::size_t at = 0;
  for (std::size_t i = 0; i < kEvents; ++i) {
    at = all.find("\"k\":\"" + std::to_string(i) + ".", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
}

}  // namespace
}  // namespace mailroom::apiserver
