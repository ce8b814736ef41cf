#include "openapi/protobuf.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "openapi/builtin.h"
#include "openapi/protobuf_wire.h"
#include "storage/object/json.h"

namespace mailroom::openapi {
namespace {

Json Parse(std::string_view text) {
  Result<Json> value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Json();
}

std::string Hex(std::string_view text) {
  std::string bytes;
  int high = -1;
  for (char c : text) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<char>(high << 4 | digit));
      high = -1;
    }
  }
  return bytes;
}

std::string Body(std::string_view api_version, std::string_view kind, std::string_view raw) {
  std::string type_meta, body("k8s\0", 4);
  PutBytes(1, api_version, type_meta);
  PutBytes(2, kind, type_meta);
  PutBytes(1, type_meta, body);
  PutBytes(2, raw, body);
  return body;
}

// A message of `type` from JSON, and back.
std::string RoundTrip(std::string_view type, std::string_view json) {
  const std::string bytes = EncodeMessage(*BuiltinType(type), Parse(json));
  Result<Json> back = DecodeMessage(*BuiltinType(type), bytes);
  return back.ok() ? DumpJson(*back) : back.error().message();
}

TEST(Protobuf, KnownBytes) {
  // A Namespace `a` with phase Active, written by hand from the format's rules.
  const std::string body =
      Hex("6b 38 73 00"
          "0a 0f 0a 02 76 31 12 09 4e 61 6d 65 73 70 61 63 65"  // v1 Namespace
          "12 29"
          "0a 19 0a 01 61 12 00 1a 00 22 00 2a 00 32 00 38 00 42 00 5a 06 0a 01 6b 12 01 76"
          "12 02 0a 00"  // spec.finalizers: [""]
          "1a 08 0a 06 41 63 74 69 76 65"
          "1a 00 22 00");
  Json expected = {{"apiVersion", "v1"},
                   {"kind", "Namespace"},
                   {"metadata", {{"name", "a"}, {"labels", {{"k", "v"}}}}},
                   {"spec", {{"finalizers", {""}}}},
                   {"status", {{"phase", "Active"}}}};
  Result<Json> decoded = DecodeProtobuf(body);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  EXPECT_EQ(*decoded, expected);
  Result<std::string> encoded = EncodeProtobuf(expected);
  ASSERT_TRUE(encoded.ok());
  EXPECT_EQ(*encoded, body);
}

TEST(Protobuf, ValuesThatAreEmptyAreLeftOut) {
  // Go writes `paused: false`, `minReadySeconds: 0`, strategy and status although nobody set them.
  const std::string raw =
      EncodeMessage(*BuiltinType("apps/v1.Deployment"), Parse(R"({"metadata":{"name":"d"}})"));
  Result<Json> back = DecodeMessage(*BuiltinType("apps/v1.Deployment"), raw);
  ASSERT_TRUE(back.ok());
  // The selector is a pointer that was not set; the template is a value that is always there.
  EXPECT_EQ(DumpJson(*back), R"({"metadata":{"name":"d"},"spec":{"template":{}}})");
  // A pointer keeps its empty value.
  EXPECT_EQ(RoundTrip("apps/v1.DeploymentSpec", R"({"replicas":0,"paused":false,"template":{}})"),
            R"({"replicas":0,"template":{}})");
  // So does a required value.
  EXPECT_EQ(RoundTrip("core/v1.ServicePort", R"({"port":0})"), R"({"port":0})");
}

