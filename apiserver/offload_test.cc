#include "apiserver/offload.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace mailroom::apiserver {
namespace {

TEST(OffloadTest, ReadsAreAnsweredHereAndAFullQueueIsTooManyRequests) {
  std::promise<void> started, release;
  auto released = release.get_future().share();
  std::atomic<std::thread::id> worker;
  const Offload offload{
      .pace =
          [](const Request& request) {
            if (request.method == "GET") return Pace::kAtOnce;
            return request.method == "LIST" ? Pace::kLong : Pace::kMayWait;
          },
      .handle =
          [&](const Request& request) {
            worker = std::this_thread::get_id();
            EXPECT_EQ(NoWaiting::Here(), request.method == "GET");
            if (request.path == "/first") started.set_value();
            if (request.method == "POST") released.wait();
            return Response{};
          },
      .refuse =
          [] {
            Response response;
            response.code = 429;
            response.headers.Add("retry-after", "1");
            return response;
          }};
  WorkerPool workers(1, 1), readers(1, 1);
  std::atomic<int> done = 0, refused = 0;
  const auto ask = [&](const std::string& method, const std::string& path) {
    Request request;
    request.method = method;
    request.path = path;
    offload.Serve({workers, readers}, std::move(request), [&](const Response& response) {
      EXPECT_FALSE(NoWaiting::Here());
      ++(response.code == 429 ? refused : done);
      EXPECT_EQ(response.headers.Get("retry-after"), response.code == 429 ? "1" : "");
    });
  };
  ask("POST", "/first");
  started.get_future().wait();
  EXPECT_NE(worker.load(), std::this_thread::get_id());
  ask("POST", "/waits");
  EXPECT_EQ(done + refused, 0);
  ask("POST", "/refused");
  EXPECT_EQ(refused, 1);
  ask("GET", "/read");  // needs no worker
  EXPECT_EQ(done, 1);
  EXPECT_EQ(worker.load(), std::this_thread::get_id());
  ask("LIST", "/long");  // has threads of its own
  readers.Stop();
  EXPECT_EQ(done, 2);
  EXPECT_NE(worker.load(), std::this_thread::get_id());
  ask("LIST", "/stopped");
  EXPECT_EQ(refused, 2);
  release.set_value();
  workers.Stop();
  EXPECT_EQ(done, 4);
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace mailroom::apiserver
