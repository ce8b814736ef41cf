#include "apiserver/client/informer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "apiserver/client/curl_transport.h"
#include "apiserver/client/scripted_server.h"

namespace mailroom::client {
namespace {

std::string Item(const std::string& name, int revision, const std::string& annotations = "") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"n","resourceVersion":")" +
         std::to_string(revision) + "\"" + annotations + "}}";
}

std::string List(int revision, const std::vector<std::string>& items,
                 const std::string& next = "") {
  std::string text =
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")" +
      std::to_string(revision) + R"(","continue":")" + next + R"("},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ",") + items[i];
  return text + "]}";
}

std::string Event(const std::string& type, const std::string& name, int revision) {
  return R"({"type":")" + type +
         R"(","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"(","namespace":"n","resourceVersion":")" + std::to_string(revision) + "\"}}}\n";
}

const char* const kGone =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",)"
    R"("message":"too old resource version","reason":"Expired","code":410}})"
    "\n";

// A server whose n-th request is answered by the n-th scene; the last scene's connection stays
// open until the client leaves. Keeps what was asked.
class Play {
 public:
  using Scene = std::function<void(ScriptedConnection&)>;
  explicit Play(std::vector<Scene> scenes)
      : scenes_(std::move(scenes)),
        server_([this](const Request& request, ScriptedConnection& connection) {
          Answer(request, connection);
        }) {}

  ServerConfig config() const {
    ServerConfig config;
    config.url = server_.url();
    return config;
  }
  std::vector<std::map<std::string, std::string>> queries() {
    std::lock_guard lock(mutex_);
    return queries_;
  }
  std::vector<std::string> accepts() {
    std::lock_guard lock(mutex_);
    return accepts_;
  }

 private:
  void Answer(const Request& request, ScriptedConnection& connection) {
    std::size_t turn;
    {
      std::lock_guard lock(mutex_);
      turn = queries_.size();
      accepts_.emplace_back(request.headers.Get("accept"));
      auto& query = queries_.emplace_back();
      for (const auto& [name, value] : ParseQuery(request.query)) query[name] = value;
    }
    if (turn < scenes_.size()) scenes_[turn](connection);
    if (turn + 1 >= scenes_.size()) {
      connection.WaitForClose();
      connection.Break();
    }
  }

  const std::vector<Scene> scenes_;
  std::mutex mutex_;
  std::vector<std::map<std::string, std::string>> queries_;
  std::vector<std::string> accepts_;
  ScriptedServer server_;
};

// Lines such as `+a@3`, `~a@5`, `-a`.
class Diary {
 public:
  Informer::Handler handler() {
    return [this](const ObjectKey& key, const ObjectPtr& before, const ObjectPtr& now) {
      std::lock_guard lock(mutex_);
      std::string line = now == nullptr ? "-" : before == nullptr ? "+" : "~";
      if (!key.workspace.empty()) line += key.workspace + ":";
      line += key.name;
      if (now != nullptr) line += "@" + now->revision().ToString();
      lines_.push_back(line);
      changed_.notify_all();
    };
  }
  std::vector<std::string> WaitFor(std::size_t lines) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return lines_.size() >= lines; });
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

Play::Scene Whole(std::string body, int code = 200) {
  return [=](ScriptedConnection& connection) { connection.Reply(code, body); };
}

Play::Scene Watch(std::vector<std::string> pieces, bool clean = true) {
  return [=](ScriptedConnection& connection) {
    connection.Head(200);
    for (const std::string& piece : pieces) connection.Chunk(piece);
    if (clean) {
      connection.End();
    } else {
      connection.Break();
    }
  };
}

Play::Scene Hold(std::vector<std::string> pieces = {}) {
  return [=](ScriptedConnection& connection) {
    connection.Head(200);
    for (const std::string& piece : pieces) connection.Chunk(piece);
  };
}

struct Case {
  const char* name;
  std::vector<Play::Scene> scenes;
  std::vector<std::string> seen;
  std::vector<std::string> kept;  // names in the cache at the end
};