TEST(Protobuf, SpecialForms) {
  const std::pair<const char*, const char*> same[] = {
      {"core/v1.ServicePort", R"({"port":80,"targetPort":"http"})"},
      {"core/v1.ServicePort", R"({"port":80,"targetPort":8080})"},
      {"core/v1.ResourceRequirements", R"({"limits":{"cpu":"100m","memory":"1Gi"}})"},
      {"core/v1.Secret", R"({"data":{"a":"AAEC","b":""},"type":"Opaque"})"},
      {"core/v1.Volume", R"({"name":"v","secret":{"defaultMode":420,"secretName":"s"}})"},
      {"core/v1.ConfigMapKeySelector", R"({"key":"k","name":"n","optional":false})"},
      {"core/v1.ObjectReference", R"({"kind":"Pod","name":"p"})"},
      {"coordination/v1.LeaseSpec",
       R"({"leaseDurationSeconds":15,"renewTime":"2024-02-29T23:59:59.123456Z"})"},
      {"meta/v1.ObjectMeta", R"({"creationTimestamp":"1969-12-31T23:59:59Z","name":"n"})"},
      {"meta/v1.DeleteOptions",
       R"({"gracePeriodSeconds":0,"preconditions":{"uid":"u"},"propagationPolicy":"Orphan"})"},
      {"meta/v1.ManagedFieldsEntry",
       R"({"fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}},"manager":"m"})"},
      {"authorization/v1.SubjectAccessReviewSpec",
       R"({"extra":{"k":["a","b"]},"groups":["g"],"uid":"u","user":"x"})"},
      {"apps/v1.ControllerRevision", R"({"data":{"spec":{"a":[1,2.5,null]}},"revision":3})"},
      {"apiextensions/v1.JSONSchemaProps",
       R"({"additionalProperties":false,"default":{"a":1},"items":{"type":"string"},)"
       R"("maximum":1.5,"properties":{"p":{"additionalProperties":{"type":"object"},)"
       R"("items":[{"type":"string"}]}},"type":"object"})"},
      {"apiextensions/v1.JSONSchemaProps", R"({"dependencies":{"a":["b","c"],"d":{"type":"x"}}})"},
      {"core/v1.PodSecurityContext", R"({"supplementalGroups":[1,-2,9223372036854775807]})"},
  };
  for (const auto& [type, json] : same) EXPECT_EQ(RoundTrip(type, json), json) << type;
}

TEST(Protobuf, PackedNumbers) {
  const Schema& type = *BuiltinType("core/v1.PodSecurityContext");
  std::string packed, message;
  for (std::uint64_t number : {1U, 300U, 0U}) PutVarint(number, packed);
  PutBytes(4, packed, message);
  Result<Json> value = DecodeMessage(type, message);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(DumpJson(*value), R"({"supplementalGroups":[1,300,0]})");
}

TEST(Protobuf, MessagesMetTwiceMerge) {
  const Schema& type = *BuiltinType("apps/v1.Deployment");
  std::string first, second, raw;
  PutNumber(1, 3, first);
  PutNumber(5, 7, second);
  PutBytes(2, first, raw);
  PutBytes(2, second, raw);
  Result<Json> value = DecodeMessage(type, raw);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(DumpJson(*value), R"({"spec":{"minReadySeconds":7,"replicas":3}})");
}

TEST(Protobuf, OptionsTravelUnderAnyVersion) {
  const std::string raw = EncodeMessage(*BuiltinType("meta/v1.DeleteOptions"),
                                        Parse(R"({"propagationPolicy":"Foreground"})"));
  for (const char* version : {"v1", "meta.k8s.io/v1", "apps/v1", "example.com/v1"}) {
    Result<Json> options = DecodeProtobuf(Body(version, "DeleteOptions", raw));
    ASSERT_TRUE(options.ok()) << version;
    EXPECT_EQ((*options)["propagationPolicy"], "Foreground");
    EXPECT_EQ((*options)["apiVersion"], version);
  }
  Result<Json> bare = DecodeProtobufAs(Body("", "", raw), {"", "v1", "DeleteOptions"});
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ((*bare)["kind"], "DeleteOptions");
}

TEST(Protobuf, Lists) {
  const Json list = Parse(
      R"({"apiVersion":"v1","kind":"ConfigMapList","metadata":{"resourceVersion":"7"},
          "items":[{"metadata":{"name":"a"},"data":{"k":"v"}},{"metadata":{"name":"b"}}]})");
  Result<std::string> body = EncodeProtobuf(list);
  ASSERT_TRUE(body.ok());
  Result<Json> back = DecodeProtobuf(*body);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, list);
  EXPECT_TRUE(HasProtobuf({"meta.k8s.io", "v1", "PartialObjectMetadataList"}));
  EXPECT_TRUE(HasProtobuf({"", "v1", "Status"}));
  EXPECT_FALSE(HasProtobuf({"meta.k8s.io", "v1", "Table"}));
  EXPECT_FALSE(HasProtobuf({"", "v1", "PodSpec"}));
  EXPECT_FALSE(HasProtobuf({"example.com", "v1", "Widget"}));
}

TEST(Protobuf, WatchFrames) {
  const std::string frame = ProtobufWatchFrame("ADDED", "k8s");
  EXPECT_EQ(frame, Hex("00 00 00 0e 0a 05 41 44 44 45 44 12 05 0a 03 6b 38 73"));
}

