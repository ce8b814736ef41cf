// When events go out over HTTP/1.1, and in how much at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "apiserver/http/test_client.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

// An event goes out at once, one that follows it closely with those that do so, too, and all of them
// without anything else happening. On a machine that is busy enough nothing follows closely.
TEST(EventsTest, EventsThatFollowCloselyShareAWrite) {
  using std::chrono::steady_clock;
  RawClient client(TestFront::Get().port());
  FedStream& stream = TestFront::Get().stream("close");
  client.Send("GET /stream/close HTTP/1.1\r\nHost: t\r\n\r\n");
  ASSERT_TRUE(stream.AwaitOpen());
  std::size_t fed = 0;
  auto feed = [&](const std::string& piece) {
    fed += piece.size();
    stream.Feed(piece);
  };
  auto arrived = [&] { return stream.pulled() == fed; };
  constexpr int kRounds = 50;
  int waited = 0;
  for (int i = 0; i < kRounds; ++i) {
    feed("first\n");
    while (!arrived()) std::this_thread::yield();
    feed("second\n");
    const auto soon = steady_clock::now() + std::chrono::milliseconds(1);
    while (steady_clock::now() < soon) std::this_thread::yield();
    if (!arrived()) ++waited;
    feed("third\n");
    while (!arrived()) std::this_thread::yield();
    std::this_thread::sleep_for(limits::kEventGather);
  }
  EXPECT_GT(waited, 0);
  stream.End();
  const std::string all = client.ReadUntil("0\r\n\r\n");
  std::size_t at = 0;
  for (int i = 0; i < kRounds; ++i) {
    for (const char* piece : {"first", "second", "third"}) {
      at = all.find(piece, at);
      ASSERT_NE(at, std::string::npos) << i;
    }
  }
}

TEST(EventsTest, ManyEventsArriveCompleteAndInOrder) {
  FedStream& stream = TestFront::Get().stream("many");
  std::jthread feeder([&] {
    for (int i = 0; i < 20'000; ++i) stream.Feed(std::to_string(i) + std::string(200, '.') + "\n");
    stream.End();
  });
  const std::string lines = TestFront::Get().Shell(
      "curl -sN --http1.1 --cacert $CA https://localhost:$PORT/stream/many | tr -d . | "
      "awk '$1 != NR - 1 {bad = 1} END {print NR, bad + 0}'");
  EXPECT_EQ(lines, "20000 0\n");
}

// Whoever has room is sent more at a time than waits in memory for those who have none.
TEST(EventsTest, ThatWaitTogetherGoOutInLongBlocks) {
  FedStream& stream = TestFront::Get().stream("backlog");
  const std::string event(1000, 'e');
  for (int i = 0; i < 300; ++i) stream.Feed(event);
  stream.End();
  RawClient client(TestFront::Get().port());
  client.Send("GET /stream/backlog HTTP/1.1\r\nHost: t\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  std::size_t longest = 0, all = 0;
  while (true) {
    const std::size_t size = std::stoul(client.ReadUntil("\r\n"), nullptr, 16);
    ASSERT_EQ(client.ReadExactly(size + 2).size(), size + 2);
    if (size == 0) break;
    longest = std::max(longest, size);
    all += size;
  }
  EXPECT_EQ(all, 300 * event.size());
  EXPECT_GT(longest, 2 * limits::kStreamBlock);
}

}  // namespace
}  // namespace mailroom::apiserver
