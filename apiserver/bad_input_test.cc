// Malformed and hostile requests: each gets a documented 4xx Status, stores nothing, and leaves the
// server as it was.
#include <gtest/gtest.h>

#include <chrono>

#include "openapi/protobuf.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"
#include "test/support/test_hub.h"
#include "test/support/thread_cpu.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
constexpr const char* kJson = "application/json";
constexpr const char* kYaml = "application/yaml";
constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

std::string Repeated(std::string_view piece, std::size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

class BadInput : public testing::Test {
 protected:
  TestHub::Answer Send(const std::string& method, const std::string& path, std::string body,
                       const std::string& content_type) {
    Request request;
    request.method = method;
    const std::size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    if (mark != std::string::npos) request.query = path.substr(mark + 1);
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    request.headers.Add("user-agent", "test");
    request.headers.Add("content-type", content_type);
    request.body = std::move(body);
    return hub.Send(std::move(request));
  }
  // Refused, as a Status where the body is JSON at all; the collection stays empty.
  void Refused(const std::string& what, const TestHub::Answer& answer) {
    EXPECT_GE(answer.code, 400) << what << ": " << answer.text.substr(0, 300);
    EXPECT_LT(answer.code, 500) << what << ": " << answer.text.substr(0, 300);
    EXPECT_LT(answer.text.size(), 1024u * 1024) << what;
    const auto listed = hub.Get(kMaps);
    ASSERT_EQ(listed.code, 200) << what;
    const Json* items = Find(listed.body, {"items"});
    ASSERT_NE(items, nullptr);
    for (const Json& item : *items) {
      EXPECT_EQ(StringAt(item, {"metadata", "name"}), "kube-root-ca.crt") << what;
    }
  }
  TestHub hub;
};

TEST_F(BadInput, BodiesAreRefused) {
  const std::string good = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";
  struct Case {
    const char* what;
    std::string body;
    const char* type;
    int code;
  };
  const Case cases[] = {
      {"nothing", "", kJson, 400},
      {"cut short", good.substr(0, 30), kJson, 400},
      {"trailing text", good + "}", kJson, 400},
      {"a list", "[]", kJson, 400},
      {"a number", "1", kJson, 400},
      {"deep lists", Repeated("[", 100'000), kJson, 400},
      {"deep objects", Repeated("{\"a\":", 100'000), kJson, 400},
      {"deep and closed", R"({"kind":"ConfigMap","apiVersion":"v1","data":)" + Repeated("[", 100'000) +
                              Repeated("]", 100'000) + "}", kJson, 400},
      {"a byte order mark", "\xef\xbb\xbf" + good, kJson, 400},
      {"invalid UTF-8", "{\"metadata\":{\"name\":\"\xff\xfe\"}}", kJson, 400},
      {"lone surrogate", R"({"metadata":{"name":"\ud800"}})", kJson, 400},
      {"NUL in a name", R"({"metadata":{"name":"a\u0000b"}})", kJson, 422},
      {"wrong types", R"({"metadata":{"name":{}}})", kJson, 400},
      {"data of numbers", R"({"metadata":{"name":"a"},"data":{"x":1}})", kJson, 400},
      {"a huge number", R"({"metadata":{"name":"a","generation":1)" + Repeated("0", 400) + "}}", kJson, 400},
      {"a huge exponent", R"({"metadata":{"name":"a","generation":1e999}})", kJson, 400},
      {"past 64 bits", R"({"metadata":{"name":"a","generation":99999999999999999999}})", kJson, 400},
      {"another kind", R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}})", kJson, 400},
      {"path in a name", R"({"metadata":{"name":"../../x"}})", kJson, 422},
      {"slash in a name", R"({"metadata":{"name":"a/b"}})", kJson, 422},
      {"an endless name", R"({"metadata":{"name":")" + Repeated("a", 100'000) + "\"}}", kJson, 422},
      {"YAML that contains itself", "a: &a [x, *a]\n", kYaml, 400},
      {"YAML bomb", "a: &a [" + Repeated("x,", 1000) + "]\nb: [" + Repeated("*a,", 1000) + "]\n", kYaml, 400},
      {"deep YAML", Repeated("[", 100'000), kYaml, 400},
      {"deep block YAML", Repeated("- ", 50'000) + "a", kYaml, 400},
      {"YAML tags", "!!python/object:os.system ls", kYaml, 400},
      {"YAML that is JSON cut short", good.substr(0, 30), kYaml, 400},
      {"protobuf without magic", "\x0a\x02v1", kProtobuf, 400},
      {"protobuf magic only", std::string("k8s\0", 4), kProtobuf, 400},
      {"protobuf length past the end", std::string("k8s\0\x0a\x7f", 6), kProtobuf, 400},
      {"protobuf endless varint", std::string("k8s\0\x0a", 5) + Repeated("\xff", 64), kProtobuf, 400},
      {"JSON called protobuf", good, kProtobuf, 400},
      {"an unknown type", good, "application/cbor", 415},
      {"no media type at all", good, "nonsense", 415},
  };
  for (const Case& c : cases) {
    const auto answer = Send("POST", kMaps, c.body, c.type);
    EXPECT_EQ(answer.code, c.code) << c.what << ": " << answer.text.substr(0, 300);
    Refused(c.what, answer);
  }
}

// Small bodies full of faults: few of them are told, so that the answer is small as well.
TEST_F(BadInput, OfVeryManyFaultsAFewAreTold) {
  const std::string head = R"({"metadata":{"name":"a"},)";
  const std::string long_name(300'000, 'n');
  std::string keys, owners, unknown;
  for (int i = 0; i < 50'000; ++i) keys += (i == 0 ? "\"" : ",\"") + std::to_string(i) + " \":\"\"";
  for (int i = 0; i < 3000; ++i) {
    owners += std::string(i == 0 ? "" : ",") + R"({"apiVersion":"v1","kind":"K","name":"k)" + std::to_string(i) +
              R"(","uid":"u","controller":true})";
  }
  for (int i = 0; i < 50'000; ++i) unknown += ",\"u" + std::to_string(i) + "\":0";
  const std::pair<const char*, std::string> cases[] = {
      {"keys", head + "\"data\":{" + keys + "}}"},
      {"controllers", R"({"metadata":{"name":"a","ownerReferences":[)" + owners + "]}}"},
      {"doubled", head + "\"data\":{\"" + long_name + "\":\"\"},\"" + long_name + "\":{\"a\":0" + Repeated(",\"a\":0", 100'000) + "}}"},
      {"unknown", head + "\"data\":{}" + unknown + "}"},
      {"both", head + "\"data\":{}" + unknown + unknown + "}"},
  };
  for (const auto& [what, body] : cases) {
    ASSERT_LT(body.size(), limits::kBodyBytes);
    const auto start = ThreadCpu();
    const auto answer = Send("POST", kMaps + "?fieldValidation=Strict", body, kJson);
    EXPECT_LT(ThreadCpu() - start, std::chrono::seconds(20)) << what;
    EXPECT_TRUE(answer.code == 400 || answer.code == 422) << what << ": " << answer.code;
    // Each is told in the message and as a cause, with up to a value that is escaped once more.
    EXPECT_LT(answer.text.size(), 4 * limits::kProblemsTold * limits::kProblemValueBytes) << what;
    const Json* causes = Find(answer.body, {"details", "causes"});
    if (causes != nullptr) {
      EXPECT_EQ(causes->size(), limits::kProblemsTold) << what;
    }
  }
}

TEST_F(BadInput, TruncatedProtobufNeverHalfDecodes) {
  const auto whole = openapi::EncodeProtobuf(
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"},
       {"metadata", {{"name", "a"}, {"labels", {{"x", "y"}}}}}, {"data", {{"k", "v"}}}});
  ASSERT_TRUE(whole.ok());
  // An envelope that ends before its object does, at every byte.
  int empty = 0;
  for (std::size_t size = 0; size + 1 < whole->size(); ++size) {
    SCOPED_TRACE(size);
    const auto answer = Send("POST", kMaps, whole->substr(0, size), kProtobuf);
    // Fields that come after the object are empty, so an envelope may end at their beginning.
    if (size >= whole->size() - 4 && answer.code == 201) {
      EXPECT_EQ(StringAt(hub.Get(kMaps + "/a").body, {"data", "k"}), "v");
      ASSERT_EQ(hub.Do("DELETE", kMaps + "/a").code, 200);
      continue;
    }
    // Between the kind and the object it is a well-formed object without a name.
    const bool nameless = answer.code == 422;
    empty += nameless;
    EXPECT_EQ(answer.code, nameless ? 422 : 400) << answer.text;
    EXPECT_EQ(StringAt(answer.body, {"kind"}), "Status");
    EXPECT_EQ(StringAt(answer.body, {"reason"}), nameless ? "Invalid" : "BadRequest");
    EXPECT_FALSE(StringAt(answer.body, {"message"}).empty());
    EXPECT_EQ(hub.Get(kMaps + "/a").code, 404);
  }
  EXPECT_LE(empty, 1);
  Refused("truncations", hub.Get(kMaps + "/a"));
}

// A deletion whose options cannot be read must not happen: they may ask for a dry run.
TEST_F(BadInput, DeleteOptionsAreRefused) {
  const std::string unmarshal = "json: cannot unmarshal ", field = " into Go struct field ";
  struct Case {
    const char* body;
    std::string message;
  };
  const Case cases[] = {
      {R"({"dryRun":"All"})", "string" + field + "DeleteOptions.dryRun of type []string"},
      {R"({"dryRun":[1]})", "number" + field + "DeleteOptions.dryRun of type string"},
      {R"({"dryRun":{}})", "object" + field + "DeleteOptions.dryRun of type []string"},
      {R"({"gracePeriodSeconds":"0"})", "string" + field + "DeleteOptions.gracePeriodSeconds of type int64"},
      {R"({"gracePeriodSeconds":1.5})", "number 1.5" + field + "DeleteOptions.gracePeriodSeconds of type int64"},
      {R"({"preconditions":"x"})", "string" + field + "DeleteOptions.preconditions of type v1.Preconditions"},
      {R"({"preconditions":{"uid":5}})", "number" + field + "Preconditions.preconditions.uid of type types.UID"},
      {R"({"preconditions":{"resourceVersion":5}})",
       "number" + field + "Preconditions.preconditions.resourceVersion of type string"},
      {R"({"propagationPolicy":5})",
       "number" + field + "DeleteOptions.propagationPolicy of type v1.DeletionPropagation"},
      {R"({"orphanDependents":"yes"})", "string" + field + "DeleteOptions.orphanDependents of type bool"},
      {R"({"ignoreStoreReadErrorWithClusterBreakingPotential":1})",
       "number" + field + "DeleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential of type bool"},
  };
  ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap("a")).code, 201);
  ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap("b")).code, 201);
  const auto before = hub.Get(kMaps).body;
  for (const Case& c : cases) {
    for (const std::string& path : {kMaps + "/a", kMaps}) {
      SCOPED_TRACE(path + " " + c.body);
      const auto answer = Send("DELETE", path, c.body, kJson);
      EXPECT_EQ(answer.code, 400);
      EXPECT_EQ(StringAt(answer.body, {"reason"}), "BadRequest");
      EXPECT_EQ(StringAt(answer.body, {"message"}), unmarshal + c.message);
      EXPECT_EQ(hub.Get(kMaps).body, before);
    }
  }
  const std::string kind = "couldn't get version/kind; json parse error: " + unmarshal;
  for (const Case& c : {Case{"[]", kind + "array into Go value of type struct { APIVersion string "
                                          "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                                          "\"json:\\\"kind,omitempty\\\"\" }"},
                        Case{R"({"kind":5})", kind + "number" + field + ".kind of type string"}}) {
    const auto answer = Send("DELETE", kMaps + "/a", c.body, kJson);
    EXPECT_EQ(answer.code, 400) << c.body;
    EXPECT_EQ(StringAt(answer.body, {"message"}), c.message);
  }
  EXPECT_EQ(Send("DELETE", kMaps + "/a", "dryRun: All\n", kYaml).code, 400);
  EXPECT_EQ(Send("DELETE", kMaps + "/a", std::string("k8s\0\x0a\x7f", 6), kProtobuf).code, 400);
  EXPECT_EQ(Send("DELETE", kMaps + "/a", "{}", "text/html").code, 415);
  EXPECT_EQ(hub.Get(kMaps).body, before);
}

TEST_F(BadInput, OptionsOfAnEvictionAreRefused) {
  const std::string pods = "/clusters/wds1/api/v1/namespaces/default/pods";
  const Json pod = {{"metadata", {{"name", "p"}}},
                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  ASSERT_EQ(hub.Do("POST", pods, pod).code, 201);
  for (const char* options : {R"({"dryRun":"All"})", R"({"dryRun":[1]})", R"({"preconditions":{"uid":5}})",
                              R"({"propagationPolicy":5})", R"({"gracePeriodSeconds":"0"})"}) {
    const auto answer = Send("POST", pods + "/p/eviction",
                             R"({"metadata":{"name":"p"},"deleteOptions":)" + std::string(options) + "}", kJson);
    EXPECT_EQ(answer.code, 400) << options << answer.text;
    EXPECT_NE(answer.text.find(".deleteOptions."), std::string::npos) << answer.text;
    const auto live = hub.Get(pods + "/p");
    EXPECT_EQ(live.code, 200) << options;
    EXPECT_EQ(Find(live.body, {"metadata", "deletionTimestamp"}), nullptr) << options;
  }
}

TEST_F(BadInput, OversizedObjectsAreTooLarge) {
  Json large = ConfigMap("a", {{"k", std::string(1200 * 1024, 'x')}});
  auto answer = hub.Do("POST", kMaps, large);
  EXPECT_TRUE(answer.code == 413 || answer.code == 422) << answer.code;
  Refused("large data", answer);
  Json annotated = ConfigMap("a");
  Set(annotated, {"metadata", "annotations"}, {{"a", std::string(300 * 1024, 'x')}});
  answer = hub.Do("POST", kMaps, annotated);
  EXPECT_EQ(answer.code, 422);
  Refused("large annotations", answer);
}

TEST_F(BadInput, PatchesAreRefused) {
  ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}})).code, 201);
  const auto before = hub.Get(kMaps + "/a").body;
  struct Case {
    const char* what;
    std::string body;
    const char* type;
    int code;
  };
  std::string many = "[";
  for (std::size_t i = 0; i <= limits::kJsonPatchOperations; ++i) {
    many += std::string(i == 0 ? "" : ",") + R"({"op":"test","path":"/kind","value":"ConfigMap"})";
  }
  // Each copy doubles the data.
  std::string doubling = R"([{"op":"add","path":"/data/x","value":")" + std::string(1000, 'x') + "\"}";
  for (int i = 0; i < 40; ++i) doubling += R"(,{"op":"copy","from":"/data","path":"/data/n)" + std::to_string(i) + "\"}";
  const Case cases[] = {
      {"no list", "{}", "application/json-patch+json", 400},
      {"too many operations", many + "]", "application/json-patch+json", 413},
      {"copies that grow", doubling + "]", "application/json-patch+json", 422},
      {"unknown operation", R"([{"op":"explode","path":"/data"}])", "application/json-patch+json", 422},
      {"missing path", R"([{"op":"remove","path":"/data/none"}])", "application/json-patch+json", 422},
      {"huge index", R"([{"op":"remove","path":"/metadata/managedFields/99999999999999999999"}])", "application/json-patch+json", 422},
      {"a list as merge patch", "[]", "application/merge-patch+json", 400},
      {"deep merge patch", Repeated("{\"a\":", 100'000), "application/merge-patch+json", 400},
      // The one that the original, too, answers with an unmapped error.
      {"bad directive", R"({"data":{"$patch":"explode"}})", "application/strategic-merge-patch+json", 500},
      {"other name", R"({"metadata":{"name":"b"}})", "application/merge-patch+json", 400},
      {"apply of nothing", "", "application/apply-patch+yaml", 400},
      {"apply of a list", "[]", "application/apply-patch+yaml", 400},
      {"apply of what contains itself", "apiVersion: v1\nkind: ConfigMap\ndata: &a {x: *a}\n", "application/apply-patch+yaml", 400},
      {"unknown patch", "{}", "application/x-patch", 415},
  };
  for (const Case& c : cases) {
    const auto answer = Send("PATCH", kMaps + "/a?fieldManager=x", c.body, c.type);
    EXPECT_EQ(answer.code, c.code) << c.what << ": " << answer.text.substr(0, 300);
    EXPECT_EQ(hub.Get(kMaps + "/a").body, before) << c.what;
  }
}

TEST_F(BadInput, UrlsAreRefused) {
  const std::string segment = "the request path holds an invalid segment";
  const std::string nowhere = "the server could not find the requested resource";
  const std::string maps = "/api/v1/namespaces/default/configmaps/";
  struct Case {
    std::string path;
    int code;
    std::string message;  // "": not a Status but a line of text
  };
  const Case cases[] = {
      {maps + "%2e%2e", 400, segment},
      {maps + "a%2Fb", 400, segment},
      {maps + "%00", 400, segment},
      {maps + "a%", 400, segment},
      {maps + "a%zz", 400, segment},
      {"/api/v1/namespaces/../secrets", 400, segment},
      {"/api/v1/namespaces/%2e%2e/%2e%2e/secrets", 400, segment},
      {"/clusters/../root/api/v1/namespaces", 400, segment},
      {"/clusters/%2e%2e/api/v1/namespaces", 400, segment},
      {"/clusters/wds1%2Fapi/v1/namespaces", 400, segment},
      {"/clusters/WDS1/api/v1/namespaces", 400, "invalid workspace name \"WDS1\""},
      {"/clusters//api/v1/namespaces", 404, nowhere},
      {"//api/v1/namespaces", 404, nowhere},
      {"/api/v1//namespaces/x", 404, nowhere},
      {std::string("/api/v1/names\0paces", 19), 404, nowhere},
      {"/api/v1/namespaces/" + std::string(100'000, 'a'), 404,
       "namespaces \"" + std::string(100'000, 'a') + "\" not found"},
      {"/" + Repeated("a/", 50'000), 404, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.path.substr(0, 80));
    const auto answer = hub.Get(c.path);
    EXPECT_EQ(answer.code, c.code);
    if (c.message.empty()) {
      EXPECT_EQ(answer.headers.Get("content-type"), "text/plain; charset=utf-8");
      EXPECT_EQ(answer.text, "404 page not found\n");
      continue;
    }
    EXPECT_EQ(answer.headers.Get("content-type"), "application/json");
    EXPECT_EQ(StringAt(answer.body, {"kind"}), "Status");
    EXPECT_EQ(StringAt(answer.body, {"apiVersion"}), "v1");
    EXPECT_EQ(StringAt(answer.body, {"status"}), "Failure");
    EXPECT_EQ(StringAt(answer.body, {"reason"}), c.code == 404 ? "NotFound" : "BadRequest");
    EXPECT_EQ(IntAt(answer.body, {"code"}), c.code);
    EXPECT_EQ(StringAt(answer.body, {"message"}), c.message);
  }
}

TEST_F(BadInput, QueriesAreRefusedOrIgnored) {
  struct Case {
    std::string query;
    int code;
  };
  const Case cases[] = {
      {"limit=x", 400},
      {"limit=99999999999999999999", 400},
      {"resourceVersion=x", 400},
      {"resourceVersion=-1", 400},
      {"resourceVersion=99999999999999999999", 400},
      {"resourceVersionMatch=Sometimes&resourceVersion=1", 422},
      {"continue=nonsense", 400},
      {"continue=" + std::string(100'000, 'A'), 400},
      {"labelSelector=a%3D%3D%3Db", 400},
      {"labelSelector=" + Repeated("(", 10'000), 400},
      {"fieldSelector=spec.x%3D1", 400},
      {"fieldSelector=%3D", 400},
      {"timeout=soon", 400},
      {"timeoutSeconds=x", 400},
      {"unknown=%zz&&&=", 200},
      {"a=" + std::string(100'000, 'x'), 200},
      {Repeated("a=1&", 25'000), 200},
  };
  for (const Case& c : cases) {
    const auto answer = hub.Get(kMaps + "?" + c.query);
    EXPECT_EQ(answer.code, c.code) << c.query.substr(0, 80) << ": " << answer.text.substr(0, 200);
  }
  for (const char* query : {"dryRun=Some", "fieldValidation=Maybe", "fieldManager=a%0Ab"}) {
    const auto answer = hub.Do("POST", kMaps + "?" + query, ConfigMap("a"));
    EXPECT_EQ(answer.code, 422) << query;
    Refused(query, answer);
  }
}

}  // namespace
}  // namespace mailroom