TEST(Protobuf, RefusesWhatIsNotWellFormed) {
  const std::string good = *EncodeProtobuf(
      Parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}})"));
  EXPECT_FALSE(DecodeProtobuf("").ok());
  EXPECT_FALSE(DecodeProtobuf("{}").ok());
  EXPECT_FALSE(DecodeProtobuf(Body("v1", "Nothing", "")).ok());
  EXPECT_FALSE(DecodeProtobuf(Body("v1", "ConfigMap", Hex("0a 05 01"))).ok());  // too short
  EXPECT_FALSE(DecodeProtobuf(Body("v1", "ConfigMap", Hex("0b"))).ok());        // group
  EXPECT_FALSE(DecodeProtobuf(Body("v1", "ConfigMap", Hex("08 01"))).ok());     // metadata: 1
  EXPECT_FALSE(DecodeProtobuf(Body("v1", "ConfigMap", Hex("00 00"))).ok());     // field 0
  EXPECT_FALSE(DecodeProtobuf(Body("v1", "ConfigMap", Hex("0a 04 0a 02 c0 80"))).ok());  // UTF-8
  EXPECT_FALSE(
      DecodeProtobuf(Body("v1", "ConfigMap", Hex("ff ff ff ff ff ff ff ff ff ff ff"))).ok());
  // Every prefix is refused or read as something shorter, and nothing is read past the end.
  for (std::size_t size = 0; size < good.size(); ++size) {
    (void)DecodeProtobuf(std::string(good.substr(0, size)));
  }
  // Every changed byte likewise.
  for (std::size_t at = 4; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      Result<Json> value = DecodeProtobuf(bad);
      if (value.ok()) (void)DumpJson(*value);
    }
  }
}

TEST(Protobuf, BoundsTheDepth) {
  std::string props;
  for (int i = 0; i < 5000; ++i) {
    std::string outer;
    PutBytes(28, props, outer);  // not: {...}
    props = std::move(outer);
  }
  EXPECT_FALSE(DecodeMessage(*BuiltinType("apiextensions/v1.JSONSchemaProps"), props).ok());
}

// Removes members that are empty: a decoded body does not say which of them Go would write.
Json WithoutEmpty(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& element : value) list.push_back(WithoutEmpty(element));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, member] : value.items()) {
    Json kept = WithoutEmpty(member);
    const bool empty = kept.is_null() || (kept.is_structured() && kept.empty()) || kept == "" ||
                       kept == "0" || kept == 0 || kept == false;
    if (!empty) object[key] = std::move(kept);
  }
  return object;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Kinds with fields that releases since 1.32 write although they are empty.
bool HasGrown(const std::filesystem::path& file) {
  return file.filename() == "core.v1.Pod.pb" || file.filename() == "core.v1.ListOptions.pb";
}

// Directories with `<group>.<version>.<Kind>.pb` and `.json` twins, separated by ':', such as
// testdata/HEAD of Kubernetes' api repository (hack/peer twins).
TEST(Protobuf, TwinFiles) {
  const char* directories = std::getenv("MAILROOM_PROTOBUF_TWINS");
  if (directories == nullptr) GTEST_SKIP() << "MAILROOM_PROTOBUF_TWINS is not set";
  int compared = 0, skipped = 0;
  for (std::string_view rest = directories; !rest.empty();) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (entry.path().extension() != ".pb") continue;
      std::filesystem::path twin = entry.path();
      const Json expected = Parse(ReadFile(twin.replace_extension(".json")));
      const std::string body = ReadFile(entry.path());
      Result<ProtobufEnvelope> envelope = ReadProtobufEnvelope(body);
      ASSERT_TRUE(envelope.ok()) << entry.path();
      Result<std::string> encoded = EncodeProtobuf(expected);
      if (!encoded.ok()) {
        ++skipped;  // not a GA kind
        continue;
      }
      ++compared;
      Result<Json> decoded = DecodeProtobuf(body);
      ASSERT_TRUE(decoded.ok()) << entry.path() << decoded.error().message();
      const Json difference = Json::diff(WithoutEmpty(*decoded), WithoutEmpty(expected));
      EXPECT_TRUE(difference.empty()) << entry.path() << ": " << DumpJson(difference);
      EXPECT_TRUE(*encoded == body || HasGrown(entry.path()))
          << entry.path() << " is encoded otherwise";
      Result<Json> again = DecodeProtobuf(*encoded);
      ASSERT_TRUE(again.ok()) << entry.path();
      EXPECT_EQ(WithoutEmpty(*again), WithoutEmpty(expected)) << entry.path();
    }
  }
  EXPECT_GT(compared, 70);
  std::cout << compared << " bodies compared, " << skipped << " of kinds that are not served\n";
}

}  // namespace
}  // namespace mailroom::openapi
