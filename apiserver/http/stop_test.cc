// A front that is stopped with requests under way; in a program of its own because a process
// starts only one.
#include <gtest/gtest.h>

#include <thread>

#include "apiserver/http/frame_client.h"
#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {
namespace {

TEST(StopTest, AnswersThatComeTooLateAreDropped) {
  TestFront& test = TestFront::Get();
  RawClient client(test.port());
  client.Send("GET /hold HTTP/1.1\r\nHost: t\r\n\r\n");
  FrameClient frames;
  frames.Send(GetFrame(1, "/hold"));
  ASSERT_TRUE(test.AwaitHeld(2));
  // The grace runs out, and what is under way stays so.
  test.front().Drain(std::chrono::milliseconds(50));
  EXPECT_EQ(test.front().counts().exchanges, 2u);
  EXPECT_EQ(test.front().counts().connections, 2u);
  // Another drain is at it, or comes too late, when the loops end.
  std::jthread drain([&] { test.front().Drain(std::chrono::seconds(60)); });
  test.front().Stop();
  EXPECT_EQ(client.ReadToEnd(), "");
  // The loops are gone; answers go nowhere.
  test.Release();
  drain.join();
  EXPECT_EQ(test.front().counts().exchanges, 0u);
  EXPECT_EQ(test.front().counts().connections, 0u);
}

}  // namespace
}  // namespace mailroom::apiserver
