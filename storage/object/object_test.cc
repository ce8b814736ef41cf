#include "storage/object/object.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/object/json.h"

namespace mailroom {
namespace {

const char* kWidget = R"({"kind":"Widget","spec":{"size":"small","n":7,"on":true},
  "metadata":{"name":"w","namespace":"ns","uid":"u-1","resourceVersion":"999",
  "labels":{"b":"2","a":"1"},"annotations":{"note":"say \"hi\""},
  "finalizers":["x/y"],"ownerReferences":[]},"apiVersion":"example.com/v1"})";

TEST(Object, EncodesInCanonicalOrderAtItsRevision) {
  ObjectPtr object = Object::Make(*ParseJson(kWidget), Revision(42));
  ASSERT_NE(object, nullptr);
  EXPECT_TRUE(object->bytes().starts_with(
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"resourceVersion":"42",)"));
  EXPECT_EQ(object->api_version(), "example.com/v1");
  EXPECT_EQ(object->kind(), "Widget");
  EXPECT_EQ(object->meta().name, "w");
  EXPECT_EQ(object->meta().ns, "ns");
  EXPECT_EQ(object->meta().uid, "u-1");
  EXPECT_TRUE(object->meta().has_finalizers);
  EXPECT_FALSE(object->meta().has_owners);
  ASSERT_EQ(object->meta().labels.size(), 2u);
  EXPECT_EQ(object->meta().labels[0].first, "a");
  EXPECT_EQ(object->revision(), Revision(42));
}

TEST(Object, RoundTripsAndSplices) {
  Json tree = *ParseJson(kWidget);
  ObjectPtr object = Object::Make(tree, Revision(5));
  tree["metadata"]["resourceVersion"] = "5";
  EXPECT_EQ(object->ToJson(), tree);
  ObjectPtr later = object->AtRevision(Revision(77));
  tree["metadata"]["resourceVersion"] = "77";
  EXPECT_EQ(later->ToJson(), tree);
  EXPECT_EQ(*ParseJson("{" + std::string(object->bytes_after_kind())),
            [&] { Json t = object->ToJson(); t.erase("kind"); t.erase("apiVersion"); return t; }());
  EXPECT_EQ(*ParseJson(object->metadata_bytes()), object->ToJson()["metadata"]);
}

TEST(Object, ReadsScalarsForFieldSelectors) {
  ObjectPtr object = Object::Make(*ParseJson(kWidget), Revision(5));
  EXPECT_EQ(object->ScalarAt("spec.size"), "small");
  EXPECT_EQ(object->ScalarAt("spec.n"), "7");
  EXPECT_EQ(object->ScalarAt("spec.on"), "true");
  EXPECT_EQ(object->ScalarAt("spec.none"), "");
  EXPECT_EQ(object->ScalarAt("spec"), "");
  EXPECT_EQ(object->ScalarAt("metadata.name"), "w");
  Json pod = *ParseJson(kWidget);
  pod["status"] = {{"ips", {{{"ip", "10.0.0.1"}}, {{"ip", "10.0.0.2"}}}}, {"none", Json::array()}};
  object = Object::Make(pod, Revision(5));
  EXPECT_EQ(object->ScalarAt("status.ips.0.ip"), "10.0.0.1");
  EXPECT_EQ(object->ScalarAt("status.ips.1.ip"), "10.0.0.2");
  for (const char* nowhere : {"status.ips.2.ip", "status.ips.ip", "status.ips.-1.ip",
                              "status.ips.0x.ip", "status.none.0.ip", "status.0.ip", "status.ips"}) {
    EXPECT_EQ(object->ScalarAt(nowhere), "") << nowhere;
  }
}

TEST(Object, EscapedNamesAreUnescaped) {
  Json tree = {{"apiVersion", "v1"}, {"kind", "X"}, {"metadata", {{"name", "a\"b\\c"}}}};
  EXPECT_EQ(Object::Make(tree, Revision(1))->meta().name, "a\"b\\c");
}

TEST(Object, EmptyMetadataStillCarriesTheRevision) {
  Json tree = {{"apiVersion", "v1"}, {"kind", "X"}, {"metadata", Json::object()}};
  EXPECT_EQ(Object::Make(tree, Revision(3))->bytes(),
            R"({"apiVersion":"v1","kind":"X","metadata":{"resourceVersion":"3"}})");
}

TEST(Object, RefusesMalformedBytesWithoutReadingPastThem) {
  const std::string good = Object::Encode(*ParseJson(kWidget));
  EXPECT_TRUE(Object::Decode(good, Revision(1)).ok());
  std::mt19937 random(7);
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(Object::Decode(good.substr(0, cut), Revision(1)).ok() && cut + 1 < good.size() &&
                 good[cut - 1] != '}')
        << cut;
    std::string flipped = good;
    flipped[random() % flipped.size()] = static_cast<char>(random() % 128);
    (void)Object::Decode(flipped, Revision(1));
  }
}

}  // namespace
}  // namespace mailroom
