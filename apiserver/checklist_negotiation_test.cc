// Which form each verb answers in, by what the client accepts and sends.
#include <gtest/gtest.h>

#include "openapi/builtin.h"
#include "openapi/protobuf.h"
#include "storage/object/json_path.h"
#include "storage/object/yaml.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
const std::string kMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const std::string kMetadataList =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

class AnswerForms : public testing::Test {
 protected:
  AnswerForms() { hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}})); }

  TestHub::Answer Ask(const std::string& method, const std::string& path, Headers headers,
                      const std::string& body = "") {
    Request request;
    request.method = method;
    const std::size_t mark = path.find('?');
    request.path = path.substr(0, mark);
    if (mark != std::string::npos) request.query = path.substr(mark + 1);
    request.headers = std::move(headers);
    request.body = body;
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    return hub.Send(std::move(request));
  }
  // The code, and the kind of what came.
  std::string Form(const std::string& method, const std::string& path, const std::string& accept,
                   const std::string& body = "", const std::string& type = "application/json") {
    Headers headers;
    headers.Add("accept", accept);
    if (!body.empty()) headers.Add("content-type", type);
    const auto answer = Ask(method, path, std::move(headers), body);
    return std::to_string(answer.code) + " " + StringAt(answer.body, {"kind"});
  }
  // A kind of custom resources that can be scaled; where they are.
  std::string DefineThings() {
    const Json schema = *ParseJson(R"({"openAPIV3Schema":{"type":"object","properties":{"spec":
        {"type":"object","properties":{"replicas":{"type":"integer"}}}}}})");
    const Json version = {
        {"name", "v1"}, {"served", true}, {"storage", true}, {"schema", schema},
        {"subresources",
         {{"scale", {{"specReplicasPath", ".spec.replicas"}, {"statusReplicasPath", ".status.replicas"}}}}}};
    const Json definition = {
        {"metadata", {{"name", "things.example.com"}}},
        {"spec",
         {{"group", "example.com"},
          {"scope", "Namespaced"},
          {"names", {{"plural", "things"}, {"singular", "thing"}, {"kind", "Thing"}, {"listKind", "ThingList"}}},
          {"versions", Json::array({version})}}}};
    const std::string things = "/clusters/wds1/apis/example.com/v1/namespaces/default/things";
    EXPECT_EQ(hub.Do("POST", "/clusters/wds1/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).code,
              201);
    EXPECT_TRUE(Eventually([&] { return hub.Get(things).code == 200; }));
    return things;
  }
  TestHub hub;
};

TEST_F(AnswerForms, OfEveryVerb) {
  const std::string map = R"({"metadata":{"name":"b"}})", put = R"({"metadata":{"name":"a"}})";
  const std::string patch = R"({"data":{"k":"w"}})", merge = "application/merge-patch+json";
  struct Row {
    std::string accept, get, list, create, update, patch, remove;
  };
  const Row rows[] = {
      {"application/json", "200 ConfigMap", "200 ConfigMapList", "201 ConfigMap", "200 ConfigMap",
       "200 ConfigMap", "200 Status"},
      {kTable, "200 Table", "200 Table", "201 Table", "200 Table", "200 Table", "200 Status"},
      {kMetadata, "200 PartialObjectMetadata", "406 Status", "201 PartialObjectMetadata",
       "200 PartialObjectMetadata", "200 PartialObjectMetadata", "200 Status"},
      {kMetadataList, "406 Status", "200 PartialObjectMetadataList", "406 Status", "406 Status",
       "406 Status", "200 Status"},
      {"text/html", "406 Status", "406 Status", "406 Status", "406 Status", "406 Status",
       "406 Status"},
      {"text/html," + kTable + ",application/json", "200 Table", "200 Table", "201 Table",
       "200 Table", "200 Table", "200 Status"},
      {kTable + ";q=0.1,application/json;q=0.2", "200 ConfigMap", "200 ConfigMapList",
       "201 ConfigMap", "200 ConfigMap", "200 ConfigMap", "200 Status"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.accept);
    EXPECT_EQ(Form("GET", kMaps + "/a", row.accept), row.get);
    EXPECT_EQ(Form("GET", kMaps, row.accept), row.list);
    EXPECT_EQ(Form("POST", kMaps, row.accept, map), row.create);
    EXPECT_EQ(Form("PUT", kMaps + "/a", row.accept, put), row.update);
    EXPECT_EQ(Form("PATCH", kMaps + "/a", row.accept, patch, merge), row.patch);
    hub.Do("POST", kMaps, ConfigMap("b"));  // where the create was refused
    EXPECT_EQ(Form("DELETE", kMaps + "/b", row.accept), row.remove);
    hub.Do("DELETE", kMaps + "/b");
  }
}

