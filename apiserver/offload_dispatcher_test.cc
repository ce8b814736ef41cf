// Which thread a request is given to, and what becomes of it when --workers and
// --max-queued-requests are used up.
#include "apiserver/offload_dispatcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/options.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
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

TEST_F(FullQueue, AllThatIsNowhereFillsHalfOfIt) {
  auto first = Ask(NewMap("nosuch", "a"));
  auto second = Ask(NewMap("nowhere", "b"));
  EXPECT_FALSE(Refused(first));
  ASSERT_TRUE(Refused(second));
  EXPECT_EQ(second.get().code, 429);
  auto known = Ask(NewMap("wds1", "a"));
  EXPECT_FALSE(Refused(known));
  Release();
  EXPECT_EQ(first.get().code, 404);
  EXPECT_EQ(known.get().code, 201);
}

// Requests of a hub on few threads, as the server runs them.
class FewThreads : public ::testing::Test {
 protected:
  std::future<Response> Ask(Request request) {
    auto answer = std::make_shared<std::promise<Response>>();
    offload_.Serve({workers_, workers_}, std::move(request),
                   [answer](Response response) { answer->set_value(std::move(response)); });
    return answer->get_future();
  }
  Request AddKey(const std::string& key) {
    Request request = NewMap("wds1", "shared");
    request.method = "PATCH";
    request.path += "/shared";
    request.headers = {};
    request.headers.Add("content-type", "application/merge-patch+json");
    request.body = R"({"data":{")" + key + R"(":"x"}})";
    return request;
  }

  TestHub hub_;
  const Offload offload_ = OffloadOf(hub_.server().dispatcher());
  WorkerPool workers_{16, 4096, 4, WorkerPool::Priority::kOrdinary, 2};
};

TEST_F(FewThreads, WritesThatWaitTogetherAllHaveTheirOwnAnswer) {
  ASSERT_EQ(Ask(NewMap("wds1", "shared")).get().code, 201);
  std::vector<std::future<Response>> made, changed;
  for (int i = 0; i < 200; ++i) {
    made.push_back(Ask(NewMap("wds1", "m" + std::to_string(i))));
    changed.push_back(Ask(AddKey("k" + std::to_string(i))));
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Response response = made[i].get();
    EXPECT_EQ(response.code, 201);
    EXPECT_EQ(StringAt(ParseJson(response.BodyText()).value(), {"metadata", "name"}),
              "m" + std::to_string(i));
  }
  // Those that lost too many races are told so, and have changed nothing.
  std::set<std::string> expected;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const Response response = changed[i].get();
    EXPECT_TRUE(response.code == 200 || response.code == 409) << response.code;
    if (response.code == 200) expected.insert("k" + std::to_string(i));
  }
  EXPECT_FALSE(expected.empty());
  const Json object =
      hub_.Get("/clusters/wds1/api/v1/namespaces/default/configmaps/shared").body;
  std::set<std::string> keys;
  for (const auto& [key, value] : object.at("data").items()) {
    if (key.starts_with("k")) keys.insert(key);
  }
  EXPECT_EQ(keys, expected);
}

TEST_F(FewThreads, ReadersOfTheFutureHoldUpNoWriter) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::future<Response>> readers;
  for (int i = 0; i < 3; ++i) {  // more than there are threads
    Request read = NewMap("wds1", "a");
    read.method = "GET";
    read.body.clear();
    read.query = "resourceVersion=999999999";
    readers.push_back(Ask(std::move(read)));
  }
  EXPECT_EQ(Ask(NewMap("wds1", "a")).get().code, 201);
  const auto state = readers.back().wait_for(std::chrono::seconds(0));
  if (std::chrono::steady_clock::now() - began < limits::kFreshnessWait) {
    EXPECT_NE(state, std::future_status::ready);
  }
  for (auto& reader : readers) EXPECT_EQ(reader.get().code, 504);
}

