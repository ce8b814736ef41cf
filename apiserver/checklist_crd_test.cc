// The life of a definition, as those who use its objects meanwhile see it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "apiserver/conditions.h"
#include "storage/object/json_path.h"
#include "test/support/eventually.h"
#include "test/support/test_hub.h"

namespace mailroom {
namespace {

constexpr const char* kMerge = "application/merge-patch+json";

Json Version(const std::string& name, bool storage, const Json& spec) {
  return {{"name", name},
          {"served", true},
          {"storage", storage},
          {"schema",
           {{"openAPIV3Schema", {{"type", "object"}, {"properties", {{"spec", spec}}}}}}}};
}

// Members of type string with that default.
Json Strings(const std::vector<std::string>& names) {
  Json properties = Json::object();
  for (const std::string& name : names) {
    properties[name] = {{"type", "string"}, {"default", "d"}};
  }
  return {{"type", "object"}, {"default", Json::object()}, {"properties", properties}};
}

Json Toys(const Json& versions) {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "toys.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"scope", "Namespaced"},
            {"names", {{"plural", "toys"}, {"kind", "Toy"}}},
            {"versions", versions}}}};
}

Json Toy(const std::string& name, const Json& spec = Json::object()) {
  return {{"apiVersion", "example.com/v1"}, {"kind", "Toy"}, {"metadata", {{"name", name}}},
          {"spec", spec}};
}

std::string Told(const Json& event) {
  if (event.is_null()) return "nothing";
  return StringAt(event, {"type"}) + " " + StringAt(event, {"object", "metadata", "name"});
}

class Toybox : public testing::Test {
 protected:
  Toybox() : ws(hub.NewWorkspace("box", "cluster")) {}

  void Define(const Json& versions) {
    const auto made = hub.Do("POST", crds, Toys(versions));
    ASSERT_EQ(made.code, 201) << made.text;
  }
  TestHub::Answer SetVersions(const Json& versions) {
    return hub.Do("PATCH", crd, {{"spec", {{"versions", versions}}}}, kMerge);
  }
  Json Stored() { return hub.Get(crd).body["status"]["storedVersions"]; }
  bool Goes(const std::string& path) {
    return Eventually([&] { return hub.Get(path).code == 404; });
  }

  TestHub hub;
  const std::string ws;
  const std::string crds = ws + "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const std::string crd = crds + "/toys.example.com";
  const std::string toys = ws + "/apis/example.com/v1/namespaces/default/toys";
};

TEST_F(Toybox, WatchesBeginAndEndWithTheDefinition) {
  EXPECT_EQ(TestWatch(hub, toys + "?watch=1").code(), 404);
  Define(Json::array({Version("v1", true, Strings({"a"}))}));
  TestWatch watch(hub, toys + "?watch=1");
  ASSERT_EQ(watch.code(), 200);
  ASSERT_EQ(hub.Do("POST", toys, Toy("t")).code, 201);
  EXPECT_EQ(Told(watch.Next()), "ADDED t");
  ASSERT_EQ(hub.Do("DELETE", crd).code, 200);
  EXPECT_EQ(Told(watch.Next()), "DELETED t");
  ASSERT_TRUE(Goes(crd));
  EXPECT_TRUE(Eventually([&] {
    const Json last = watch.Next();
    EXPECT_TRUE(last.is_null()) << last;
    return watch.ended();
  }));
  EXPECT_EQ(TestWatch(hub, toys + "?watch=1").code(), 404);
  Define(Json::array({Version("v1", true, Strings({"a"}))}));
  TestWatch again(hub, toys + "?watch=1");
  ASSERT_EQ(hub.Do("POST", toys, Toy("u")).code, 201);
  EXPECT_EQ(Told(again.Next()), "ADDED u") << "nothing of the first definition is told";
}

