// A front that ends; in a program of its own because a process starts only one.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "apiserver/http/frame_client.h"
#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {
namespace {

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(DrainTest, FinishesWhatIsUnderWayAndRefusesTheRest) {
  TestFront& test = TestFront::Get();
  FedStream& stream = test.stream("watch");
  RawClient watcher(test.port()), idle(test.port()), late(test.port()), under_way(test.port());
  watcher.Send("GET /stream/watch HTTP/1.1\r\nHost: t\r\n\r\n");
  watcher.ReadUntil("\r\n\r\n");
  stream.Feed("last\n");
  EXPECT_TRUE(watcher.ReadUntil("last\n").ends_with("last\n"));
  // A document that comes slowly, from somebody else.
  FedStream& page = test.stream("page");
  page.BeDocument();
  RawClient reader(test.port());
  reader.Send("GET /stream/page HTTP/1.1\r\nHost: t\r\n\r\n");
  reader.ReadUntil("\r\n\r\n");
  page.Feed("half");
  EXPECT_TRUE(reader.ReadUntil("half").ends_with("half"));
  idle.Send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n");
  idle.ReadUntil("address=127.0.0.1");
  under_way.Send("GET /hold HTTP/1.1\r\nHost: t\r\n\r\n");
  FrameClient frames;
  frames.Send(GetFrame(1, "/hold"));
  ASSERT_TRUE(test.AwaitHeld(2));

  // The same over HTTP/2, by a client that says what it got.
  FedStream& second = test.stream("watch2");
  std::jthread curl([&] {
    EXPECT_EQ(test.Shell("curl -sN --http2 --cacert $CA https://localhost:$PORT/stream/watch2; "
                         "echo status $?"),
              "one\nstatus 0\n");
  });
  EXPECT_TRUE(second.AwaitOpen());
  second.Feed("one\n");
  while (second.pulled() == 0) std::this_thread::yield();

  std::jthread drain([&] { test.front().Drain(std::chrono::seconds(60)); });
  // The watch ends with a whole body.
  EXPECT_EQ(watcher.ReadUntil("0\r\n\r\n"), "\r\n0\r\n\r\n");
  EXPECT_TRUE(stream.AwaitCancelled());
  curl.join();
  EXPECT_EQ(reader.ReadToEnd(), "\r\n") << "half of a document is not a whole one";
  // Requests that come now are told to go elsewhere.
  late.Send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n");
  const std::string refused = late.ReadToEnd();
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 429 ")) << refused;
  EXPECT_TRUE(Has(refused, "retry-after: 5\r\n")) << refused;
  EXPECT_TRUE(Has(refused, "connection: close\r\n")) << refused;
  EXPECT_TRUE(Has(refused, "audit-id: audited\r\n")) << refused;
  frames.Send(GetFrame(3, "/echo"));
  EXPECT_TRUE(Has(frames.Body(3), "\"code\":429"));
  // Those under way are answered, and then connections are closed.
  EXPECT_EQ(test.front().counts().exchanges, 2u);
  test.Release();
  const std::string answer = under_way.ReadToEnd();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_TRUE(answer.ends_with("held")) << answer;
  EXPECT_EQ(frames.Body(1), "held");
  const auto away = frames.Await(NGHTTP2_GOAWAY);
  EXPECT_EQ(away.type, NGHTTP2_GOAWAY);
  EXPECT_EQ(FrameClient::ErrorOf(away), NGHTTP2_NO_ERROR);
  idle.ReadToEnd();
  for (RawClient* client : {&watcher, &reader, &idle, &late, &under_way, &frames.raw()}) client->Close();
  drain.join();
  EXPECT_EQ(test.front().counts().connections, 0u);
  EXPECT_EQ(test.front().counts().streams, 0u);
  EXPECT_FALSE(RawClient(test.port()).connected());
  test.front().Stop();
  test.front().Stop();
}

}  // namespace
}  // namespace mailroom::apiserver
