#include "apiserver/apply_last_applied.h"

#include <gtest/gtest.h>

#include "apiserver/apply.h"
#include "apiserver/apply_test_types.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

Json Config(std::string_view data) {
  Json object = Y("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}");
  object["data"] = Y(data);
  return object;
}

// An object that client-side apply made from `applied` and somebody may have edited to `data`.
Json ClientSide(std::string_view applied, std::string_view data) {
  Json object = Config(data);
  Set(object, {"metadata", "annotations", kAnnotation}, DumpJson(Config(applied)));
  TrackUpdate(ConfigMaps(), nullptr, object,
              {"kubectl-client-side-apply", "v1", "", "2024-01-01T00:00:00Z"});
  return object;
}

Writer Kubectl(const std::string& manager = "kubectl") {
  return {manager, "v1", "", "2024-01-02T00:00:00Z"};
}

TEST(LastApplied, KubectlTakesOverItsOwnFields) {
  const Json live = ClientSide("{a: x, b: 'y'}", "{a: x, b: 'y'}");
  auto result = Apply(ConfigMaps(), &live, Config("{a: z}"), Kubectl(), false);
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(StringAt(*result, {"data", "a"}), "z");
}

TEST(LastApplied, EditedFieldsStillConflict) {
  const Json live = ClientSide("{a: x, b: 'y'}", "{a: edited, b: 'y'}");
  auto result = Apply(ConfigMaps(), &live, Config("{a: z, b: w}"), Kubectl(), false);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(),
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: "
            ".data.a");
}

TEST(LastApplied, OtherManagersDoNotCross) {
  const Json live = ClientSide("{a: x}", "{a: x}");
  EXPECT_FALSE(Apply(ConfigMaps(), &live, Config("{a: z}"), Kubectl("helm"), false).ok());
}

TEST(LastApplied, AnnotationFollowsTheConfiguration) {
  const Json live = ClientSide("{a: x}", "{a: x}");
  auto result = Apply(ConfigMaps(), &live, Config("{a: z}"), Kubectl(), false);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(StringAt(*result, {"metadata", "annotations", kAnnotation}),
            DumpJson(Config("{a: z}")) + "\n");
  auto other = Apply(ConfigMaps(), &live, Config("{a: x}"), Kubectl("helm"), false);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(StringAt(*other, {"metadata", "annotations", kAnnotation}), DumpJson(Config("{a: x}")));
  auto fresh = Apply(ConfigMaps(), nullptr, Config("{a: z}"), Kubectl(), false);
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ(Find(*fresh, {"metadata", "annotations"}), nullptr);
}

TEST(LastApplied, AnnotationThatWouldBeTooLargeGoes) {
  Json object = ClientSide("{a: x}", "{a: x}");
  Json config = Config("{}");
  config["data"]["a"] = std::string(limits::kAnnotationBytes, 'x');
  RefreshLastApplied(config, object);
  EXPECT_EQ(Find(object, {"metadata", "annotations", kAnnotation}), nullptr);
}

TEST(LastApplied, UnusableAnnotationsCountForNothing) {
  for (const char* text : {"", "{", "[]", R"({"apiVersion":"v2","kind":"ConfigMap"})",
                           R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":5}})"}) {
    Json live = Config("{a: x}");
    Set(live, {"metadata", "annotations", kAnnotation}, text);
    EXPECT_TRUE(UnchangedSinceLastApplied(ConfigMaps(), live).Empty()) << text;
  }
}

}  // namespace
}  // namespace mailroom::apiserver
