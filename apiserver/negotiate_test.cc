#include "apiserver/negotiate.h"

#include <gtest/gtest.h>

#include "openapi/protobuf.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

class Negotiation : public testing::Test {
 protected:
  void SetUp() override {
    maps = hub.NewWorkspace("w", "cluster") + "/api/v1/namespaces/default/configmaps";
    ASSERT_EQ(hub.Do("POST", maps, ConfigMap("a", {{"k", "v"}})).code, 201);
  }
  TestHub hub;
  std::string maps;
};

TEST_F(Negotiation, ObjectsListsAndErrorsInProtobufSayWhatJsonSays) {
  for (const std::string& path : {maps + "/a", maps + "/none"}) {
    auto answer = hub.GetAs(path, kProtobuf);
    EXPECT_EQ(answer.headers.Get("content-type"), kProtobuf) << path;
    auto decoded = openapi::DecodeProtobuf(answer.text);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message();
    const Json plain = hub.Get(path).body;
    EXPECT_EQ(StringAt(*decoded, {"kind"}), StringAt(plain, {"kind"}));
    EXPECT_EQ(StringAt(*decoded, {"metadata", "uid"}), StringAt(plain, {"metadata", "uid"}));
    EXPECT_EQ(StringAt(*decoded, {"message"}), StringAt(plain, {"message"}));
  }
  auto list = hub.GetAs(maps, "application/vnd.kubernetes.protobuf,application/json;q=0.1");
  EXPECT_EQ(list.code, 200);
  auto decoded = openapi::DecodeProtobuf(list.text);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(StringAt(*decoded, {"kind"}), "ConfigMapList");
  EXPECT_EQ(Find(*decoded, {"items"})->size(), 1u);
}

TEST_F(Negotiation, WatchesInProtobufAreFramed) {
  Request request;
  request.method = "GET";
  request.path = maps;
  request.query = "watch=1&timeoutSeconds=1";
  request.headers.Add("accept", "application/vnd.kubernetes.protobuf;stream=watch");
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  Response response = hub.server().dispatcher().Handle(request);
  EXPECT_EQ(response.headers.Get("content-type"),
            "application/vnd.kubernetes.protobuf;stream=watch");
  ASSERT_NE(response.stream, nullptr);
  response.stream->OnReady([] {});
  std::vector<SharedBytes> pieces;
  response.stream->Pull(pieces, 1 << 16);
  ASSERT_EQ(pieces.size(), 1u);
  const std::string& frame = *pieces.front();
  ASSERT_GT(frame.size(), 4u);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(frame[i])); };
  EXPECT_EQ((byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3)) + 4, frame.size());
  EXPECT_NE(frame.find("ADDED"), std::string::npos);
  EXPECT_NE(frame.find(std::string("k8s\0", 4)), std::string::npos);
  response.stream->Cancel();
}

TEST_F(Negotiation, ATooOldWatchSaysSoInItsOwnFraming) {
  auto answer = hub.GetAs(maps + "?watch=1&timeoutSeconds=1&resourceVersion=1",
                          "application/vnd.kubernetes.protobuf;stream=watch");
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.headers.Get("content-type"),
            "application/vnd.kubernetes.protobuf;stream=watch");
}

}  // namespace
}  // namespace mailroom
