// OpenAPI v2 with what other servers serve.
#include "apiserver/aggregated_openapi.h"

#include "apiserver/test_extension.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

const char* const kDocument = R"({"swagger":"2.0","info":{"title":"ext"},
  "parameters":{"pretty-1":{"name":"pretty","in":"query","type":"string"}},
  "paths":{
    "/apis/":{"get":{}},
    "/apis/ext.example.com/":{"get":{"operationId":"getExtGroup"}},
    "/apis/ext.example.com/v1/things":{
      "parameters":[{"$ref":"#/parameters/pretty-1"},{"$ref":"#/parameters/none"}],
      "get":{"parameters":[{"$ref":"#/parameters/pretty-1"}],"responses":{"200":{"description":"OK",
        "schema":{"$ref":"#/definitions/com.example.Thing"}}}}},
    "/apis/ext.example.com/v1beta1/things":{"get":{}},
    "/apis/ext.example.com.evil/v1/things":{"get":{}},
    "/apis/apps/v1/deployments":{"get":{}},
    "/version/":{"get":{}}},
  "definitions":{
    "com.example.Thing":{"type":"object","properties":{
      "metadata":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
      "self":{"$ref":"#/definitions/com.example.Thing"}},
      "x-kubernetes-group-version-kind":[{"group":"ext.example.com","version":"v1","kind":"Thing"}]},
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"description":"theirs","type":"object"},
    "com.example.Unused":{"type":"object"}}})";
const std::string kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

RemoteApi Api() {
  RemoteApi api;
  api.group = "ext.example.com";
  api.version = "v1";
  return api;
}

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}
using Strings = std::vector<std::string>;

Json PartOf(const char* document) {
  const auto part = Version2Part(*ParseJson(document), Api(), limits::kAggregatedDocumentBytes);
  return part ? *ParseJson(*part) : Json();
}

TEST(AggregatedOpenApi, APartIsWhatIsAboutTheApi) {
  const Json part = PartOf(kDocument);
  EXPECT_EQ(KeysOf(part.at("paths")),
            (Strings{"/apis/ext.example.com/", "/apis/ext.example.com/v1/things"}));
  EXPECT_EQ(KeysOf(part.at("definitions")), (Strings{"com.example.Thing", kMeta}));
  const Json& things = part.at("paths").at("/apis/ext.example.com/v1/things");
  EXPECT_EQ(StringAt(things.at("parameters")[0], {"name"}), "pretty");
  EXPECT_EQ(StringAt(things.at("get").at("parameters")[0], {"name"}), "pretty");
}

TEST(AggregatedOpenApi, WhatIsNoDocumentHasNoPart) {
  for (const char* text :
       {"{}", "[]", "null", "7", R"({"paths":[]})", R"({"paths":{"/apis/x/v1":{}}})"}) {
    EXPECT_TRUE(PartOf(text).is_null()) << text;
  }
  const char* const odd = R"({"paths":{"/apis/ext.example.com/v1":7},"definitions":[],"parameters":1})";
  EXPECT_FALSE(PartOf(odd).is_null());
}

// A parameter that is said once may be meant any number of times.
TEST(AggregatedOpenApi, APartIsBounded) {
  Json document = *ParseJson(kDocument);
  document["parameters"]["pretty-1"]["description"] = std::string(1000, 'x');
  Json& list = document["paths"]["/apis/ext.example.com/v1/things"]["parameters"];
  for (int i = 0; i < 2000; ++i) list.push_back({{"$ref", "#/parameters/pretty-1"}});
  EXPECT_FALSE(Version2Part(document, Api(), limits::kAggregatedDocumentBytes));
  EXPECT_FALSE(Version2Part(*ParseJson(kDocument), Api(), 100));
}

SharedBytes Bytes(const std::string& text) { return std::make_shared<const std::string>(text); }

TEST(AggregatedOpenApi, NamesThatAreTakenGetANumber) {
  const Json ours = {{"paths", {{"/apis/ext.example.com/", {{"ours", true}}}}},
                     {"definitions", {{"A", {{"x", "ours"}}}, {"B", {{"x", "same"}}}}}};
  const std::string one = R"({"paths":{"/apis/ext.example.com/":{},"/p":{"s":{"$ref":"#/definitions/A"}}},
    "definitions":{"A":{"x":"theirs","y":{"$ref":"#/definitions/A_v2"}},"A_v2":{"x":"its own"},
                   "B":{"x":"same"},"C":{"$ref":"#/definitions/B"}}})";
  const std::string two = R"({"paths":{"/p":{"late":true},"/q":{"s":{"$ref":"#/definitions/A"}}},
    "definitions":{"A":{"x":"another's"}}})";
  const Json merged = MergeVersion2(ours, {Bytes(one), Bytes("nonsense"), Bytes(two)});
  EXPECT_EQ(merged.at("definitions"),
            *ParseJson(R"({"A_v3":{"x":"theirs","y":{"$ref":"#/definitions/A_v2"}},
                           "A_v2":{"x":"its own"},"C":{"$ref":"#/definitions/B"},
                           "A_v4":{"x":"another's"}})"));
  EXPECT_EQ(merged.at("paths"), *ParseJson(R"({"/p":{"s":{"$ref":"#/definitions/A_v3"}},
                                               "/q":{"s":{"$ref":"#/definitions/A_v4"}}})"));
}

