// Where a watch begins, in which form it tells of changes, and what its bookmarks promise.
#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "openapi/protobuf.h"
#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kWds = "/clusters/wds1";
const std::string kMaps = kWds + "/api/v1/namespaces/default/configmaps";
const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
const std::string kPartial = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const std::string kList = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

std::string RevisionOf(const Json& object) {
  return StringAt(object, {"metadata", "resourceVersion"});
}

const Json* EndMark(const Json& object) {
  return Find(object, {"metadata", "annotations", "k8s.io/initial-events-end"});
}

std::string Shown(const Json& event) {
  const std::string type = StringAt(event, {"type"});
  if (type != "BOOKMARK") return type + " " + StringAt(event, {"object", "metadata", "name"});
  return EndMark(event["object"]) != nullptr ? "END" : type;
}

class Begun : public testing::Test {
 protected:
  TestHub hub;
};

// By resourceVersion and sendInitialEvents; two objects are there, and one comes later.
TEST_F(Begun, WhereItIsAskedTo) {
  struct Row {
    const char *revision, *initial;
    std::vector<std::string> shown;
  };
  const std::vector<std::string> all = {"ADDED a", "ADDED b", "ADDED c"};
  const std::vector<std::string> listed = {"ADDED a", "ADDED b", "END", "ADDED c"};
  const std::vector<std::string> later = {"ADDED b", "ADDED c"};
  const Row rows[] = {
      {"", "", all},        {"0", "", all},           {"first", "", later},
      {"", "true", listed}, {"0", "true", listed},    {"first", "true", listed},
      {"", "false", {"ADDED c"}}, {"0", "false", {"ADDED c"}}, {"first", "false", later},
  };
  int n = 0;
  for (const Row& row : rows) {
    const std::string ns = "n" + std::to_string(n++), revision = row.revision, initial = row.initial;
    SCOPED_TRACE(revision + " " + initial);
    hub.Do("POST", kWds + "/api/v1/namespaces", {{"metadata", {{"name", ns}}}});
    const std::string maps = kWds + "/api/v1/namespaces/" + ns + "/configmaps";
    const std::string first = RevisionOf(hub.Do("POST", maps, ConfigMap("a")).body);
    ASSERT_EQ(hub.Do("POST", maps, ConfigMap("b")).code, 201);
    std::string query = "?watch=1&allowWatchBookmarks=true";
    if (!revision.empty()) query += "&resourceVersion=" + (revision == "first" ? first : revision);
    if (!initial.empty()) {
      query += "&sendInitialEvents=" + initial + "&resourceVersionMatch=NotOlderThan";
    }
    TestWatch watch(hub, maps + query);
    ASSERT_EQ(watch.code(), 200);
    const std::string now = RevisionOf(hub.Get(maps).body);
    ASSERT_EQ(hub.Do("POST", maps, ConfigMap("c")).code, 201);
    for (const std::string& want : row.shown) {
      const Json event = watch.Next();
      EXPECT_EQ(Shown(event), want);
      if (want == "END") {
        EXPECT_GE(std::stoull(RevisionOf(event["object"])), std::stoull(first));
        EXPECT_LE(std::stoull(RevisionOf(event["object"])), std::stoull(now));
      }
    }
  }
}

// Servers of one store hear of a change one after the other.
TEST_F(Begun, ItWaitsForAStateThatIsToCome) {
  const std::uint64_t from = std::stoull(RevisionOf(hub.Get(kMaps).body)) + 2;
  auto begun = std::async(std::launch::async, [&] {
    return std::make_unique<TestWatch>(hub, kMaps + "?watch=1&resourceVersion=" + std::to_string(from));
  });
  std::vector<std::string> wanted;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "m" + std::to_string(i);
    const auto made = hub.Do("POST", kMaps, ConfigMap(name));
    ASSERT_EQ(made.code, 201) << made.text;
    if (std::stoull(RevisionOf(made.body)) > from) wanted.push_back("ADDED " + name);
  }
  ASSERT_GE(wanted.size(), 2u);
  const auto watch = begun.get();
  EXPECT_EQ(watch->code(), 200);
  for (const std::string& want : wanted) EXPECT_EQ(Shown(watch->Next()), want);
}

