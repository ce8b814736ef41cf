// A thousand watches at once, by libcurl.
#include <gtest/gtest.h>

#include <thread>

#include "apiserver/http/test_client.h"
#include "apiserver/http/test_swarm.h"

namespace mailroom::apiserver {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr std::size_t kWatches = 250;  // TSan makes everything slow
#else
constexpr std::size_t kWatches = 1000;
#endif

bool Await(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 4 * kTestPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class SwarmTest : public ::testing::TestWithParam<bool> {
 protected:
  Swarm::Options Watches(bool stuck) {
    TestFront& front = TestFront::Get();
    return {.url = "https://localhost:" + std::to_string(front.port()) + "/fan",
            .ca_file = front.options().client_ca_file,
            .watches = kWatches,
            .http2 = GetParam(),
            .connections = GetParam() ? std::size_t{4} : 0,
            .stuck = stuck};
  }
};

TEST_P(SwarmTest, EveryWatchGetsEveryEvent) {
  TestFront& front = TestFront::Get();
  constexpr std::size_t kEvents = 100, kBytes = 1000;
  {
    Swarm swarm(Watches(false));
    ASSERT_TRUE(Await([&] { return swarm.open() == kWatches; })) << swarm.open();
    EXPECT_EQ(front.front().counts().streams, kWatches);
    for (std::size_t i = 0; i < kEvents; ++i) {
      front.fan().Publish(std::make_shared<const std::string>(kBytes, 'e'));
    }
    EXPECT_TRUE(Await([&] { return swarm.bytes() >= kEvents * kBytes * kWatches; }))
        << swarm.bytes();
    EXPECT_EQ(swarm.bytes(), kEvents * kBytes * kWatches);
    EXPECT_EQ(swarm.failed(), 0u);
  }
  EXPECT_TRUE(Await([&] { return front.front().counts().connections == 0; }));
  EXPECT_EQ(front.front().counts().streams, 0u);
}

// Readers that stop hold little, and those that go on are served.
TEST_P(SwarmTest, StuckReadersDoNotHoldOthersUp) {
  TestFront& front = TestFront::Get();
  Swarm stuck(Watches(true));
  ASSERT_TRUE(Await([&] { return stuck.open() == kWatches; })) << stuck.open();
  Swarm::Options one = Watches(false);
  one.watches = 1;
  Swarm good(one);
  ASSERT_TRUE(Await([&] { return good.open() == 1; }));
  constexpr std::size_t kEvents = 500, kBytes = 1000;
  for (std::size_t i = 0; i < kEvents; ++i) {
    front.fan().Publish(std::make_shared<const std::string>(kBytes, 'e'));
  }
  EXPECT_TRUE(Await([&] { return good.bytes() == kEvents * kBytes; })) << good.bytes();
}

INSTANTIATE_TEST_SUITE_P(All, SwarmTest, ::testing::Values(false, true),
                         [](const auto& http2) { return http2.param ? "Http2" : "Http1"; });

}  // namespace
}  // namespace mailroom::apiserver