class Described : public Extension {
 protected:
  void Describe(const std::string& document, const std::string& tag) {
    {
      std::lock_guard lock(mutex);
      version2 = document;
      version2_tag = tag;
    }
    LookAgain();
  }
  void LookAgain() {
    hub.Do("PATCH", "/clusters/c" + kServices + "/v1.ext.example.com",
           {{"metadata", {{"labels", {{"look", "n" + std::to_string(++looks)}}}}}},
           "application/merge-patch+json");
  }
  TestHub::Answer Document(const std::string& accept = "application/json") {
    return hub.GetAs("/clusters/c/openapi/v2", accept);
  }
  bool Shows(const std::string& path) {
    return Document().body.at("paths").contains(path);
  }
  const std::string things = "/apis/ext.example.com/v1/things";
  int looks = 0;
};

TEST_F(Described, StandsBesideOurs) {
  Begin();
  const auto before = Document();
  EXPECT_FALSE(Shows(things));
  Describe(kDocument, "one");
  ASSERT_TRUE(Eventually([&] { return Shows(things); }));
  const auto answer = Document();
  Json rest = answer.body;
  const std::string meta = kMeta + "_v2";
  EXPECT_EQ(StringAt(rest["definitions"], {"com.example.Thing", "properties", "metadata", "$ref"}),
            "#/definitions/" + meta);
  for (const std::string& name : {std::string("com.example.Thing"), meta}) {
    EXPECT_EQ(rest["definitions"].erase(name), 1u) << name;
  }
  EXPECT_EQ(rest["paths"].erase(things), 1u);
  EXPECT_EQ(rest["paths"].erase("/apis/ext.example.com/"), 1u);
  EXPECT_EQ(rest, before.body) << "ours is as it was";
  const std::string etag(answer.headers.Get("etag"));
  EXPECT_NE(etag, before.headers.Get("etag"));
  Request request;
  request.method = "GET";
  request.path = "/clusters/c/openapi/v2";
  request.peer.common_name = "admin";
  request.peer.organizations = {"system:masters"};
  request.headers.Add("if-none-match", etag);
  EXPECT_EQ(hub.Send(request).code, 304);
}

// A message whose fields come in two parts is their sum.
TEST_F(Described, ProtobufIsOursAndTheirs) {
  Begin();
  const std::string accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const std::string before = Document(accept).text;
  Describe(kDocument, "one");
  ASSERT_TRUE(Eventually([&] { return Shows(things); }));
  const auto answer = Document(accept);
  EXPECT_EQ(answer.headers.Get("content-type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  ASSERT_TRUE(answer.text.starts_with(before));
  EXPECT_NE(answer.text.find("com.example.Thing", before.size()), std::string::npos);
  EXPECT_NE(answer.text.find(things, before.size()), std::string::npos);
}

TEST_F(Described, WhatIsKnownIsNotSentAgain) {
  Begin();
  Describe(kDocument, "one");
  ASSERT_TRUE(Eventually([&] { return Shows(things); }));
  EXPECT_TRUE(Eventually([&] {
    LookAgain();
    std::lock_guard lock(mutex);
    return version2_spared > 0;
  }));
  EXPECT_TRUE(Shows(things));
  std::string changed = kDocument;
  changed.replace(changed.find("v1/things"), 9, "v1/others");
  Describe(changed, "two");
  EXPECT_TRUE(Eventually([&] { return Shows("/apis/ext.example.com/v1/others"); }));
  EXPECT_FALSE(Shows(things));
}

TEST_F(Described, ServersThatFailLeaveTheRest) {
  Begin();
  Describe(kDocument, "one");
  ASSERT_TRUE(Eventually([&] { return Shows(things); }));
  Describe("nonsense", "two");
  EXPECT_TRUE(Becomes("Passed"));
  EXPECT_TRUE(Shows(things)) << "what was known";
  healthy = false;
  LookAgain();
  ASSERT_TRUE(Becomes("FailedDiscoveryCheck"));
  EXPECT_FALSE(Shows(things));
  EXPECT_TRUE(Shows("/api/v1/namespaces/{namespace}/pods"));
  healthy = true;
  LookAgain();
  EXPECT_TRUE(Eventually([&] { return Shows(things); }));
  Describe("", "");
  EXPECT_TRUE(Eventually([&] { return !Shows(things); }));
}

}  // namespace
}  // namespace mailroom::apiserver