// What came, whatever its form: `200 protobuf Status`.
std::string Told(const TestHub::Answer& answer) {
  const std::string_view type = answer.headers.Get("content-type");
  std::string form = "json";
  Json body = answer.body;
  if (type == "application/yaml") {
    form = "yaml";
    if (auto tree = ParseYaml(answer.text); tree.ok()) body = *tree;
  } else if (type == openapi::kProtobufMediaType) {
    form = "protobuf";
    if (auto tree = openapi::DecodeProtobuf(answer.text); tree.ok()) body = *tree;
  } else if (type != "application/json") {
    form = type;
  }
  return std::to_string(answer.code) + " " + form + " " + StringAt(body, {"kind"});
}

const std::string kProtobuf(openapi::kProtobufMediaType);
const std::string kTyped = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io";

TEST_F(AnswerForms, OfDeletions) {
  const std::string ws = "/clusters/wds1", things = DefineThings();
  const Json thing = {{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"metadata", {{"name", "x"}}}};
  const Json map = ConfigMap("x");
  Json held = map;
  Set(held, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
  const Json pod = {{"metadata", {{"name", "x"}}},
                    {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  const std::string pods = ws + "/api/v1/namespaces/default/pods";
  const std::string metadata_client = kProtobuf + kTyped + "," + "application/json" + kTyped + ",application/json";
  struct Row {
    std::string accept, map, pod, held, thing;
  };
  const Row rows[] = {
      {"application/json", "200 json Status", "200 json Pod", "200 json ConfigMap", "200 json Status"},
      {"application/yaml", "200 yaml Status", "200 yaml Pod", "200 yaml ConfigMap", "200 yaml Status"},
      {kProtobuf, "200 protobuf Status", "200 protobuf Pod", "200 protobuf ConfigMap", "406 protobuf Status"},
      {kProtobuf + ",application/json", "200 protobuf Status", "200 protobuf Pod", "200 protobuf ConfigMap",
       "200 json Status"},
      {kTable, "200 json Status", "200 json Table", "200 json Table", "200 json Status"},
      {kMetadata, "200 json Status", "200 json PartialObjectMetadata", "200 json PartialObjectMetadata",
       "200 json Status"},
      {metadata_client, "200 protobuf Status", "200 protobuf PartialObjectMetadata",
       "200 protobuf PartialObjectMetadata", "200 protobuf Status"},
      // The deed is done by the time its answer turns out to be no list.
      {kMetadataList, "200 json Status", "406 json Status", "406 json Status", "200 json Status"},
      {"application/json;as=Nonsense;v=v1;g=meta.k8s.io", "406 json Status", "406 json Status", "406 json Status",
       "406 json Status"},
      {"text/html", "406 json Status", "406 json Status", "406 json Status", "406 json Status"},
  };
  const auto removed = [&](const std::string& path, const Json& object, const std::string& accept) {
    hub.Do("POST", path, object);
    EXPECT_EQ(hub.Get(path + "/x").code, 200);
    Headers headers;
    headers.Add("accept", accept);
    const std::string told = Told(Ask("DELETE", path + "/x", std::move(headers)));
    const bool gone = hub.Get(path + "/x").code == 404;
    if (!gone) {
      hub.Do("PATCH", path + "/x", {{"metadata", {{"finalizers", nullptr}}}}, "application/merge-patch+json");
      hub.Do("DELETE", path + "/x");
    }
    EXPECT_EQ(hub.Get(path + "/x").code, 404);
    return told + (gone ? "" : " kept");
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.accept);
    const auto kept = [&](const std::string& told, bool refused_late = false) {
      return told + (told.starts_with("406") && !refused_late ? " kept" : "");
    };
    EXPECT_EQ(removed(kMaps, map, row.accept), kept(row.map));
    EXPECT_EQ(removed(pods, pod, row.accept), kept(row.pod, row.accept == kMetadataList));
    EXPECT_EQ(removed(kMaps, held, row.accept), row.held + " kept");
    EXPECT_EQ(removed(things, thing, row.accept), kept(row.thing));
  }
}

// What cannot be answered is not done.
TEST_F(AnswerForms, OfDeletedCollections) {
  for (const char* name : {"b", "c"}) hub.Do("POST", kMaps, ConfigMap(name));
  const auto before = hub.Get(kMaps).body;
  for (const std::string& accept :
       {std::string("application/json;as=Nonsense;v=v1;g=meta.k8s.io"), std::string("text/html"), kMetadata,
        kProtobuf + ";as=Table;v=v1;g=meta.k8s.io"}) {
    EXPECT_EQ(Form("DELETE", kMaps, accept), "406 Status");
    EXPECT_EQ(hub.Get(kMaps).body, before) << accept;
  }
  EXPECT_EQ(Form("DELETE", kMaps + "?labelSelector=none", kTable), "200 Table");
  EXPECT_EQ(Form("DELETE", kMaps + "?labelSelector=none", kMetadataList), "200 PartialObjectMetadataList");
  EXPECT_EQ(Form("DELETE", kMaps, "application/json"), "200 ConfigMapList");
  EXPECT_TRUE(Find(hub.Get(kMaps).body, {"items"})->empty());
}

// Errors have one form, so clauses that ask for another one are passed over.
TEST_F(AnswerForms, OfErrors) {
  struct Row {
    std::string accept, told;
  };
  const Row rows[] = {
      {"application/json", "404 json Status"},
      {"application/yaml", "404 yaml Status"},
      {kProtobuf, "404 protobuf Status"},
      {kProtobuf + kTyped + ",application/json" + kTyped + ",application/json", "404 json Status"},
      {kProtobuf + kTyped, "404 json Status"},
      {kProtobuf + ";g=meta.k8s.io,application/yaml", "404 yaml Status"},
      {kTable + "," + kProtobuf, "404 protobuf Status"},
  };
  for (const Row& row : rows) {
    for (const char* method : {"GET", "DELETE"}) {
      Headers headers;
      headers.Add("accept", row.accept);
      EXPECT_EQ(Told(Ask(method, kMaps + "/none", std::move(headers))), row.told) << row.accept;
    }
  }
  // Nobody asked for what has to be sent, so it is written to be read.
  Headers headers;
  headers.Add("accept", "text/html");
  const auto answer = Ask("GET", kMaps + "/a", std::move(headers));
  EXPECT_EQ(answer.code, 406);
  EXPECT_TRUE(answer.text.starts_with("{\n  \"")) << answer.text;
}

// The URL says what a body is that leaves it out, in every encoding.
TEST_F(AnswerForms, BodiesMayLeaveOutWhatTheyAre) {
  const auto bare = [](const char* type, const Json& value) {
    const std::string message = openapi::EncodeMessage(*openapi::BuiltinType(type), value);
    std::string body("k8s\0\x0a\0\x12", 7);
    body += static_cast<char>(message.size());
    return body + message;
  };
  Headers headers;
  headers.Add("content-type", kProtobuf);
  const auto made = Ask("POST", kMaps, headers, bare("core/v1.ConfigMap", ConfigMap("bare", {{"k", "v"}})));
  EXPECT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(StringAt(hub.Get(kMaps + "/bare").body, {"data", "k"}), "v");
  const Json options = {{"dryRun", {"All"}}};
  EXPECT_EQ(Ask("DELETE", kMaps + "/bare", headers, bare("meta/v1.DeleteOptions", options)).code, 200);
  EXPECT_EQ(hub.Get(kMaps + "/bare").code, 200) << "a dry run";
  // Protobuf is what is called so.
  const auto lied = Ask("DELETE", kMaps + "/bare", {}, bare("meta/v1.DeleteOptions", options));
  EXPECT_EQ(lied.code, 400) << lied.text;
}

// A Scale has a protobuf form, the resource it scales does not.
TEST_F(AnswerForms, ScalesOfCustomResourcesAreBuiltIn) {
  const std::string things = DefineThings();
  const Json thing = {{"apiVersion", "example.com/v1"}, {"kind", "Thing"}, {"metadata", {{"name", "x"}}},
                      {"spec", {{"replicas", 1}}}};
  ASSERT_EQ(hub.Do("POST", things, thing).code, 201);
  const auto scale = openapi::EncodeProtobuf({{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"},
                                              {"metadata", {{"name", "x"}, {"namespace", "default"}}},
                                              {"spec", {{"replicas", 3}}}});
  ASSERT_TRUE(scale.ok());
  Headers headers;
  headers.Add("content-type", kProtobuf);
  const auto scaled = Ask("PUT", things + "/x/scale", headers, *scale);
  EXPECT_EQ(scaled.code, 200) << scaled.text;
  EXPECT_EQ(IntAt(hub.Get(things + "/x").body, {"spec", "replicas"}), 3);
  EXPECT_EQ(Ask("PUT", things + "/x", headers, *scale).code, 415);
  // It is shown only in the forms of the resource.
  EXPECT_EQ(hub.GetAs(things + "/x/scale", kProtobuf).code, 406);
  EXPECT_EQ(hub.GetAs(things + "/x/scale", kProtobuf + ",application/json").code, 200);
}

TEST_F(AnswerForms, OfWatches) {
  TestWatch partial(hub, kMaps + "?watch=1", kMetadata);
  const Json event = partial.Next();
  EXPECT_EQ(StringAt(event, {"type"}), "ADDED");
  EXPECT_EQ(StringAt(event, {"object", "kind"}), "PartialObjectMetadata");
  EXPECT_EQ(Find(event, {"object", "data"}), nullptr);
  EXPECT_EQ(TestWatch(hub, kMaps + "?watch=1", "text/html").code(), 406);
}

TEST_F(AnswerForms, ReviewsHaveNoTable) {
  const std::string review = R"({"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}})";
  const std::string path = "/clusters/wds1/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  EXPECT_EQ(Form("POST", path, "application/json", review), "201 SelfSubjectAccessReview");
  EXPECT_EQ(Form("POST", path, kTable, review), "406 Status");
}