TEST_F(Begun, AStateThatDoesNotComeIsToldInTheStream) {
  hub.Do("POST", kMaps, ConfigMap("a"));
  for (const std::string& how : {std::string(), kList}) {
    TestWatch watch(hub, kMaps + "?watch=1&resourceVersion=99999999" + how);
    EXPECT_EQ(watch.code(), 200);
    const Json event = watch.Next();
    EXPECT_EQ(StringAt(event, {"type"}), "ERROR");
    EXPECT_EQ(IntAt(event, {"object", "code"}), 504);
    EXPECT_EQ(StringAt(event["object"]["details"]["causes"][0], {"reason"}), "ResourceVersionTooLarge");
    EXPECT_TRUE(watch.Next().is_null());
    EXPECT_TRUE(watch.ended());
  }
}

TEST_F(Begun, OptionsThatDoNotGoTogetherAreNamed) {
  const std::string head = "ListOptions.meta.k8s.io \"\" is invalid: ";
  const std::string needs = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
  struct Row {
    std::string query, message;
    int code;
  };
  const Row rows[] = {
      {"?watch=1&sendInitialEvents=true", head + "resourceVersionMatch: Forbidden: " + needs, 422},
      {"?watch=1&sendInitialEvents=false", head + "resourceVersionMatch: Forbidden: " + needs, 422},
      {"?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact",
       head + "[resourceVersionMatch: Forbidden: " + needs +
           ", resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]",
       422},
      {"?sendInitialEvents=true", head + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list", 422},
      {"/a?watch=1&fieldSelector=metadata.name%3Db", "fieldSelector metadata.name doesn't match requested name",
       400},
  };
  hub.Do("POST", kMaps, ConfigMap("a"));
  for (const Row& row : rows) {
    const bool named = row.query.starts_with("/a");
    const std::string path =
        named ? kWds + "/api/v1/watch/namespaces/default/configmaps" + row.query : kMaps + row.query;
    const auto answer = hub.Get(path);
    EXPECT_EQ(answer.code, row.code) << path << answer.text;
    EXPECT_EQ(StringAt(answer.body, {"message"}), row.message);
  }
}

// The last bookmark is as new as what happened elsewhere, and nothing before it is told again.
TEST_F(Begun, BookmarksGoOnWhenOtherKindsChange) {
  const std::string secrets = kWds + "/api/v1/namespaces/default/secrets";
  TestWatch watch(hub, kMaps + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=1");
  hub.Do("POST", kMaps, ConfigMap("a"));
  const auto made = hub.Do("POST", secrets, {{"metadata", {{"name", "s"}}}});
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(Shown(watch.Next()), "ADDED a");
  Json last;
  for (Json event = watch.Next(); !event.is_null(); event = watch.Next()) last = std::move(event);
  ASSERT_EQ(Shown(last), "BOOKMARK");
  EXPECT_GE(std::stoull(RevisionOf(last["object"])), std::stoull(RevisionOf(made.body)));
  EXPECT_EQ(StringAt(last, {"object", "kind"}), "ConfigMap");
  EXPECT_EQ(StringAt(last, {"object", "apiVersion"}), "v1");
  TestWatch resumed(hub, kMaps + "?watch=1&resourceVersion=" + RevisionOf(last["object"]));
  hub.Do("POST", kMaps, ConfigMap("b"));
  EXPECT_EQ(Shown(resumed.Next()), "ADDED b");
}

TEST_F(Begun, BookmarksAreForThoseWhoAllowThem) {
  hub.Do("POST", kMaps, ConfigMap("a"));
  for (const std::string& query : {std::string("?watch=1"), "?watch=1" + kList}) {
    TestWatch watch(hub, kMaps + query + "&timeoutSeconds=1");
    EXPECT_EQ(Shown(watch.Next()), "ADDED a");
    EXPECT_TRUE(watch.Next().is_null()) << query;
    EXPECT_TRUE(watch.ended());
  }
}

// A client finds the revision, and the end of what was there, whatever form it asked for.
TEST_F(Begun, BookmarksAreInTheFormOfTheEvents) {
  const std::string made = RevisionOf(hub.Do("POST", kMaps, ConfigMap("a")).body);
  const std::string query = "?watch=1&allowWatchBookmarks=true" + kList;
  for (const char* include : {"", "&includeObject=Object", "&includeObject=None"}) {
    SCOPED_TRACE(include);
    TestWatch tables(hub, kMaps + query + include, kTable);
    EXPECT_EQ(StringAt(tables.Next(), {"type"}), "ADDED");
    const Json mark = tables.Next();
    EXPECT_EQ(StringAt(mark, {"type"}), "BOOKMARK");
    EXPECT_EQ(StringAt(mark, {"object", "kind"}), "Table");
    EXPECT_EQ(RevisionOf(mark["object"]), made);
    const Json& row = mark["object"]["rows"][0]["object"];
    EXPECT_EQ(RevisionOf(row), made);
    EXPECT_NE(EndMark(row), nullptr);
  }
  TestWatch partial(hub, kMaps + query, "application/json" + kPartial);
  EXPECT_EQ(Shown(partial.Next()), "ADDED a");
  const Json mark = partial.Next();
  EXPECT_EQ(Shown(mark), "END");
  EXPECT_EQ(StringAt(mark, {"object", "kind"}), "PartialObjectMetadata");
  EXPECT_EQ(RevisionOf(mark["object"]), made);
}

TEST_F(Begun, TablesHoldWhatTheyAreToldTo) {
  hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}}));
  const auto object = [&](const std::string& query) {
    TestWatch watch(hub, kMaps + "?watch=1" + query, kTable);
    return watch.Next()["object"]["rows"][0]["object"];
  };
  EXPECT_EQ(StringAt(object(""), {"kind"}), "PartialObjectMetadata");
  EXPECT_EQ(StringAt(object("&includeObject=Metadata"), {"kind"}), "PartialObjectMetadata");
  EXPECT_EQ(StringAt(object("&includeObject=Object"), {"data", "k"}), "v");
  EXPECT_TRUE(object("&includeObject=None").is_null());
  const auto refused = hub.GetAs(kMaps + "?watch=1&includeObject=Some", kTable);
  EXPECT_EQ(refused.code, 400);
  EXPECT_EQ(StringAt(refused.body, {"reason"}), "BadRequest");
}

