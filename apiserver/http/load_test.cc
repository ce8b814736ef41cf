// Clients of both protocols at work while certificates change, events are told and the front
// drains: for the sanitizers, which see what meets.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "apiserver/http/frame_client.h"
#include "apiserver/http/test_client.h"
#include "test/support/eventually.h"

namespace mailroom::apiserver {
namespace {

constexpr std::size_t kClients = 4;  // of each kind
constexpr std::size_t kReloads = 10;

const char* const kPaths[] = {"/later", "/echo", "/long/100000"};

// However long the machine keeps a client from its work, it is not cut for that.
const bool kConfigured = [] {
  TestFront::Configure([](FrontOptions& options) {
    options.timeouts.handshake = std::chrono::seconds(60);
    options.timeouts.request_arrival = std::chrono::seconds(60);
    options.timeouts.stall = std::chrono::seconds(60);
    options.timeouts.linger = std::chrono::seconds(60);
  });
  return true;
}();

std::atomic<std::size_t> served = 0;  // askers that have had an answer

// Each asks one thing after the other until it is sent away; how many answers it got.
std::size_t AskOverHttp1() {
  RawClient client(TestFront::Get().port());
  for (std::size_t n = 0;; ++n) {
    // The last of three answers ends in a way that can be seen.
    const bool sees = n % 2 == 0;
    client.Send("GET " + std::string(sees ? "/echo" : "/later") + " HTTP/1.1\r\nHost: t\r\n\r\n");
    const std::string_view end = sees ? "address=127.0.0.1" : "later";
    if (!client.ReadUntil(end).ends_with(end)) return n;
    if (n == 0) ++served;
  }
}

std::size_t AskOverHttp2() {
  FrameClient client;
  for (std::uint32_t n = 0;; ++n) {
    client.Send(Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, Number(100'000, 4)) +
                GetFrame(2 * n + 1, kPaths[n % 3]));
    const std::string body = client.Body(2 * n + 1);
    if (body.empty() || body.find("\"code\":429") != std::string::npos) return n;
    if (n == 0) ++served;
  }
}

std::size_t WatchOverHttp1() {
  RawClient client(TestFront::Get().port());
  client.Send("GET /fan HTTP/1.1\r\nHost: t\r\n\r\n");
  std::size_t n = 0;
  while (client.ReadUntil("event\n").ends_with("event\n")) ++n;
  return n;
}

TEST(LoadTest, RequestsEventsReloadsAndADrainMeet) {
  TestFront& test = TestFront::Get();
  std::vector<std::jthread> clients;
  std::atomic<std::size_t> answered = 0, begun = 0;
  for (std::size_t i = 0; i < kClients; ++i) {
    for (const auto run : {AskOverHttp1, AskOverHttp2, WatchOverHttp1}) {
      clients.emplace_back([&, run] {
        const std::size_t answers = run();
        EXPECT_GT(answers, 0u);
        answered += answers;
      });
    }
  }
  ASSERT_TRUE(test.AwaitStreams(kClients));
  ASSERT_TRUE(Eventually([] { return served == 2 * kClients; })) << served.load();
  const auto event = std::make_shared<const std::string>("event\n");
  for (std::size_t i = 0; i < kReloads; ++i) {
    begun = test.front().counts().http1_requests + test.front().counts().http2_requests;
    EXPECT_TRUE(test.front().ReloadCertificates().ok());
    test.fan().Publish(event);
    // Some requests of each kind between two reloads.
    while (test.front().counts().http1_requests + test.front().counts().http2_requests <
           begun + 20) {
      std::this_thread::yield();
    }
  }
  std::jthread drain([&] { test.front().Drain(std::chrono::seconds(60)); });
  clients.clear();
  drain.join();
  EXPECT_GT(answered, kReloads * 20);
  EXPECT_EQ(test.front().counts().exchanges, 0u);
  EXPECT_EQ(test.front().counts().connections, 0u);
  EXPECT_EQ(test.front().counts().cut, 0u);
  test.front().Stop();
}

}  // namespace
}  // namespace mailroom::apiserver
