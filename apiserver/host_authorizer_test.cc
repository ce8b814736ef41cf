// The host cluster as another authority: what its answers, and its silence, come to.
#include "apiserver/host_authorizer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "apiserver/overseen_stream.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom::apiserver {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// A host that says what it is told to say.
struct Host {
  std::function<Result<Response>(const Json& review)> answer;
  std::atomic<int> asked = 0;

  void Says(bool allowed) {
    answer = [allowed](const Json& review) -> Result<Response> {
      Json out = review;
      out["status"] = {{"allowed", allowed}};
      Response response;
      response.code = 201;
      response.body.push_back(std::make_shared<const std::string>(DumpJson(out)));
      return response;
    };
  }
  void Fails(Status status) {
    answer = [status = std::move(status)](const Json&) -> Result<Response> { return status; };
  }
  void Answers(int code) {
    answer = [code](const Json&) -> Result<Response> {
      Response response;
      response.code = code;
      return response;
    };
  }
};

class ToHost final : public client::Transport {
 public:
  explicit ToHost(Host& host) : host_(host) {}
  Result<Response> Send(Request request) override {
    ++host_.asked;
    EXPECT_EQ(request.path, "/base/apis/authorization.k8s.io/v1/subjectaccessreviews");
    return host_.answer(ParseJson(request.body).value());
  }
  std::unique_ptr<client::OpenStream> Open(Request, client::StreamSink&) override { return nullptr; }
  void After(milliseconds, std::function<void()>) override {}

 private:
  Host& host_;
};

User Alice() {
  User user;
  user.name = "alice";
  user.groups = {"devs"};
  user.home = "root";
  return user;
}

Attributes Mailboxes(std::string_view verb) {
  Attributes asked;
  asked.workspace = "root";
  asked.is_resource = true;
  asked.verb = verb;
  asked.group = "mailbox.kubestellar.io";
  asked.version = "v1alpha1";
  asked.resource = "mailboxes";
  return asked;
}

std::unique_ptr<HostAuthorizer> Asking(Host& host, HostAuthorizer::Times times) {
  return std::make_unique<HostAuthorizer>(std::make_unique<ToHost>(host), "/base", times);
}

const Status kGone = Unavailable("connection refused");

TEST(HostAuthorizer, AsksOnceForAWhile) {
  Host host;
  Json seen;
  host.answer = [&](const Json& review) -> Result<Response> {
    seen = review;
    Response response;
    response.code = 201;
    response.body.push_back(
        std::make_shared<const std::string>(R"({"status":{"allowed":true}})"));
    return response;
  };
  auto authorizer = Asking(host, {.fresh = hours(1)});
  EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  EXPECT_EQ(StringAt(seen, {"spec", "user"}), "alice");
  EXPECT_EQ(StringsAt(seen, {"spec", "groups"}), std::vector<std::string>{"devs"});
  EXPECT_EQ(StringAt(seen, {"spec", "resourceAttributes", "verb"}), "list");
  EXPECT_EQ(StringAt(seen, {"spec", "resourceAttributes", "resource"}), "mailboxes");
  User master = Alice();
  master.host_groups = {"system:masters"};
  EXPECT_TRUE(authorizer->Allows(master, Mailboxes("list")));
  EXPECT_EQ(StringsAt(seen, {"spec", "groups"}), (std::vector<std::string>{"devs", "system:masters"}));
  host.asked = 1;
  EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  EXPECT_EQ(host.asked, 1);
  host.Says(false);
  EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("delete")));
  EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("delete")));
  EXPECT_EQ(host.asked, 2);
}

TEST(HostAuthorizer, AYesHoldsThroughSilenceForItsTime) {
  for (const Status& failure : {kGone, TooManyRequests("later", 1)}) {
    Host host;
    auto authorizer = Asking(host, {.fresh = milliseconds(0), .outage = hours(1),
                                    .retry = milliseconds(0)});
    host.Says(true);
    EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
    host.Fails(failure);
    EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
    EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("delete"))) << "never said";
    host.Says(false);
    EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("list"))) << "the host is back";
    host.Fails(failure);
    EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("list"))) << "its last word was no";
  }
  Host host;
  auto authorizer = Asking(host, {.fresh = milliseconds(0), .outage = milliseconds(0),
                                  .retry = milliseconds(0)});
  host.Says(true);
  EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  host.Fails(kGone);
  EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("list"))) << "the time is over";
}

TEST(HostAuthorizer, ARefusalToTalkIsANo) {
  Host host;
  auto authorizer = Asking(host, {.fresh = milliseconds(0), .outage = hours(1)});
  host.Says(true);
  EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  for (const int code : {401, 403}) {
    host.Answers(code);
    EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("list"))) << code;
    host.Says(true);
    EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  }
  host.Answers(503);
  EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
}

TEST(HostAuthorizer, ASilentHostIsLeftAloneForAMoment) {
  Host host;
  auto authorizer = Asking(host, {.fresh = milliseconds(0), .outage = hours(1), .retry = hours(1)});
  host.Says(true);
  EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  host.Fails(kGone);
  EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  EXPECT_EQ(host.asked, 2);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(authorizer->Allows(Alice(), Mailboxes("list")));
  EXPECT_FALSE(authorizer->Allows(Alice(), Mailboxes("delete")));
  EXPECT_EQ(host.asked, 2);
}

// A stream that never says anything.
class Silent final : public Stream {
 public:
  void OnReady(std::function<void()>) override {}
  State Pull(std::vector<SharedBytes>&, std::size_t) override { return State::kIdle; }
  void Cancel() override {}
};

TEST(Oversight, AQuestionThatHangsHoldsUpNoTimer) {
  TimerQueue timers;
  WorkerPool checkers(1, 1);
  std::promise<void> asked, hanging;
  std::shared_future<void> released = hanging.get_future().share();
  std::atomic<int> times = 0;
  Response response;
  response.stream = std::make_unique<Silent>();
  Oversight oversight;
  oversight.check = [&]() -> Result<void> {
    if (times++ == 0) {
      asked.set_value();
      released.wait();
    }
    return Ok();
  };
  oversight.checkers = &checkers;
  oversight.every = milliseconds(1);
  Oversee(response, timers, std::move(oversight));
  asked.get_future().wait();
  std::promise<void> ticked;
  timers.Post([&] { ticked.set_value(); });
  EXPECT_EQ(ticked.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  hanging.set_value();
  while (times < 3) std::this_thread::yield();  // and goes on being asked
  response.stream->Cancel();
  response.stream.reset();
  checkers.Stop();
}

TEST(HostAuthorizer, HasASayAboutRootsOwnApiOnly) {
  Server::Options options;
  std::atomic<bool> allowed = true;
  options.delegate = [&](const User& user, const Attributes&) {
    return allowed && user.name == "alice";
  };
  TestHub hub(options);
  Request request;
  request.method = "GET";
  request.path = "/apis/mailbox.kubestellar.io/v1alpha1/mailboxes";
  request.peer.common_name = "alice";
  EXPECT_EQ(hub.server().dispatcher().PaceOf(request), Pace::kMayWait);
  EXPECT_EQ(hub.Send(request).code, 200);
  allowed = false;
  EXPECT_EQ(hub.Send(request).code, 403);
  allowed = true;
  for (const char* path : {"/api/v1/secrets", "/clusters/wds1/api/v1/configmaps"}) {
    request.path = path;
    EXPECT_EQ(hub.Send(request).code, 403) << path;
  }
}

}  // namespace
}  // namespace mailroom::apiserver
