// Long lists, which are written as they are read.
#include "apiserver/list_body.h"

#include <gtest/gtest.h>

#include "openapi/protobuf.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "storage/object/yaml.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
constexpr int kCount = 30;

class LongList : public testing::Test {
 protected:
  LongList() {
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(hub.Do("POST", kMaps, ConfigMap("m" + std::to_string(100 + i),
                                                {{"k", std::string(50'000, 'v')}})).code, 201);
    }
  }
  Response Ask(const std::string& query, const std::string& accept) {
    Request request;
    request.method = "GET";
    request.path = kMaps;
    request.query = query;
    request.headers.Add("accept", accept);
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    return hub.server().dispatcher().Handle(request);
  }
  // The document, and the longest part it came in.
  static std::string Text(Response& response, std::size_t& longest) {
    std::string text;
    longest = 0;
    for (auto state = Stream::State::kMore; state == Stream::State::kMore;) {
      std::vector<SharedBytes> pieces;
      state = response.stream->Pull(pieces, 1000);
      std::size_t part = 0;
      for (const SharedBytes& piece : pieces) part += piece->size(), text += *piece;
      longest = std::max(longest, part);
    }
    return text;
  }
  static Json Read(Response& response, std::size_t& longest) {
    return ParseJson(Text(response, longest)).value();
  }
  TestHub hub;
};

constexpr char kTable[] = "application/json;as=Table;v=v1;g=meta.k8s.io";
constexpr char kPartial[] = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

// A page is short and answered whole; pages together are the long list.
TEST_F(LongList, SaysWhatItsPagesSay) {
  for (const std::string accept : {"application/json", kTable, kPartial}) {
    const char* items = accept == kTable ? "rows" : "items";
    Response whole = Ask("", accept);
    ASSERT_NE(whole.stream, nullptr) << accept;
    EXPECT_TRUE(whole.stream->finite());
    std::size_t longest = 0;
    const Json list = Read(whole, longest);
    EXPECT_LT(longest, 120'000u) << accept;  // one object, and what is around it

    Json collected = Json::array();
    std::string token;
    do {
      Response page = Ask("limit=7&continue=" + token, accept);
      ASSERT_EQ(page.stream, nullptr) << accept;
      const Json part = ParseJson(page.BodyText()).value();
      for (const Json& item : *Find(part, {items})) collected.push_back(item);
      token = StringAt(part, {"metadata", "continue"});
      for (const char* member : {"kind", "apiVersion"}) {
        EXPECT_EQ(StringAt(part, {member}), StringAt(list, {member})) << accept;
      }
      EXPECT_EQ(StringAt(part, {"metadata", "resourceVersion"}),
                StringAt(list, {"metadata", "resourceVersion"}));
      if (accept == kTable && collected.size() <= 7) {
        EXPECT_EQ(*Find(part, {"columnDefinitions"}), *Find(list, {"columnDefinitions"}));
      }
    } while (!token.empty());
    EXPECT_GE(collected.size(), static_cast<std::size_t>(kCount));
    Json rows_at_once = *Find(list, {items});
    if (accept == kTable) {  // ages grow between the two
      for (Json* rows : {&rows_at_once, &collected}) {
        for (Json& row : *rows) row["cells"].erase(row["cells"].size() - 1);
      }
    }
    EXPECT_EQ(rows_at_once, collected) << accept;
  }
}

TEST_F(LongList, KeepsTheStateItWasAskedFor) {
  Response response = Ask("", "application/json");
  ASSERT_NE(response.stream, nullptr);
  ASSERT_EQ(hub.Do("DELETE", kMaps + "/m105", Json()).code, 200);
  std::size_t longest = 0;
  const Json list = Read(response, longest);
  bool found = false;
  for (const Json& item : *Find(list, {"items"})) {
    found = found || StringAt(item, {"metadata", "name"}) == "m105";
  }
  EXPECT_TRUE(found);
}

// Each form says the same as plain JSON, and comes in parts of about one object.
TEST_F(LongList, OtherMediaSayTheSame) {
  std::size_t longest = 0;
  Response plain = Ask("", "application/json");
  const Json want = ParseJson(Text(plain, longest)).value();
  const auto check = [&](const std::string& query, const std::string& accept, auto parse) {
    Response response = Ask(query, accept);
    EXPECT_EQ(response.code, 200);
    ASSERT_NE(response.stream, nullptr) << accept;
    EXPECT_TRUE(response.headers.Get("content-type").starts_with(accept)) << accept;
    const std::string text = Text(response, longest);
    EXPECT_LT(longest, 120'000u) << accept;
    EXPECT_EQ(parse(text), want) << accept;
  };
  check("", "application/yaml", [](const std::string& text) { return ParseYaml(text).value(); });
  check("pretty=true", "application/json", [](const std::string& text) {
    const Json tree = ParseJson(text).value();
    EXPECT_EQ(text, DumpJsonPretty(tree) + "\n");
    return tree;
  });
  check("", "application/vnd.kubernetes.protobuf", [](const std::string& text) {
    const Json tree = openapi::DecodeProtobuf(text).value();
    EXPECT_EQ(text, openapi::EncodeProtobuf(tree).value());
    return tree;
  });
}

TEST_F(LongList, YamlIsWhatAShortListWouldBe) {
  std::size_t longest = 0;
  for (const std::string accept : {"application/yaml", "application/yaml;as=Table;v=v1;g=meta.k8s.io"}) {
    Response whole = Ask("", accept);
    ASSERT_NE(whole.stream, nullptr);
    const std::string text = Text(whole, longest);
    EXPECT_EQ(text, DumpYaml(ParseYaml(text).value())) << accept;
  }
}

TEST_F(LongList, MetadataInProtobuf) {
  std::size_t longest = 0;
  const std::string form = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
  Response response = Ask("", "application/vnd.kubernetes.protobuf" + form);
  ASSERT_NE(response.stream, nullptr);
  const Json list = openapi::DecodeProtobuf(Text(response, longest)).value();
  EXPECT_EQ(StringAt(list, {"kind"}), "PartialObjectMetadataList");
  EXPECT_GE(Find(list, {"items"})->size(), static_cast<std::size_t>(kCount));
}

}  // namespace
}  // namespace mailroom