// What controllers that look at metadata only ask for: lists and watches in protobuf.
TEST_F(Begun, MetadataInProtobuf) {
  const std::string made = RevisionOf(hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}})).body);
  const std::string media(openapi::kProtobufMediaType);
  const auto list = hub.GetAs(kMaps, media + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  ASSERT_EQ(list.code, 200) << list.text;
  const auto decoded = openapi::DecodeProtobuf(list.text);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(StringAt(*decoded, {"kind"}), "PartialObjectMetadataList");
  EXPECT_EQ(StringAt((*decoded)["items"][0], {"metadata", "name"}), "a");

  Request request;
  request.method = "GET";
  request.path = kMaps;
  request.query = "watch=1&allowWatchBookmarks=true" + kList;
  request.headers.Add("accept", media + kPartial + ",application/json" + kPartial);
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  Response response = hub.server().dispatcher().Handle(request);
  EXPECT_EQ(response.headers.Get("content-type"), media + ";stream=watch");
  ASSERT_NE(response.stream, nullptr);
  response.stream->OnReady([] {});
  std::vector<SharedBytes> frames;
  response.stream->Pull(frames, 1 << 16);
  ASSERT_EQ(frames.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string& frame = *frames[i];
    EXPECT_NE(frame.find(i == 0 ? "ADDED" : "BOOKMARK"), std::string::npos);
    // The object is the last of an event.
    const auto object = openapi::DecodeProtobuf(frame.substr(frame.find(std::string("k8s\0", 4))));
    ASSERT_TRUE(object.ok()) << object.error().message();
    EXPECT_EQ(StringAt(*object, {"kind"}), "PartialObjectMetadata");
    EXPECT_EQ(RevisionOf(*object), made);
    EXPECT_EQ(EndMark(*object) != nullptr, i == 1);
  }
  response.stream->Cancel();
}

}  // namespace
}  // namespace mailroom