TEST(Informer, Scenes) {
  const std::string bookmark =
      R"({"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1",)"
      R"("metadata":{"resourceVersion":"8"}}})"
      "\n";
  const std::string split = Event("ADDED", "b", 2) + Event("MODIFIED", "b", 3);
  const Case cases[] = {
      {"list then watch",
       {Whole(List(1, {Item("a", 1)})),
        Hold({Event("ADDED", "b", 2), Event("MODIFIED", "a", 3), Event("DELETED", "b", 4)})},
       {"+a@1", "+b@2", "~a@3", "-b"},
       {"a"}},
      {"pages",
       {Whole(List(5, {Item("a", 1)}, "t1")), Whole(List(5, {Item("b", 2)}, "t2")),
        Whole(List(5, {Item("c", 3)})), Hold()},
       {"+a@1", "+b@2", "+c@3"},
       {"a", "b", "c"}},
      {"events split anywhere",
       {Whole(List(1, {})),
        Hold({split.substr(0, 1), split.substr(1, 40), split.substr(41, 80), split.substr(121)})},
       {"+b@2", "~b@3"},
       {"b"}},
      {"two events in one piece, blank lines between",
       {Whole(List(1, {})), Hold({Event("ADDED", "a", 2) + "\n\r\n" + Event("ADDED", "b", 3)})},
       {"+a@2", "+b@3"},
       {"a", "b"}},
      {"broken watch resumes",
       {Whole(List(1, {})), Watch({Event("ADDED", "a", 2)}, false), Hold({Event("ADDED", "b", 3)})},
       {"+a@2", "+b@3"},
       {"a", "b"}},
      {"ERROR 410 lists again and tells deletions",
       {Whole(List(1, {Item("a", 1), Item("b", 1)})), Watch({bookmark, kGone}),
        Whole(List(9, {Item("b", 7), Item("c", 9)})), Hold()},
       {"+a@1", "+b@1", "-a", "~b@7", "+c@9"},
       {"b", "c"}},
      {"HTTP 410 of a watch lists again",
       {Whole(List(1, {Item("a", 1)})), Whole(Expired("too old").ToJson(), 410), Whole(List(9, {})),
        Hold()},
       {"+a@1", "-a"},
       {}},
      {"410 between pages takes the whole list",
       {Whole(List(5, {Item("a", 1)}, "t1")), Whole(Expired("gone").ToJson(), 410),
        Whole(List(6, {Item("b", 6)})), Hold()},
       {"+b@6"},
       {"b"}},
      {"failing list is retried",
       {Whole(Unavailable("starting").ToJson(), 503), Watch({"{\"kind\":"}, false),
        Whole("not json"), Whole(List(2, {Item("a", 2)})), Hold()},
       {"+a@2"},
       {"a"}},
      {"nonsense in a watch lists again",
       {Whole(List(1, {})), Watch({"{]\n"}), Whole(List(2, {Item("a", 2)})), Hold()},
       {"+a@2"},
       {"a"}},
      {"an unchanged object is not told again after a relist",
       {Whole(List(1, {Item("a", 1)})), Watch({kGone}),
        Whole(List(9, {Item("a", 1), Item("b", 9)})), Hold()},
       {"+a@1", "+b@9"},
       {"a", "b"}},
      {"an object that cannot be read is nonsense too, not a deletion",
       {Whole(List(1, {Item("a", 1)})),
        Watch({R"({"type":"MODIFIED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",)"
               R"("namespace":"n","resourceVersion":"2","labels":{"l":1}}}})" "\n"}),
        Whole(List(3, {Item("a", 3)})), Hold()},
       {"+a@1", "~a@3"},
       {"a"}},
      {"deletion of an unknown object is silent",
       {Whole(List(1, {})), Hold({Event("DELETED", "x", 2), Event("ADDED", "a", 3)})},
       {"+a@3"},
       {"a"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Play play(c.scenes);
    auto transport = MakeCurlTransport(play.config());
    Diary diary;
    auto informer = Informer::Start(
        {.client = Client(*transport, "", "test"), .gvr = {"v1", "configmaps"}, .query = {}},
        diary.handler());
    EXPECT_EQ(diary.WaitFor(c.seen.size()), c.seen);
    EXPECT_TRUE(informer->WaitSynced(std::chrono::seconds(30)));
    std::vector<std::string> kept;
    for (const auto& [key, object] : informer->List()) {
      kept.push_back(key.name);
      EXPECT_EQ(object->kind(), "ConfigMap");
      EXPECT_EQ(object->api_version(), "v1");
      EXPECT_EQ(informer->Get(key), object);
    }
    EXPECT_EQ(kept, c.kept);
    EXPECT_EQ(informer->size(), c.kept.size());
  }
}

// Versions are the server's own business: what is no number is no reason to miss a change.
TEST(Informer, VersionsMayBeOpaque) {
  const auto object = [](const std::string& version, const std::string& value) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n",)"
           R"("resourceVersion":")" + version + R"("},"data":{"k":")" + value + "\"}}";
  };
  const auto event = [&](const std::string& version, const std::string& value) {
    return R"({"type":"MODIFIED","object":)" + object(version, value) + "}\n";
  };
  Play play({Whole(List(1, {object("v-1", "1")})),
             Hold({event("v-2", "2"), event("v-3", "3"), event("v-3", "3"), event("7-x", "4"),
                   event("7-y", "5"), Event("ADDED", "last", 9)})});
  auto transport = MakeCurlTransport(play.config());
  std::mutex mutex;
  std::vector<std::string> seen;
  std::promise<void> last;
  auto informer = Informer::Start(
      {.client = Client(*transport, "", "test/1"), .gvr = {"v1", "configmaps"}, .query = {}},
      [&](const ObjectKey& key, const ObjectPtr&, const ObjectPtr& now) {
        std::lock_guard lock(mutex);
        if (key.name == "last") return last.set_value();
        seen.push_back(now->ScalarAt("data.k"));
      });
  ASSERT_EQ(last.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  std::lock_guard lock(mutex);
  EXPECT_EQ(seen, (std::vector<std::string>{"1", "2", "3", "4", "5"}));
}

TEST(Informer, TakesItsFirstStateAsAStream) {
  const auto bookmark = [](int revision, bool end) {
    return R"({"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":)"
           R"({"resourceVersion":")" + std::to_string(revision) + "\"" +
           (end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") + "}}}\n";
  };
  const Case cases[] = {
      {"stream, then the same stream goes on",
       {Hold({Event("ADDED", "a", 1), bookmark(2, false), Event("ADDED", "b", 2), bookmark(3, true),
              Event("MODIFIED", "a", 4)})},
       {"+a@1", "+b@2", "~a@4"},
       {"a", "b"}},
      {"a server that does not know it is listed",
       {Whole(Invalid("ListOptions", "meta.k8s.io", "", {}).ToJson(), 422),
        Whole(List(1, {Item("a", 1)})), Hold({Event("ADDED", "b", 2)})},
       {"+a@1", "+b@2"},
       {"a", "b"}},
      {"cut before the end: nothing counts, again from the start",
       {Watch({Event("ADDED", "a", 1)}, false), Hold({Event("ADDED", "b", 2), bookmark(3, true)})},
       {"+b@2"},
       {"b"}},
      {"after the end it resumes; 410 streams again and tells deletions",
       {Watch({Event("ADDED", "a", 1), bookmark(2, true)}, false), Watch({kGone}),
        Hold({Event("ADDED", "c", 8), bookmark(9, true)})},
       {"+a@1", "-a", "+c@8"},
       {"c"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Play play(c.scenes);
    auto transport = MakeCurlTransport(play.config());
    Diary diary;
    auto informer = Informer::Start({.client = Client(*transport, "", "test/1"),
                                     .gvr = {"v1", "configmaps"},
                                     .query = {},
                                     .watch_list = true},
                                    diary.handler());
    EXPECT_EQ(diary.WaitFor(c.seen.size()), c.seen);
    EXPECT_TRUE(informer->WaitSynced(std::chrono::seconds(30)));
    std::vector<std::string> kept;
    for (const auto& [key, object] : informer->List()) kept.push_back(key.name);
    EXPECT_EQ(kept, c.kept);
    EXPECT_EQ(play.queries().front()["sendInitialEvents"], "true");
  }
}

TEST(Informer, AsksAsAKubernetesClientShould) {
  Play play({Whole(List(5, {}, "t1")), Whole(List(5, {})), Watch({Event("ADDED", "a", 7)}, false),
             Hold({Event("ADDED", "b", 8)})});
  auto transport = MakeCurlTransport(play.config());
  Diary diary;
  auto informer = Informer::Start(
      {Client(*transport, "", "test"), {"v1", "configmaps"}, {"n", "x=y", ""}}, diary.handler());
  diary.WaitFor(2);
  const auto queries = play.queries();
  ASSERT_EQ(queries.size(), 4u);
  EXPECT_EQ(queries[0].at("limit"), "500");
  EXPECT_FALSE(queries[0].contains("resourceVersion"));
  EXPECT_EQ(queries[0].at("labelSelector"), "x=y");
  EXPECT_EQ(queries[1].at("continue"), "t1");
  EXPECT_EQ(queries[2].at("watch"), "1");
  EXPECT_EQ(queries[2].at("allowWatchBookmarks"), "true");
  EXPECT_EQ(queries[2].at("resourceVersion"), "5");
  EXPECT_EQ(queries[2].at("labelSelector"), "x=y");
  const int lifetime = std::stoi(queries[2].at("timeoutSeconds"));
  EXPECT_GE(lifetime, 300);
  EXPECT_LE(lifetime, 600);
  EXPECT_EQ(queries[3].at("resourceVersion"), "7");
}

TEST(Informer, AllWorkspacesMode) {
  const std::string in_m1 = R"(,"annotations":{"mailbox.kubestellar.io/workspace":"m1"})";
  const std::string in_m2 = R"(,"annotations":{"k":"v","mailbox.kubestellar.io/workspace":"m2"})";
  Play play({Whole(List(3, {Item("a", 1, in_m1), Item("a", 2, in_m2)})), Hold()});
  auto transport = MakeCurlTransport(play.config());
  Diary diary;
  auto informer = Informer::Start(
      {Client(*transport, "/clusters/*", "test"), {"v1", "configmaps"}, {}}, diary.handler());
  EXPECT_EQ(diary.WaitFor(2), (std::vector<std::string>{"+m1:a@1", "+m2:a@2"}));
  const ObjectPtr object = informer->Get({"m1", "n", "a"});
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->bytes().find("annotations"), std::string_view::npos);
  const ObjectPtr other = informer->Get({"m2", "n", "a"});
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other->bytes().find(R"("annotations":{"k":"v"})"), std::string_view::npos);
}

