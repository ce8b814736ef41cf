// Custom resources in several versions: by rewriting, and by a webhook.
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>

#include "apiserver/conversion_stand.h"
#include "apiserver/conversions.h"
#include "test/support/eventually.h"

namespace mailroom {
namespace {

TEST_F(Conversion, EveryVerbSpeaksTheVersionOfTheRequest) {
  WebhookStand stand(Answering(Convert));
  Define(ByWebhook(stand));
  const auto made = Make("v2", "a", {{"host", "h"}, {"port", "1"}});
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["apiVersion"], "example.com/v2");
  EXPECT_EQ(made.body["spec"], (Json{{"host", "h"}, {"port", "1"}}));
  EXPECT_EQ(made.body["metadata"]["generation"], 1);
  EXPECT_EQ(hub_.Get(Path("v1", "a")).body["spec"], (Json{{"hostPort", "h:1"}}));
  EXPECT_EQ(hub_.Get(Path("v2", "a")).body["spec"], (Json{{"host", "h"}, {"port", "1"}}));

  Json put = hub_.Get(Path("v2", "a")).body;
  put["spec"]["port"] = "2";
  EXPECT_EQ(hub_.Do("PUT", Path("v2", "a"), put).body["spec"]["port"], "2");
  EXPECT_EQ(hub_.Get(Path("v1", "a")).body["spec"]["hostPort"], "h:2");
  const auto patched = hub_.Do("PATCH", Path("v2", "a"), {{"spec", {{"host", "i"}}}},
                               "application/merge-patch+json");
  EXPECT_EQ(patched.body["spec"], (Json{{"host", "i"}, {"port", "2"}})) << patched.text;
  EXPECT_EQ(patched.body["metadata"]["generation"], 3);
  const auto applied = hub_.Do("PATCH", Path("v2", "b") + "?fieldManager=me",
                               End("v2", "b", {{"host", "x"}, {"port", "9"}}),
                               "application/apply-patch+yaml");
  EXPECT_EQ(applied.code, 201) << applied.text;
  EXPECT_EQ(hub_.Get(Path("v1", "b")).body["spec"]["hostPort"], "x:9");
  // Nothing changes: nothing is written.
  const auto again = hub_.Do("PATCH", Path("v2", "b") + "?fieldManager=me",
                             End("v2", "b", {{"host", "x"}, {"port", "9"}}),
                             "application/apply-patch+yaml");
  EXPECT_EQ(again.body["metadata"]["resourceVersion"], applied.body["metadata"]["resourceVersion"]);
  EXPECT_EQ(hub_.Do("DELETE", Path("v2", "a")).code, 200);
  EXPECT_EQ(hub_.Get(Path("v1", "a")).code, 404);

  // What is asked: the storage version on the way in, the request's on the way out.
  const Json first = stand.reviews().front();
  EXPECT_EQ(first["apiVersion"], "apiextensions.k8s.io/v1");
  EXPECT_EQ(first["kind"], "ConversionReview");
  EXPECT_EQ(first["request"]["desiredAPIVersion"], "example.com/v1");
  EXPECT_EQ(first["request"]["objects"][0]["spec"]["host"], "h");
  EXPECT_EQ(stand.paths().front(), "/?timeout=30s");
}

// As when the definition changes between the choice of the thread and the answer.
TEST_F(Conversion, AnIoLoopDoesNotWaitForIt) {
  WebhookStand stand(Answering(Convert));
  Define(ByWebhook(stand));
  ASSERT_EQ(Make("v1", "a", {{"hostPort", "h:1"}}).code, 201);
  for (const std::string& path : {Path("v2", "a"), Path("v2")}) {
    {
      const apiserver::NoWaiting loop;
      const auto answer = hub_.Get(path);
      EXPECT_EQ(answer.code, 429) << answer.text;
      EXPECT_EQ(answer.headers.Get("retry-after"), "1");
      EXPECT_TRUE(stand.reviews().empty());
    }
    EXPECT_EQ(hub_.Get(Path("v1", "a")).code, 200);
  }
  EXPECT_EQ(hub_.Get(Path("v2")).code, 200) << "nothing is left under way";
  const apiserver::NoWaiting loop;
  EXPECT_EQ(hub_.Get(Path("v2")).code, 200) << "what is remembered takes no wait";
}

TEST_F(Conversion, AListIsOneQuestion) {
  WebhookStand stand(Answering(Convert));
  Define(ByWebhook(stand));
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    ASSERT_EQ(Make("v1", "e" + n, {{"hostPort", "h" + n + ":" + n}}).code, 201);
  }
  ASSERT_TRUE(stand.reviews().empty());
  const auto list = hub_.Get(Path("v2"));
  ASSERT_EQ(list.code, 200) << list.text;
  EXPECT_EQ(list.body["apiVersion"], "example.com/v2");
  ASSERT_EQ(list.body["items"].size(), 20u);
  for (const Json& item : list.body["items"]) {
    EXPECT_EQ(item["apiVersion"], "example.com/v2");
    EXPECT_EQ("h" + item["spec"]["port"].get<std::string>(), item["spec"]["host"]);
  }
  ASSERT_EQ(stand.reviews().size(), 1u);
  EXPECT_EQ(stand.reviews()[0]["request"]["objects"].size(), 20u);
  // A second list is answered by memory; a get asks again, as one without a cache would.
  EXPECT_EQ(hub_.Get(Path("v2")).code, 200);
  EXPECT_EQ(stand.reviews().size(), 1u);
  EXPECT_EQ(hub_.Get(Path("v2", "e1")).code, 200);
  EXPECT_EQ(stand.reviews().size(), 2u);
  // Selectors mean the version of the request.
  const auto some = hub_.Get(Path("v2") + "?fieldSelector=spec.host%3Dh7&limit=5");
  ASSERT_EQ(some.code, 200) << some.text;
  ASSERT_EQ(some.body["items"].size(), 1u);
  EXPECT_EQ(some.body["items"][0]["metadata"]["name"], "e7");
  EXPECT_EQ(hub_.Do("DELETE", Path("v2") + "?fieldSelector=spec.host%3Dh7").code, 200);
  EXPECT_EQ(hub_.Get(Path("v1")).body["items"].size(), 19u);
}

