// What becomes of requests when --workers and --max-queued-requests are used up.
#include "apiserver/offload_dispatcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/options.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom::apiserver {
namespace {

Request NewMap(const std::string& workspace, const std::string& name) {
  Request request;
  request.method = "POST";
  request.path = "/clusters/" + workspace + "/api/v1/namespaces/default/configmaps";
  request.headers.Add("content-type", "application/json");
  request.body = DumpJson(ConfigMap(name));
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  return request;
}

// The one worker is kept busy, so what follows waits.
class FullQueue : public testing::Test {
 protected:
  FullQueue() : offload_(OffloadOf(hub_.server().dispatcher())) {
    std::promise<void> busy;
    EXPECT_TRUE(workers_.Submit([&] {
      busy.set_value();
      released_.wait();
    }));
    busy.get_future().wait();
  }
  ~FullQueue() override {
    Release();
    workers_.Stop();
  }

  void Release() {
    if (!std::exchange(free_, true)) release_.set_value();
  }

  std::future<Response> Ask(Request request) {
    auto answer = std::make_shared<std::promise<Response>>();
    offload_.Serve({workers_, workers_}, std::move(request),
                   [answer](Response response) { answer->set_value(std::move(response)); });
    return answer->get_future();
  }

  TestHub hub_;
  const Options options_ =
      ParseOptions({"--data-dir", "d", "--workers", "1", "--max-queued-requests", "2"}).value();
  const Offload offload_;
  bool free_ = false;
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  WorkerPool workers_{options_.workers, options_.queued_requests};
};

bool Refused(std::future<Response>& answer) {
  // Given at once, by the thread that asked.
  return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

TEST_F(FullQueue, IsTooManyRequestsWithATimeToComeBack) {
  auto first = Ask(NewMap("wds1", "a"));
  auto elsewhere = Ask(NewMap("its1", "a"));
  auto late = Ask(NewMap("root", "late"));
  EXPECT_FALSE(Refused(first));
  EXPECT_FALSE(Refused(elsewhere));
  ASSERT_TRUE(Refused(late));
  const Response response = late.get();
  EXPECT_EQ(response.code, 429);
  EXPECT_EQ(response.headers.Get("retry-after"), "1");
  const Json status = ParseJson(response.BodyText()).value();
  EXPECT_EQ(StringAt(status, {"reason"}), "TooManyRequests");
  EXPECT_EQ(IntAt(status, {"details", "retryAfterSeconds"}), 1);
  Release();
  EXPECT_EQ(first.get().code, 201);
  EXPECT_EQ(elsewhere.get().code, 201);
  EXPECT_EQ(hub_.Get("/clusters/root/api/v1/namespaces/default/configmaps/late").code, 404);
}

TEST_F(FullQueue, OneWorkspaceFillsHalfOfIt) {
  auto first = Ask(NewMap("wds1", "a"));
  auto second = Ask(NewMap("wds1", "b"));
  EXPECT_FALSE(Refused(first));
  ASSERT_TRUE(Refused(second));
  EXPECT_EQ(second.get().code, 429);
  Release();
  EXPECT_EQ(first.get().code, 201);
}

}  // namespace
}  // namespace mailroom::apiserver