TEST(Informer, TellsOnceThatItIsSynced) {
  Play play(
      {Whole(List(1, {Item("a", 1)})), Watch({kGone}), Whole(List(9, {Item("b", 9)})), Hold()});
  auto transport = MakeCurlTransport(play.config());
  Diary diary;
  std::atomic<int> told = 0;
  auto informer = Informer::Start({.client = Client(*transport, "", "test"),
                                   .gvr = {"v1", "configmaps"},
                                   .query = {},
                                   .metadata_only = true,
                                   .on_synced = [&] { ++told; }},
                                  diary.handler());
  EXPECT_EQ(diary.WaitFor(3), (std::vector<std::string>{"+a@1", "-a", "+b@9"}));
  EXPECT_EQ(told, 1);
  EXPECT_NE(play.accepts()[0].find("as=PartialObjectMetadataList;"), std::string::npos);
  EXPECT_NE(play.accepts()[1].find("as=PartialObjectMetadata;"), std::string::npos);
}

TEST(Informer, ReportsItsLastError) {
  Play play({Whole(NotFound("configmaps", "", "").ToJson(), 404)});
  auto transport = MakeCurlTransport(play.config());
  Diary diary;
  auto informer = Informer::Start(
      {.client = Client(*transport, "", "test"), .gvr = {"v1", "configmaps"}, .query = {}},
      diary.handler());
  while (informer->last_error().empty()) std::this_thread::yield();
  EXPECT_NE(informer->last_error().find("not found"), std::string::npos);
  EXPECT_FALSE(informer->synced());
  EXPECT_FALSE(informer->WaitSynced(std::chrono::milliseconds(1)));
}