// Whoever writes while the schema changes is served by the one or the other, never by neither.
TEST_F(Toybox, SchemasChangeUnderTraffic) {
  const Json few = Json::array({Version("v1", true, Strings({"a"}))});
  const Json more = Json::array({Version("v1", true, Strings({"a", "b"}))});
  Define(few);
  constexpr int kWriters = 2, kEach = 60;
  std::atomic<int> writing = kWriters;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] {
        for (int i = 0; i < kEach; ++i) {
          const std::string name = "t" + std::to_string(w) + "-" + std::to_string(i);
          const auto made = hub.Do("POST", toys, Toy(name, {{"a", "x"}}));
          EXPECT_EQ(made.code, 201) << made.text;
          EXPECT_EQ(StringAt(made.body, {"spec", "a"}), "x");
          EXPECT_EQ(hub.Get(toys + "/" + name).code, 200);
        }
        --writing;
      });
    }
    for (int i = 0; i < 4 || writing > 0; ++i) {
      ASSERT_EQ(SetVersions(i % 2 == 0 ? more : few).code, 200);
    }
  }
  // A write that was under way during a change may have followed the definition before it; the
  // next change settles what it left.
  ASSERT_EQ(SetVersions(few).code, 200);
  ASSERT_EQ(SetVersions(more).code, 200);
  const Json list = hub.Get(toys).body;
  EXPECT_EQ(list["items"].size(), static_cast<std::size_t>(kWriters * kEach));
  for (const Json& item : list["items"]) {
    EXPECT_EQ(item["spec"], Json({{"a", "x"}, {"b", "d"}}));
  }
}

