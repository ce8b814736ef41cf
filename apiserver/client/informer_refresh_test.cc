// An informer that shares its objects with the server takes over their new places after a large
// removal.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "apiserver/client/informer.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"

namespace mailroom::client {
namespace {

constexpr int kMany = 2000;
constexpr int kLeft = 10;

// Runs nothing by itself: streams are fed and tasks are run by the test, on its own thread.
class Stage final : public Transport {
 public:
  using Task = std::function<void()>;

  Result<Response> Send(Request) override { return Unavailable("nobody sends here"); }
  std::unique_ptr<OpenStream> Open(Request request, StreamSink& opened) override {
    queries.push_back(request.query);
    sink = &opened;
    return std::make_unique<OpenStream>();
  }
  void After(std::chrono::milliseconds delay, Task task) override {
    tasks.emplace_back(delay, std::move(task));
  }

  // Runs what is due at once, also what that asks for.
  void RunDue() {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].first.count() == 0 && tasks[i].second) std::exchange(tasks[i].second, nullptr)();
    }
  }

  StreamSink* sink = nullptr;
  std::vector<std::string> queries;
  std::vector<std::pair<std::chrono::milliseconds, Task>> tasks;
};

ObjectPtr Made(int i) {
  return Object::Make({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", "m" + std::to_string(i)}, {"namespace", "n"}}}},
                      Revision(static_cast<std::uint64_t>(i + 1)));
}

class InformerRefresh : public testing::Test {
 protected:
  InformerRefresh() {
    informer_ = Informer::Start({.client = Client(stage_, "/clusters/*", "test"),
                                 .gvr = {"v1", "configmaps"},
                                 .query = {},
                                 .watch_list = true},
                                [this](const ObjectKey&, const ObjectPtr& before,
                                       const ObjectPtr& now) {
                                  ++told_;
                                  if (before != nullptr && now != nullptr) ++again_;
                                });
    stage_.RunDue();
  }

  void Tell(WatchedObject::Type type, const ObjectPtr& object) {
    stage_.sink->OnObject({type, object ? object->revision() : Revision(kMany), Workspace("w"), object});
  }
  void TellState(const std::map<int, ObjectPtr>& objects) {
    stage_.sink->OnHead(200, {});
    for (const auto& [i, object] : objects) Tell(WatchedObject::Type::kSet, object);
    Tell(WatchedObject::Type::kInitialEnd, nullptr);
  }
  static std::map<int, ObjectPtr> Objects(int count) {
    std::map<int, ObjectPtr> objects;
    for (int i = 0; i < count; ++i) objects[i] = Made(i);
    return objects;
  }

  Stage stage_;
  int told_ = 0, again_ = 0;
  std::unique_ptr<Informer> informer_;
};

TEST_F(InformerRefresh, TakesOverTheNewPlaces) {
  TellState(Objects(kMany));
  ASSERT_TRUE(informer_->synced());
  const std::size_t before = stage_.tasks.size();
  for (int i = kLeft; i < kMany; ++i) Tell(WatchedObject::Type::kDeleted, Made(i));
  ASSERT_GT(stage_.tasks.size(), before) << "nothing is left of so much, and no look is planned";
  const auto [delay, refresh] = stage_.tasks.back();
  EXPECT_GT(delay, limits::kHistoryAge) << "the server still knows what has gone";

  told_ = 0;
  refresh();
  stage_.RunDue();
  ASSERT_EQ(stage_.queries.size(), 2u);
  EXPECT_NE(stage_.queries[1].find("sendInitialEvents=true"), std::string::npos);
  EXPECT_EQ(informer_->size(), static_cast<std::size_t>(kLeft)) << "meanwhile it knows what it knew";
  const auto moved = Objects(kLeft);
  TellState(moved);
  EXPECT_EQ(told_, kLeft);
  EXPECT_EQ(again_, kLeft);
  for (const auto& [i, object] : moved) {
    EXPECT_EQ(informer_->Get({"w", "n", "m" + std::to_string(i)}), object);
  }

  // Only once: a list after a broken stream tells of changes only.
  const Status broken = Status::FromBody(410, "");
  stage_.sink->OnEnd(&broken);
  stage_.tasks.back().second();
  stage_.RunDue();
  ASSERT_EQ(stage_.queries.size(), 3u);
  TellState(Objects(kLeft));
  EXPECT_EQ(told_, kLeft);
}

TEST_F(InformerRefresh, NotWhenManyHaveComeAgain) {
  TellState(Objects(kMany));
  for (int i = kLeft; i < kMany; ++i) Tell(WatchedObject::Type::kDeleted, Made(i));
  const auto [delay, refresh] = stage_.tasks.back();
  const ObjectPtr again = Made(kLeft);
  for (std::size_t i = 0; i < limits::kThinnedMost; ++i) {
    stage_.sink->OnObject({WatchedObject::Type::kSet, again->revision(),
                           Workspace("w" + std::to_string(i)), again});
  }
  refresh();
  stage_.RunDue();
  EXPECT_EQ(stage_.queries.size(), 1u);
}

TEST_F(InformerRefresh, OnlyWhenNearlyAllHasGone) {
  TellState(Objects(kMany));
  const std::size_t before = stage_.tasks.size();
  for (int i = kMany / 2; i < kMany; ++i) Tell(WatchedObject::Type::kDeleted, Made(i));
  EXPECT_EQ(stage_.tasks.size(), before);
}

}  // namespace
}  // namespace mailroom::client