TEST(Informer, NoHandlerRunsAfterDestruction) {
  std::vector<std::string> flood;
  for (int i = 2; i < 500; ++i) flood.push_back(Event("ADDED", "a" + std::to_string(i), i));
  for (int round = 0; round < 10; ++round) {
    Play play({Whole(List(1, {Item("a", 1)})), Hold(flood)});
    auto transport = MakeCurlTransport(play.config());
    std::atomic<bool> alive = true;
    std::atomic<int> calls = 0;
    auto informer = Informer::Start(
        {.client = Client(*transport, "", "test"), .gvr = {"v1", "configmaps"}, .query = {}},
        [&](const ObjectKey&, const ObjectPtr&, const ObjectPtr&) {
          EXPECT_TRUE(alive);
          ++calls;
        });
    while (calls < round * 5 + 1) std::this_thread::yield();
    informer.reset();
    alive = false;
  }
}

TEST(Informer, MayBeDestroyedByItsOwnHandler) {
  Play play({Whole(List(1, {Item("a", 1), Item("b", 1)})), Hold()});
  auto transport = MakeCurlTransport(play.config());
  std::promise<void> started, destroyed;
  std::unique_ptr<Informer> informer;
  auto ready = started.get_future().share();
  int calls = 0;
  informer = Informer::Start(
      {.client = Client(*transport, "", "test"), .gvr = {"v1", "configmaps"}, .query = {}},
      [&](const ObjectKey&, const ObjectPtr&, const ObjectPtr&) {
        ready.wait();
        ++calls;
        informer.reset();
        destroyed.set_value();
      });
  started.set_value();
  destroyed.get_future().wait();
  transport.reset();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace mailroom::client
