// A front that ends; in a program of its own because a process starts only one.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {
namespace {

TEST(DrainTest, FinishesWhatIsUnderWayAndRefusesTheRest) {
  TestFront& test = TestFront::Get();
  FedStream& stream = test.stream("watch");
  RawClient watcher(test.port()), idle(test.port());
  watcher.Send("GET /stream/watch HTTP/1.1\r\nHost: t\r\n\r\n");
  watcher.ReadUntil("\r\n\r\n");
  stream.Feed("last\n");
  EXPECT_TRUE(watcher.ReadUntil("last\n").ends_with("last\n"));
  idle.Send("GET /echo HTTP/1.1\r\nHost: t\r\n\r\n");
  idle.ReadUntil("address=127.0.0.1");

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

  std::jthread drain([&] { test.front().Drain(std::chrono::seconds(10)); });
  // The watch ends with a whole body, and idle connections are closed.
  EXPECT_EQ(watcher.ReadToEnd(), "\r\n0\r\n\r\n");
  EXPECT_TRUE(stream.AwaitCancelled());
  idle.ReadToEnd();
  watcher.Close();
  idle.Close();
  curl.join();
  drain.join();
  EXPECT_EQ(test.front().counts().connections, 0u);
  EXPECT_EQ(test.front().counts().streams, 0u);
  EXPECT_FALSE(RawClient(test.port()).connected());
  test.front().Stop();
  test.front().Stop();
}

}  // namespace
}  // namespace mailroom::apiserver