TEST_F(Toybox, ADefinitionWaitsForObjectsThatAreHeld) {
  Define(Json::array({Version("v1", true, Strings({"a"}))}));
  Json held = Toy("held");
  Set(held, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
  ASSERT_EQ(hub.Do("POST", toys, held).code, 201);
  ASSERT_EQ(hub.Do("POST", toys, Toy("free")).code, 201);
  ASSERT_EQ(hub.Do("DELETE", crd).code, 200);
  ASSERT_TRUE(Goes(toys + "/free"));
  const Json going = hub.Get(crd).body;
  EXPECT_EQ(StringsAt(going, {"metadata", "finalizers"}),
            std::vector<std::string>{"customresourcecleanup.apiextensions.k8s.io"});
  const Json* condition = apiserver::ConditionOf(going, "Terminating");
  ASSERT_NE(condition, nullptr) << going;
  EXPECT_EQ(StringAt(*condition, {"status"}), "True");
  EXPECT_EQ(StringAt(*condition, {"reason"}), "InstanceDeletionInProgress");
  EXPECT_TRUE(Eventually([&] {  // it may be marked after the other has gone
    return !StringAt(hub.Get(toys + "/held").body, {"metadata", "deletionTimestamp"}).empty();
  }));
  const auto late = hub.Do("POST", toys, Toy("late"));
  EXPECT_EQ(late.code, 405);
  EXPECT_EQ(StringAt(late.body, {"message"}),
            "create not allowed while custom resource definition is terminating");
  EXPECT_EQ(hub.Do("PATCH", toys + "/held", {{"metadata", {{"finalizers", nullptr}}}}, kMerge).code,
            200);
  EXPECT_TRUE(Goes(crd));
  EXPECT_EQ(hub.Get(toys).code, 404);
}

TEST_F(Toybox, ADefinitionThatGoesAnnouncesNoWrites) {
  Define(Json::array({Version("v1", true, Strings({"a"}))}));
  Json held = Toy("held");
  Set(held, {"metadata", "finalizers"}, Json::array({"example.com/hold"}));
  ASSERT_EQ(hub.Do("POST", toys, held).code, 201);
  const auto verbs = [&] {
    return hub.Get(ws + "/apis/example.com/v1").body["resources"][0]["verbs"];
  };
  EXPECT_EQ(verbs().size(), 8u);
  ASSERT_EQ(hub.Do("DELETE", crd).code, 200);
  EXPECT_EQ(verbs(), Json::array({"delete", "deletecollection", "get", "list", "watch"}));
  EXPECT_EQ(hub.Do("PATCH", toys + "/held", {{"spec", {{"a", "y"}}}}, kMerge).code, 200)
      << "what is held can still be written";
}

TEST_F(Toybox, ObjectsOfUnservedVersionsGoToo) {
  Define(Json::array({Version("v1", true, Strings({"a"}))}));
  ASSERT_EQ(hub.Do("POST", toys, Toy("t")).code, 201);
  Json unserved = Version("v1", true, Strings({"a"}));
  unserved["served"] = false;
  ASSERT_EQ(SetVersions(Json::array({unserved})).code, 200);
  ASSERT_EQ(hub.Get(toys).code, 404);
  ASSERT_EQ(hub.Do("DELETE", crd).code, 200);
  ASSERT_TRUE(Goes(crd));
  Define(Json::array({Version("v1", true, Strings({"a"}))}));
  EXPECT_EQ(hub.Get(toys).body["items"], Json::array());
}

TEST_F(Toybox, VersionsOnceStoredAreRemembered) {
  const Json a = Strings({"a"});
  Define(Json::array({Version("v1", true, a)}));
  EXPECT_EQ(Stored(), Json::array({"v1"}));
  ASSERT_EQ(SetVersions(Json::array({Version("v1", false, a), Version("v2", true, a)})).code, 200);
  EXPECT_EQ(Stored(), Json::array({"v1", "v2"}));
  const auto early = SetVersions(Json::array({Version("v2", true, a)}));
  EXPECT_EQ(early.code, 422);
  EXPECT_NE(StringAt(early.body, {"message"}).find("status.storedVersions[0]: Invalid value"),
            std::string::npos)
      << early.text;
  const Json only_new = {{"status", {{"storedVersions", Json::array({"v2"})}}}};
  EXPECT_EQ(hub.Do("PATCH", crd, only_new, kMerge).code, 200);
  EXPECT_EQ(Stored(), Json::array({"v1", "v2"})) << "not through the main endpoint";
  const Json unknown = {{"status", {{"storedVersions", Json::array({"v1", "v7"})}}}};
  ASSERT_EQ(hub.Do("PATCH", crd + "/status", unknown, kMerge).code, 200);
  ASSERT_EQ(hub.Do("PATCH", crd + "/status", only_new, kMerge).code, 200);
  EXPECT_EQ(SetVersions(Json::array({Version("v2", true, a)})).code, 200);
  EXPECT_EQ(Stored(), Json::array({"v2"}));
  EXPECT_EQ(hub.Get(toys).code, 404);
  EXPECT_EQ(hub.Get(ws + "/apis/example.com/v2/toys").code, 200);
}

TEST_F(Toybox, DocumentsFollowTheDefinition) {
  const std::string kV1 = "apis/example.com/v1";
  const auto index = [&](const std::string& path) {
    return StringAt(hub.Get(ws + "/openapi/v3").body, {"paths", path, "serverRelativeURL"});
  };
  const auto properties = [&] {
    return hub.Get(ws + "/openapi/v3/" + kV1).body["components"]["schemas"]["com.example.v1.Toy"]
                  ["properties"]["spec"]["properties"];
  };
  const auto defined = [&] {
    const Json definitions = hub.Get(ws + "/openapi/v2").body["definitions"];
    return definitions.contains("com.example.v1.Toy") &&
           definitions.contains("com.example.v1.ToyList");
  };
  EXPECT_EQ(index(kV1), "");
  Define(Json::array({Version("v1", true, Strings({"a"}))}));
  const std::string first = index(kV1);
  EXPECT_TRUE(first.starts_with(ws + "/openapi/v3/" + kV1 + "?hash=")) << first;
  EXPECT_TRUE(defined());
  EXPECT_FALSE(properties().contains("b"));
  const Json document = hub.Get(ws + "/openapi/v3/" + kV1).body;
  const Json& patch = document["paths"]["/apis/example.com/v1/namespaces/{namespace}/toys/{name}"]
                              ["patch"]["requestBody"]["content"];
  EXPECT_TRUE(patch.contains("application/apply-patch+yaml")) << patch;
  EXPECT_FALSE(patch.contains("application/strategic-merge-patch+json")) << patch;

  ASSERT_EQ(SetVersions(Json::array({Version("v1", true, Strings({"a", "b"}))})).code, 200);
  EXPECT_NE(index(kV1), first);
  EXPECT_TRUE(properties().contains("b"));
  Json unserved = Version("v1", true, Strings({"a"}));
  unserved["served"] = false;
  ASSERT_EQ(SetVersions(Json::array({unserved, Version("v2", false, Strings({"a"}))})).code, 200);
  EXPECT_EQ(index(kV1), "");
  EXPECT_FALSE(defined());
  EXPECT_NE(index("apis/example.com/v2"), "");
  ASSERT_EQ(hub.Do("DELETE", crd).code, 200);
  ASSERT_TRUE(Goes(crd));
  EXPECT_EQ(index("apis/example.com/v2"), "");
}

TEST_F(Toybox, SelectableFieldsSelect) {
  Json version = Version("v1", true, Strings({"colour"}));
  Json& properties =
      version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
  properties["colour"].erase("default");
  properties["size"] = {{"type", "integer"}};
  version["selectableFields"] = {{{"jsonPath", ".spec.colour"}}, {{"jsonPath", ".spec.size"}}};
  Define(Json::array({version}));
  const std::string red = "fieldSelector=spec.colour%3Dred";
  TestWatch watch(hub, toys + "?watch=1&" + red);
  ASSERT_EQ(hub.Do("POST", toys, Toy("r", {{"colour", "red"}, {"size", 3}})).code, 201);
  ASSERT_EQ(hub.Do("POST", toys, Toy("b", {{"colour", "blue"}})).code, 201);
  ASSERT_EQ(hub.Do("POST", toys, Toy("n")).code, 201);
  const auto found = [&](const std::string& selector) {
    const auto list = hub.Get(toys + "?fieldSelector=" + selector);
    std::string names;
    for (const Json& item : list.body["items"]) {
      names += StringAt(item, {"metadata", "name"});
    }
    return names;
  };
  EXPECT_EQ(found("spec.colour%3Dred"), "r");
  EXPECT_EQ(found("spec.colour%21%3Dred"), "bn");
  EXPECT_EQ(found("spec.colour%3D"), "n") << "an absent value is empty";
  EXPECT_EQ(found("spec.size%3D3,metadata.name%3Dr"), "r");
  EXPECT_EQ(Told(watch.Next()), "ADDED r");
  ASSERT_EQ(hub.Do("PATCH", toys + "/b", {{"spec", {{"colour", "red"}}}}, kMerge).code, 200);
  EXPECT_EQ(Told(watch.Next()), "ADDED b");
  ASSERT_EQ(hub.Do("PATCH", toys + "/r", {{"spec", {{"colour", "blue"}}}}, kMerge).code, 200);
  EXPECT_EQ(Told(watch.Next()), "DELETED r");
  ASSERT_EQ(hub.Do("DELETE", toys + "?" + red).code, 200);
  EXPECT_EQ(Told(watch.Next()), "DELETED b");
  EXPECT_EQ(found("metadata.namespace%3Ddefault"), "nr");
  EXPECT_EQ(hub.Get(toys + "?fieldSelector=spec.weight%3D1").code, 400);
}

TEST_F(Toybox, DeprecatedVersionsWarn) {
  Json old = Version("v1", true, Strings({"a"}));
  old["deprecated"] = true;
  Json older = Version("v1alpha1", false, Strings({"a"}));
  older["deprecated"] = true;
  older["deprecationWarning"] = "use \"v1\"";
  Define(Json::array({old, older, Version("v2", false, Strings({"a"}))}));
  const auto warned = [&](const std::string& version) {
    return std::string(
        hub.Get(ws + "/apis/example.com/" + version + "/toys").headers.Get("warning"));
  };
  EXPECT_EQ(warned("v1"), "299 - \"example.com/v1 Toy is deprecated; use example.com/v2 Toy\"");
  EXPECT_EQ(warned("v1alpha1"), "299 - \"use \\\"v1\\\"\"");
  EXPECT_EQ(warned("v2"), "");
}

TEST_F(Toybox, EmbeddedResourcesAreObjectsOfTheirOwn) {
  Json version = Version("v1", true, Strings({"a"}));
  version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["inner"] = {
      {"type", "object"},
      {"x-kubernetes-embedded-resource", true},
      {"x-kubernetes-preserve-unknown-fields", true}};
  Define(Json::array({version}));
  const Json inner = {{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", {{"name", "p"}, {"labels", {{"x", "y"}}}}},
                      {"anything", {{"goes", 1}}}};
  const auto made = hub.Do("POST", toys, Toy("t", {{"inner", inner}}));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.body["spec"]["inner"], inner);
  Json nameless = inner;
  nameless.erase("kind");
  const auto refused = hub.Do("POST", toys, Toy("u", {{"inner", nameless}}));
  EXPECT_EQ(refused.code, 422);
  EXPECT_NE(StringAt(refused.body, {"message"}).find("spec.inner.kind: Required value"),
            std::string::npos)
      << refused.text;
  Json labelled = inner;
  labelled["metadata"]["labels"] = {{"x", "not a label!"}};
  const auto invalid = hub.Do("POST", toys, Toy("v", {{"inner", labelled}}));
  EXPECT_EQ(invalid.code, 422);
  EXPECT_NE(StringAt(invalid.body, {"message"}).find("spec.inner.metadata.labels"),
            std::string::npos)
      << invalid.text;
}

TEST_F(Toybox, ReplicasMayBeGivenLater) {
  Json version = Version("v1", true, Strings({"a"}));
  version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["count"] = {
      {"type", "integer"}};
  version["subresources"]["scale"] = {{"specReplicasPath", ".spec.count"},
                                      {"statusReplicasPath", ".status.count"}};
  Define(Json::array({version}));
  ASSERT_EQ(hub.Do("POST", toys, Toy("t")).code, 201);
  const std::string scale = toys + "/t/scale";
  const auto none = hub.Get(scale);
  EXPECT_EQ(none.code, 500);
  EXPECT_EQ(StringAt(none.body, {"message"}),
            "Internal error occurred: the spec replicas field \".spec.count\" does not exist");
  const auto empty = hub.Do("PATCH", scale, Json::object(), kMerge);
  EXPECT_EQ(empty.code, 400);
  EXPECT_EQ(StringAt(empty.body, {"message"}),
            "the spec replicas field \".spec.count\" cannot be empty");
  const auto scaled = hub.Do("PATCH", scale, {{"spec", {{"replicas", 3}}}}, kMerge);
  EXPECT_EQ(scaled.code, 200) << scaled.text;
  EXPECT_EQ(IntAt(scaled.body, {"spec", "replicas"}), 3);
  EXPECT_EQ(IntAt(hub.Get(toys + "/t").body, {"spec", "count"}), 3);
  EXPECT_EQ(hub.Get(scale).code, 200);
  ASSERT_EQ(hub.Do("POST", toys, Toy("u")).code, 201);
  const auto put = hub.Do("PUT", toys + "/u/scale", {{"metadata", {{"name", "u"}}}});
  EXPECT_EQ(put.code, 200) << put.text;
  EXPECT_EQ(IntAt(hub.Get(toys + "/u").body, {"spec", "count"}, -1), 0);
}

TEST_F(Toybox, FormatsNobodyKnowsWarn) {
  Json version = Version("v1", true, Strings({"a"}));
  version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"]["format"] = "odd";
  const auto made = hub.Do("POST", crds, Toys(Json::array({version})));
  ASSERT_EQ(made.code, 201) << made.text;
  EXPECT_EQ(made.headers.Get("warning"), "299 - \"unrecognized format \\\"odd\\\"\"");
  EXPECT_EQ(hub.Do("POST", toys, Toy("t", {{"a", "anything"}})).code, 201);
}

}  // namespace
}  // namespace mailroom
