// Short answers among long ones on one loop. Turns are counted, not time.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "apiserver/http/test_client.h"

namespace mailroom::apiserver {
namespace {

std::atomic<std::size_t> drawn = 0;
std::promise<void> entered, leave;  // of /pause

const bool kConfigured = [] {
  TestFront::Configure([](FrontOptions& options) { options.io_threads = 1; });
  TestFront::Answer([](const Request& request) {
    Response response;
    if (request.path == "/endless") {
      response.stream = StreamDocument([](std::vector<SharedBytes>& out, std::size_t max) {
        out.push_back(std::make_shared<const std::string>(max, 'x'));
        drawn += max;
        return true;
      });
    } else if (request.path == "/pause") {
      entered.set_value();
      leave.get_future().wait();  // on the loop, which a real handler must not
    } else {
      response.Append("drawn " + std::to_string(drawn) + "\n");
    }
    return response;
  });
  return true;
}();

TEST(FairTest, AShortRequestWaitsForFewTurnsOfLongAnswers) {
  constexpr std::size_t kReaders = 4;
  constexpr int kRequests = 50;
  const std::uint16_t port = TestFront::Get().port();
  std::atomic<bool> done = false;
  std::vector<std::jthread> readers;
  for (std::size_t i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      RawClient client(port);
      client.Send("GET /endless HTTP/1.1\r\nHost: t\r\n\r\n");
      while (!done && !client.ReadExactly(16 * 1024).empty()) {
      }
    });
  }
  while (drawn < 32u * 1024 * 1024) std::this_thread::yield();
  RawClient pause(port), small(port);
  for (int i = 0; i < kRequests; ++i) {
    entered = {};
    leave = {};
    pause.Send("GET /pause HTTP/1.1\r\nHost: t\r\n\r\n");
    entered.get_future().wait();
    const std::size_t before = drawn;
    small.Send("GET /now HTTP/1.1\r\nHost: t\r\n\r\n");  // is there when the loop goes on
    leave.set_value();
    small.ReadUntil("drawn ");
    const std::size_t then = std::stoul(small.ReadUntil("\n"));
    // What was due already, the turn of one reader, and a little of each that may have parked.
    EXPECT_LE(then - before, 2 * limits::kWriteTurn + 2 * kReaders * limits::kWriteBlock) << i;
    pause.ReadUntil("\r\n\r\n");
  }
  done = true;
}

}  // namespace
}  // namespace mailroom::apiserver