// What is written in another way than usual is judged by what the verbs read in it.
TEST(Paces, AreThoseOfTheRequestAsItIsRead) {
  TestHub hub;
  const std::string maps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
  for (std::size_t i = 0; i <= limits::kHeavyList; ++i) {
    ASSERT_EQ(hub.Do("POST", maps, ConfigMap("m" + std::to_string(i))).code, 201);
  }
  struct Case {
    std::string path, query;
    Pace pace;
  };
  const std::string root = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes";
  const std::vector<Case> cases = {
      {maps + "/a", "", Pace::kAtOnce},
      {maps + "/a", "pretty=true", Pace::kAtOnce},
      {maps + "/a", "resourceVersion=0", Pace::kAtOnce},
      {maps + "/a", "resourceVersion=", Pace::kAtOnce},
      {maps + "/a", "resourceVersion=0&resourceVersion=9", Pace::kAtOnce},
      {maps + "/a", "resourceVersion=9", Pace::kMayWait},
      {maps + "/a", "resourceVersion=%39999999999", Pace::kMayWait},
      {maps + "/a", "resourceVersion=0999999", Pace::kMayWait},
      {maps + "/a", "resourceVersion=00", Pace::kMayWait},
      {maps + "/a", "resource%56ersion=9", Pace::kMayWait},
      {maps + "/a", "x=resourceVersion=0&resourceVersion=9", Pace::kMayWait},
      {maps + "/a", "xresourceVersion=0&resourceVersion=9", Pace::kMayWait},
      {maps + "/a", "xresourceVersion=9", Pace::kAtOnce},
      {maps + "/%61", "", Pace::kMayWait},
      {maps + "/a/", "", Pace::kMayWait},
      {maps, "", Pace::kLong},
      {maps, "limit=5", Pace::kLong},
      {maps, "watch=true", Pace::kAtOnce},
      {maps, "watch", Pace::kAtOnce},
      {maps, "%77atch=1", Pace::kAtOnce},
      {maps, "watch=0", Pace::kLong},
      {maps, "watch=FALSE", Pace::kLong},
      {maps, "watch=0&watch=1", Pace::kLong},
      {maps, "xwatch=true", Pace::kLong},
      {maps, "fieldSelector=watch=1", Pace::kLong},
      {maps, "watch=true&resourceVersion=9", Pace::kMayWait},
      {maps + "/", "", Pace::kMayWait},
      {"/%63lusters/wds1/api/v1/namespaces/default/configmaps", "", Pace::kMayWait},
      {"/clusters/wds1" + maps, "", Pace::kLong},
      {"/clusters/wds1/api/v1/configmaps", "", Pace::kLong},
      {"/clusters/wds1/apis/apps/v1/deployments", "", Pace::kLong},
      {"/clusters/wds1/apis/apps/v1/namespaces/default/deployments/a", "", Pace::kAtOnce},
      {root + "/wds1/proxy/api/v1/configmaps", "", Pace::kLong},
      {root + "/wds1/proxy/apis/apps/v1/deployments", "", Pace::kLong},
      {root + "/wds1/proxy/api/v1/namespaces/default/configmaps/a", "", Pace::kAtOnce},
      {"/clusters/root" + root + "/wds1/proxy/api/v1/configmaps", "", Pace::kLong},
      {root, "", Pace::kAtOnce},
      {"/clusters/*/api/v1/configmaps", "", Pace::kLong},
      {"/clusters/its1/api/v1/configmaps", "", Pace::kAtOnce},
      {"/healthz", "", Pace::kAtOnce},
  };
  for (const Case& one : cases) {
    Request request;
    request.path = one.path;
    request.query = one.query;
    for (const char* method : {"GET", "HEAD"}) {
      request.method = method;
      EXPECT_EQ(hub.server().dispatcher().PaceOf(request), one.pace)
          << method << " " << one.path << "?" << one.query;
    }
    request.method = "PUT";
    EXPECT_EQ(hub.server().dispatcher().PaceOf(request), Pace::kMayWait) << one.path;
  }
}

// No way of writing a workspace's name gets a turn beside those of the workspace.
TEST(Flows, AreThoseOfTheWorkspaceThatIsRead) {
  TestHub hub;
  auto flow = [&](const std::string& path) {
    Request request;
    request.method = "GET";
    request.path = path;
    return hub.server().dispatcher().FlowOf(request);
  };
  const std::string root = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes";
  for (const std::string& path :
       {std::string("/clusters/wds1/api/v1/pods"), std::string("/clusters/wds1"),
        std::string("/clusters/wds1/"), std::string("/clusters/%77ds1/api/v1/pods"),
        std::string("/%63lusters/wds1/api/v1/pods"), root + "/wds1/proxy/api/v1/pods",
        root + "/wds1/proxy", root + "/wds1/pro%78y/api", "/clusters/root" + root + "/wds1/proxy/api"}) {
    EXPECT_EQ(flow(path), "wds1") << path;
  }
  for (const std::string& path : {std::string("/api/v1/pods"), std::string("/clusters/root/api"), root,
                                  root + "/wds1/proxyx", root + "/wds1/status"}) {
    EXPECT_EQ(flow(path), "root") << path;
  }
  for (const char* path : {"/clusters/nosuch/api", "/clusters/%2e%2e/api", "/clusters/X/api"}) {
    EXPECT_EQ(flow(path), kUnknownFlow) << path;
  }
  EXPECT_EQ(flow("/clusters/*/api/v1/pods"), "*");
}

}  // namespace
}  // namespace mailroom::apiserver
