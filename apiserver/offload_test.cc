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
      .may_block = [](const Request& request) { return request.method != "GET"; },
      .handle =
          [&](const Request& request) {
            worker = std::this_thread::get_id();
            if (request.path == "/first") started.set_value();
            if (request.method != "GET") released.wait();
            return Response{};
          },
      .refuse =
          [] {
            Response response;
            response.code = 429;
            response.headers.Add("retry-after", "1");
            return response;
          }};
  WorkerPool workers(1, 1);
  std::atomic<int> done = 0, refused = 0;
  const auto ask = [&](const std::string& method, const std::string& path) {
    Request request;
    request.method = method;
    request.path = path;
    offload.Serve(workers, std::move(request), [&](const Response& response) {
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
  release.set_value();
  workers.Stop();
  EXPECT_EQ(done, 3);
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace mailroom::apiserver