TEST_F(AnswerForms, BodiesWithoutATypeAreJson) {
  EXPECT_EQ(Ask("POST", kMaps, {}, R"({"metadata":{"name":"b"}})").code, 201);
  Headers empty;
  empty.Add("content-type", "");
  EXPECT_EQ(Ask("POST", kMaps, std::move(empty), R"({"metadata":{"name":"c"}})").code, 201);
  const auto patched = Ask("PATCH", kMaps + "/a", {}, "{}");
  EXPECT_EQ(patched.code, 415) << "a patch has to say which kind it is";
  EXPECT_EQ(StringAt(patched.body, {"message"}), "415: Unsupported Media Type");
}

TEST_F(AnswerForms, ReadersGetIndentedText) {
  struct Row {
    const char *agent, *accept, *query;
    bool indented;
  };
  const Row rows[] = {
      {"kubectl/v1.32", "application/json", "", false},
      {"kubectl/v1.32", "application/json", "?pretty=true", true},
      {"kubectl/v1.32", "application/json", "?pretty=1", true},
      {"kubectl/v1.32", "application/json", "?pretty=", false},
      {"kubectl/v1.32", "application/json", "?pretty=yes", false},
      {"kubectl/v1.32", "application/json;pretty=1", "", true},
      {"curl/8.0", "*/*", "", true},
      {"Wget/1.21", "*/*", "", true},
      {"Mozilla/5.0 (X11)", "*/*", "", true},
      {"curl/8.0", "*/*", "?pretty=false", false},
      {"curl/8.0", "*/*", "?pretty=", true},
  };
  for (const Row& row : rows) {
    for (const std::string& path :
         {kMaps + "/a", kMaps, kMaps + "/none", std::string("/clusters/wds1/apis/apps")}) {
      Headers headers;
      headers.Add("user-agent", row.agent);
      headers.Add("accept", row.accept);
      const auto answer = Ask("GET", path + row.query, std::move(headers));
      EXPECT_EQ(answer.text.starts_with("{\n  \""), row.indented)
          << row.agent << " " << row.accept << " " << path << row.query << "\n" << answer.text;
      EXPECT_TRUE(answer.text.ends_with("}\n")) << answer.text;
    }
  }
}

}  // namespace
}  // namespace mailroom