TEST_F(Conversion, NothingIsRememberedOfAWorkspaceThatIsGone) {
  WebhookStand stand(Answering(Convert));
  Define(ByWebhook(stand));
  ASSERT_EQ(Make("v1", "e", {{"hostPort", "h:1"}}).code, 201);
  ASSERT_EQ(hub_.Get(Path("v2")).code, 200);
  apiserver::Conversions& conversions = *hub_.server().dispatcher().hub().conversions;
  EXPECT_GT(conversions.RememberedBytes(), 0u);
  ASSERT_EQ(hub_.Do("DELETE", "/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/workspaces/c1")
                .code, 200);
  EXPECT_TRUE(Eventually([&] { return conversions.RememberedBytes() == 0; }));
}

TEST_F(Conversion, WatchesSeeTheVersionTheyAskedFor) {
  WebhookStand stand(Answering(Convert));
  Define(ByWebhook(stand));
  ASSERT_EQ(Make("v1", "a", {{"hostPort", "h:1"}}).code, 201);
  TestWatch watch(hub_, Path("v2") + "?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"
                                     "&resourceVersionMatch=NotOlderThan");
  TestWatch other(hub_, Path("v2") + "?watch=true");
  TestWatch selected(hub_, Path("v2") + "?watch=true&fieldSelector=spec.host%3Di");
  const Json initial = watch.Next();
  EXPECT_EQ(initial["type"], "ADDED");
  EXPECT_EQ(initial["object"]["spec"]["host"], "h");
  const Json mark = watch.Next();
  EXPECT_EQ(mark["type"], "BOOKMARK");
  EXPECT_EQ(mark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
  EXPECT_EQ(other.Next()["object"]["spec"]["host"], "h");
  const std::size_t before = stand.reviews().size();
  Json put = hub_.Get(Path("v1", "a")).body;
  put["spec"]["hostPort"] = "i:1";
  ASSERT_EQ(hub_.Do("PUT", Path("v1", "a"), put).code, 200);
  for (TestWatch* each : {&watch, &other}) {
    const Json event = each->Next();
    EXPECT_EQ(event["type"], "MODIFIED");
    EXPECT_EQ(event["object"]["spec"]["host"], "i");
    EXPECT_EQ(event["object"]["apiVersion"], "example.com/v2");
  }
  const Json entered = selected.Next();
  EXPECT_EQ(entered["type"], "ADDED");
  EXPECT_EQ(entered["object"]["spec"]["host"], "i");
  // One question for all of them.
  EXPECT_EQ(stand.reviews().size(), before + 1);
  put = hub_.Get(Path("v1", "a")).body;
  put["spec"]["hostPort"] = "j:1";
  ASSERT_EQ(hub_.Do("PUT", Path("v1", "a"), put).code, 200);
  const Json left = selected.Next();
  EXPECT_EQ(left["type"], "DELETED");
  EXPECT_EQ(left["object"]["spec"]["host"], "i");
  ASSERT_EQ(hub_.Do("DELETE", Path("v1", "a")).code, 200);
  EXPECT_EQ(watch.Next()["object"]["spec"]["host"], "j");
  const Json gone = watch.Next();
  EXPECT_EQ(gone["type"], "DELETED");
  EXPECT_EQ(gone["object"]["spec"]["host"], "j");
}

// A webhook that does not answer until it is told to.
class Gate {
 public:
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST_F(Conversion, AWebhookThatHangsHoldsUpNobodyElse) {
  Gate gate;
  WebhookStand stand(Answering([&](const Json& review) {
    gate.Pass();
    return Convert(review);
  }));
  Define(ByWebhook(stand));
  TestWatch stored(hub_, Path("v1") + "?watch=true");
  TestWatch converted(hub_, Path("v2") + "?watch=true");
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_EQ(Make("v1", name, {{"hostPort", "h:1"}}).code, 201);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stored.Next()["type"], "ADDED");
  EXPECT_EQ(hub_.Get(Path("v1", "a")).code, 200);
  EXPECT_EQ(hub_.Get(Path("v1")).body["items"].size(), 3u);
  auto waiting = std::async(std::launch::async, [&] { return hub_.Get(Path("v2", "a")).code; });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  gate.Open();
  EXPECT_EQ(waiting.get(), 200);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(converted.Next()["object"]["spec"]["host"], "h");
}

TEST_F(Conversion, OnlyWhatNeedsNoWebhookIsAnsweredByALoop) {
  WebhookStand stand(Answering(Convert));
  Define(ByWebhook(stand));
  auto blocks = [&](const std::string& path, const std::string& query = "") {
    Request request;
    request.method = "GET";
    request.path = path;
    request.query = query;
    return hub_.server().dispatcher().PaceOf(request) == apiserver::Pace::kMayWait;
  };
  EXPECT_TRUE(blocks(Path("v2", "a")));
  EXPECT_TRUE(blocks(Path("v2")));
  EXPECT_TRUE(blocks(ws_ + "/%61pis/" + Path("v2", "a").substr(ws_.size() + 6)));
  EXPECT_TRUE(blocks(Path("v2"), "watch=0"));
  EXPECT_TRUE(blocks("/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/" + ws_.substr(10) +
                     "/proxy" + Path("v2", "a").substr(ws_.size())));
  EXPECT_TRUE(blocks("/clusters/root/apis/mailbox.kubestellar.io/v1alpha1/mailboxes/" +
                     ws_.substr(10) + "/proxy" + Path("v2", "a").substr(ws_.size())));
  EXPECT_TRUE(blocks(Path("v1", "a")));  // may have been stored in another version before
  EXPECT_FALSE(blocks(Path("v2"), "watch=true"));
  EXPECT_FALSE(blocks(ws_ + "/api/v1/namespaces/default/configmaps/a"));
  EXPECT_FALSE(blocks(ws_ + "/apis/apps/v1/namespaces/default/deployments/a"));
}

TEST_F(Conversion, WithoutAWebhookAVersionShowsWhatItDeclares) {
  Define({{"strategy", "None"}});
  ASSERT_EQ(Make("v1", "a", {{"hostPort", "h:1"}}).code, 201);
  TestWatch watch(hub_, Path("v2") + "?watch=true");
  EXPECT_EQ(hub_.Get(Path("v2", "a")).body["spec"], Json::object());
  EXPECT_EQ(hub_.Get(Path("v2")).body["items"][0]["spec"], Json::object());
  EXPECT_EQ(watch.Next()["object"]["spec"], Json::object());
  EXPECT_EQ(hub_.Get(Path("v1", "a")).body["spec"]["hostPort"], "h:1");
  // What is written through v2 is stored as v1 declares it.
  const auto made = Make("v2", "b", {{"host", "h"}});
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["apiVersion"], "example.com/v2");
  EXPECT_EQ(hub_.Get(Path("v1", "b")).body["spec"], Json::object());
  EXPECT_EQ(watch.Next()["object"]["apiVersion"], "example.com/v2");
}

