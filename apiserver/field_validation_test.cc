// What fieldValidation makes of unknown and doubled fields, for every way to write.
#include <gtest/gtest.h>

#include "storage/object/json_path.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

const std::string kMaps = "/clusters/wds1/api/v1/namespaces/default/configmaps";
const std::string kDeployments = "/clusters/wds1/apis/apps/v1/namespaces/default/deployments";
const std::string kJson = "application/json", kYaml = "application/yaml";
const std::string kJsonPatch = "application/json-patch+json", kMerge = "application/merge-patch+json";
const std::string kStrategic = "application/strategic-merge-patch+json";
const std::string kApply = "application/apply-patch+yaml";

class FieldValidation : public testing::Test {
 protected:
  TestHub::Answer Send(const std::string& method, const std::string& path, const std::string& type,
                       const std::string& validation, const std::string& body) {
    Request request;
    request.method = method;
    request.path = path;
    request.query = "fieldManager=m" + (validation.empty() ? "" : "&fieldValidation=" + validation);
    request.peer.common_name = "admin";
    request.peer.organizations = {"system:masters"};
    request.headers.Add("content-type", type);
    request.body = body;
    return hub.Send(std::move(request));
  }
  static std::string Warnings(const TestHub::Answer& answer) {
    std::string all;
    for (std::string_view text : answer.headers.All("warning")) {
      all += (all.empty() ? "" : "; ") + std::string(text.substr(std::string_view("299 - ").size()));
    }
    return all;
  }
  TestHub hub;
};

struct Row {
  const char* what;
  const char* method;
  std::string path, type, body;
  int refused;             // by Strict; 0: it accepts
  std::string problem;     // the end of what Strict says
  std::string warnings;    // of Warn, which is the default
};

const std::string kHandled = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: ";