TEST_F(Conversion, ObjectsStayInTheVersionTheyWereWrittenIn) {
  WebhookStand stand(Answering(Convert));
  Define(ByWebhook(stand));
  ASSERT_EQ(Make("v1", "old", {{"hostPort", "h:1"}}).code, 201);
  const std::string path = ws_ + kCrds + "/ends.example.com";
  Json crd = hub_.Get(path).body;
  crd["spec"]["versions"][0]["storage"] = false;
  crd["spec"]["versions"][0]["served"] = false;
  crd["spec"]["versions"][1]["storage"] = true;
  ASSERT_EQ(hub_.Do("PUT", path, crd).code, 200);
  ASSERT_EQ(Make("v2", "new", {{"host", "n"}, {"port", "2"}}).code, 201);
  EXPECT_TRUE(stand.reviews().empty());
  const auto list = hub_.Get(Path("v2"));
  ASSERT_EQ(list.code, 200) << list.text;
  EXPECT_EQ(list.body["items"][0]["spec"]["host"], "n");
  EXPECT_EQ(list.body["items"][1]["spec"]["host"], "h");
  ASSERT_EQ(stand.reviews().size(), 1u);
  EXPECT_EQ(stand.reviews()[0]["request"]["objects"].size(), 1u);
  // A write moves the object on.
  ASSERT_EQ(hub_.Do("PATCH", Path("v2", "old"), {{"spec", {{"port", "3"}}}},
                    "application/merge-patch+json").code, 200);
  const std::size_t asked = stand.reviews().size();
  EXPECT_EQ(hub_.Get(Path("v2", "old")).body["spec"]["port"], "3");
  EXPECT_EQ(stand.reviews().size(), asked);
}

}  // namespace
}  // namespace mailroom