TEST_F(FieldValidation, OfEveryWayToWrite) {
  const std::string own = kMaps + "/a";
  const std::string head = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"})";
  const Row rows[] = {
      {"a field nobody knows", "POST", kMaps, kJson, head + R"(,"extra":1})", 400,
       kHandled + R"(unknown field "extra")", R"("unknown field \"extra\"")"},
      {"one inside", "PUT", own, kJson,
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","extra":1}})", 400,
       kHandled + R"(unknown field "metadata.extra")", R"("unknown field \"metadata.extra\"")"},
      {"a key twice", "POST", kMaps, kJson, head + R"(,"data":{"k":"1","k":"2"}})", 400,
       kHandled + R"(duplicate field "data.k")", R"("duplicate field \"data.k\"")"},
      {"both", "PUT", own, kJson, head + R"(,"data":{"k":"1","k":"2"},"extra":1})", 400,
       kHandled + R"(duplicate field "data.k", unknown field "extra")",
       R"("duplicate field \"data.k\""; "unknown field \"extra\"")"},
      {"both, the other way round", "POST", kMaps, kJson,
       R"({"extra":1,"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}})",
       400, kHandled + R"(unknown field "extra", duplicate field "data.k")",
       R"("unknown field \"extra\""; "duplicate field \"data.k\"")"},
      {"a key twice in YAML", "POST", kMaps, kYaml,
       "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n  k: \"2\"\nextra: 1\n", 400,
       kHandled + "yaml: unmarshal errors:\n  line 7: key \"k\" already set in map, unknown field \"extra\"",
       R"("line 7: key \"k\" already set in map"; "unknown field \"extra\"")"},
      {"a merge patch with an unknown field", "PATCH", own, kMerge, R"({"extra":1})", 422,
       R"(: strict decoding error: unknown field "extra")", R"("unknown field \"extra\"")"},
      {"a merge patch with a key twice", "PATCH", own, kMerge, R"({"data":{"k":"1","k":"2"}})", 422,
       R"(: strict decoding error: duplicate field "data.k")", R"("duplicate field \"data.k\"")"},
      {"both in a merge patch", "PATCH", own, kMerge, R"({"extra":1,"data":{"k":"1","k":"2"}})", 422,
       R"(: strict decoding error: duplicate field "data.k", unknown field "extra")",
       R"("duplicate field \"data.k\""; "unknown field \"extra\"")"},
      {"a JSON patch that adds an unknown field", "PATCH", own, kJsonPatch,
       R"([{"op":"add","path":"/extra","value":1}])", 422,
       R"(: strict decoding error: unknown field "extra")", R"("unknown field \"extra\"")"},
      {"a JSON patch with a key twice", "PATCH", own, kJsonPatch,
       R"([{"op":"add","op":"add","path":"/data/x","value":"1"}])", 422,
       R"(: strict decoding error: json patch duplicate field "[0].op")",
       R"("json patch duplicate field \"[0].op\"")"},
      {"an operation with an unknown member", "PATCH", own, kJsonPatch,
       R"([{"op":"add","path":"/data/x","value":"1"},{"op":"add","path":"/data/y","value":"1","why":"so"}])", 422,
       R"(: strict decoding error: json patch unknown field "[1].why")",
       R"("json patch unknown field \"[1].why\"")"},
      {"a strategic patch with an unknown field", "PATCH", own, kStrategic, R"({"extra":1})", 422,
       R"( "" is invalid: patch: Invalid value: "map[extra:1]": strict decoding error: unknown field "extra")",
       R"("unknown field \"extra\"")"},
      {"a strategic patch with a key twice", "PATCH", own, kStrategic, R"({"data":{"k":"1","k":"2"}})", 422,
       R"( "" is invalid: patch: Invalid value: "map[data:map[k:2]]": strict decoding error: duplicate field "data.k")",
       R"("duplicate field \"data.k\"")"},
      {"an apply with a key twice", "PATCH", own, kApply,
       "apiVersion: v1\nkind: ConfigMap\ndata:\n  x: \"1\"\n  x: \"2\"\n", 400,
       "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
       "  line 5: key \"x\" already set in map",
       R"("line 5: key \"x\" already set in map")"},
      {"nothing wrong", "PATCH", own, kMerge, R"({"data":{"k":"3"}})", 0, "", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const bool makes = row.method == std::string("POST");
    const auto prepare = [&] {
      hub.Do("DELETE", own);
      if (!makes) {
        ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap("a", {{"k", "v"}})).code, 201);
      }
    };
    const int fine = makes ? 201 : 200;
    prepare();
    const auto before = hub.Get(own).body;
    const auto strict = Send(row.method, row.path, row.type, "Strict", row.body);
    EXPECT_EQ(strict.code, row.refused == 0 ? fine : row.refused) << strict.text;
    if (row.refused != 0) {
      const std::string message = StringAt(strict.body, {"message"});
      EXPECT_TRUE(message.ends_with(row.problem)) << message;
      EXPECT_EQ(Warnings(strict), "");
      EXPECT_EQ(hub.Get(own).body, before) << "nothing is stored";
    }
    if (row.refused == 422) {
      EXPECT_EQ(StringAt(strict.body, {"reason"}), "Invalid");
      EXPECT_EQ(StringAt((*Find(strict.body, {"details", "causes"}))[0], {"field"}), "patch");
    }
    for (const char* validation : {"Warn", "", "Ignore"}) {
      prepare();
      const auto done = Send(row.method, row.path, row.type, validation, row.body);
      EXPECT_EQ(done.code, fine) << done.text;
      EXPECT_EQ(Warnings(done), validation == std::string("Ignore") ? "" : row.warnings);
      EXPECT_FALSE(hub.Get(own).body.contains("extra"));
    }
  }
}

TEST_F(FieldValidation, ThePatchedObjectIsShown) {
  ASSERT_EQ(hub.Do("POST", kMaps, ConfigMap("a")).code, 201);
  const auto told = Send("PATCH", kMaps + "/a", kMerge, "Strict", R"({"extra":1})");
  const std::string message = StringAt(told.body, {"message"});
  EXPECT_TRUE(message.starts_with(R"( "" is invalid: patch: Invalid value: "{)")) << message;
  EXPECT_NE(message.find(R"(\"extra\":1)"), std::string::npos) << message;
}

TEST_F(FieldValidation, OfListsNamesThePosition) {
  const std::string body = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{
    "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
    {"name":"c","image":"i"},{"name":"d","image":"i","image":"j","extra":1}]}}}})";
  const auto told = Send("POST", kDeployments, kJson, "Strict", body);
  EXPECT_EQ(told.code, 400);
  EXPECT_EQ(StringAt(told.body, {"message"}),
            "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: "
            "duplicate field \"spec.template.spec.containers[1].image\", "
            "unknown field \"spec.template.spec.containers[1].extra\"");
}

// What is unknown to the schema of a definition is an error of apply whatever is asked.
TEST_F(FieldValidation, ApplyKnowsNoUnknownFields) {
  for (const char* validation : {"Strict", "Warn", "Ignore"}) {
    const auto told = Send("PATCH", kMaps + "/a", kApply, validation,
                           "apiVersion: v1\nkind: ConfigMap\nextra: 1\n");
    EXPECT_EQ(told.code, 500) << told.text;
    EXPECT_NE(StringAt(told.body, {"message"}).find(".extra: field not declared in schema"), std::string::npos)
        << told.text;
  }
}

}  // namespace
}  // namespace mailroom
