#include "apiserver/json_patch.h"

#include <gtest/gtest.h>

#include "apiserver/apply_test_types.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

constexpr const char* kRejected = "the server rejected our request due to an error in our request";

struct Case {
  const char* document;
  const char* patch;
  const char* want;  // nullptr: does not apply
};

class JsonPatchTable : public testing::TestWithParam<Case> {};

TEST_P(JsonPatchTable, Applies) {
  const Case& c = GetParam();
  const Json document = Y(c.document);
  auto result = JsonPatch(document, Y(c.patch));
  if (c.want) {
    ASSERT_TRUE(result.ok()) << c.patch;
    EXPECT_EQ(*result, Y(c.want)) << c.patch;
    return;
  }
  ASSERT_FALSE(result.ok()) << c.patch;
  EXPECT_EQ(result.error().reason(), Reason::kInvalid);
  EXPECT_EQ(result.error().code(), 422);
  EXPECT_EQ(result.error().message(), kRejected);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, JsonPatchTable,
    testing::Values(
        Case{"{a: 1}", "[]", "{a: 1}"},
        Case{"{a: 1}", "[{op: add, path: /b, value: 2}]", "{a: 1, b: 2}"},
        Case{"{a: 1}", "[{op: add, path: /a, value: 2}]", "{a: 2}"},
        Case{"{a: {b: [1, 3]}}", "[{op: add, path: /a/b/1, value: 2}]", "{a: {b: [1, 2, 3]}}"},
        Case{"{a: [1]}", "[{op: add, path: /a/-, value: 2}]", "{a: [1, 2]}"},
        Case{"{a: [1]}", "[{op: add, path: /a/1, value: 2}]", "{a: [1, 2]}"},
        Case{"{a: [1]}", "[{op: add, path: /a/2, value: 2}]", nullptr},
        Case{"{a: [1, 2]}", "[{op: add, path: /a/-1, value: 9}]", "{a: [1, 2, 9]}"},
        Case{"{a: [1, 2]}", "[{op: add, path: /a/-3, value: 9}]", "{a: [9, 1, 2]}"},
        Case{"{a: [1, 2]}", "[{op: add, path: /a/-4, value: 9}]", nullptr},
        Case{"{a: [1]}", "[{op: add, path: /a/x, value: 2}]", nullptr},
        Case{"{a: 1}", "[{op: add, path: /b/c, value: 2}]", nullptr},
        Case{"{a: 1}", "[{op: add, path: /a/c, value: 2}]", nullptr},
        Case{"{a: 1}", "[{op: add, path: '', value: 2}]", nullptr},
        Case{"{}", "[{op: add, path: /a~1b, value: 1}, {op: add, path: /c~0d, value: 2}]",
             "{a/b: 1, c~d: 2}"},
        Case{"{}", "[{op: add, path: /~01, value: 1}]", "{'~1': 1}"},
        Case{"{a: 1, b: 2}", "[{op: remove, path: /a}]", "{b: 2}"},
        Case{"{a: [1, 2, 3]}", "[{op: remove, path: /a/-1}]", "{a: [1, 2]}"},
        Case{"{a: [1]}", "[{op: remove, path: /a/1}]", nullptr},
        Case{"{a: 1}", "[{op: remove, path: /b}]", nullptr},
        Case{"{a: 1}", "[{op: replace, path: /a, value: {x: 1}}]", "{a: {x: 1}}"},
        // kube-apiserver lets replace set a member that is not there, but not its parent.
        Case{"{a: 1}", "[{op: replace, path: /b, value: 2}]", "{a: 1, b: 2}"},
        Case{"{a: 1}", "[{op: replace, path: /b/c, value: 2}]", nullptr},
        Case{"{a: [1, 2]}", "[{op: replace, path: /a/1, value: 5}]", "{a: [1, 5]}"},
        Case{"{a: [1, 2]}", "[{op: replace, path: /a/2, value: 5}]", nullptr},
        Case{"{a: [1, 2]}", "[{op: replace, path: /a/-2, value: 5}]", "{a: [5, 2]}"},
        Case{"{a: 1}", "[{op: replace, path: '', value: {b: 2}}]", "{b: 2}"},
        Case{"{a: 1}", "[{op: replace, path: '', value: 5}]", nullptr},
        Case{"{a: {b: 1}}", "[{op: move, from: /a/b, path: /c}]", "{a: {}, c: 1}"},
        Case{"{a: [1, 2]}", "[{op: move, from: /a/0, path: /a/-}]", "{a: [2, 1]}"},
        Case{"{a: 1}", "[{op: move, from: /b, path: /c}]", nullptr},
        Case{"{a: {b: 1}}", "[{op: copy, from: /a, path: /c}]", "{a: {b: 1}, c: {b: 1}}"},
        Case{"{a: 1}", "[{op: copy, from: /b/c, path: /d}]", nullptr},
        Case{"{a: {b: 1}}", "[{op: test, path: /a, value: {b: 1}}]", "{a: {b: 1}}"},
        Case{"{a: 1}", "[{op: test, path: /a, value: '1'}]", nullptr},
        Case{"{a: 1}", "[{op: test, path: /b, value: 1}]", nullptr},
        Case{"{a: 1}", "[{op: test, path: /b, value: null}]", "{a: 1}"},
        Case{"{a: [x]}", "[{op: test, path: /a/0, value: x}]", "{a: [x]}"},
        Case{"{a: 1}", "[{op: test, path: '', value: {a: 1}}]", "{a: 1}"},
        Case{"{a: 1}", "[{op: add, path: /b, value: 2}, {op: test, path: /a, value: 5}]", nullptr},
        Case{"{a: 1}", "[{op: frob, path: /a}]", nullptr}, Case{"{a: 1}", "[{path: /a}]", nullptr},
        Case{"{a: 1}", "[{op: add, value: 1}]", nullptr},
        Case{"{a: 1}", "[{op: add, path: 7, value: 1}]", nullptr},
        Case{"{a: 1}", "[{op: move, path: /b}]", nullptr}));

TEST(JsonPatch, RefusesWhatIsNoPatch) {
  auto object = JsonPatch(Y("{}"), Y("{a: 1}"));
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.error().code(), 400);
  EXPECT_EQ(object.error().message(),
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  auto element = JsonPatch(Y("{}"), Y("[add]"));
  ASSERT_FALSE(element.ok());
  EXPECT_EQ(element.error().code(), 400);
}

TEST(JsonPatch, BoundsTheNumberOfOperations) {
  Json operations = Json::array();
  const Json operation = Y("{op: test, path: /a, value: 1}");
  for (std::size_t i = 0; i < limits::kJsonPatchOperations; ++i) operations.push_back(operation);
  EXPECT_TRUE(JsonPatch(Y("{a: 1}"), operations).ok());
  operations.push_back(operation);
  auto result = JsonPatch(Y("{a: 1}"), operations);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), 413);
  EXPECT_EQ(result.error().message(),
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
            "got 10001");
}

TEST(JsonPatch, CopiesMustNotAmplify) {
  Json document = {{"a", std::string(1024, 'x')}};
  Json operations = Json::array();
  for (int i = 0; i < 30; ++i) operations.push_back(Y("{op: copy, from: '', path: /b}"));
  // Copying the root is not addressable; doubling a member is.
  EXPECT_FALSE(JsonPatch(document, operations).ok());
  operations = Json::array();
  for (int i = 0; i < 30; ++i) {
    operations.push_back(Y("{op: copy, from: /a, path: /b}"));
    operations.push_back(Y("{op: add, path: /a, value: []}"));
    for (int k = 0; k < 2; ++k) operations.push_back(Y("{op: copy, from: /b, path: /a/-}"));
  }
  EXPECT_FALSE(JsonPatch(document, operations).ok());
}

TEST(JsonPatch, NestingStaysBounded) {
  Json operations = Json::array();
  for (std::size_t i = 0; i < 2 * limits::kJsonDepth; ++i) {
    operations.push_back(Y("{op: add, path: /b, value: {}}"));
    operations.push_back(Y("{op: move, from: /a, path: /b/x}"));
    operations.push_back(Y("{op: move, from: /b, path: /a}"));
  }
  EXPECT_FALSE(JsonPatch(Y("{a: {}}"), operations).ok());
}

class MergePatchTable : public testing::TestWithParam<Case> {};

TEST_P(MergePatchTable, Merges) {
  const Case& c = GetParam();
  auto result = MergePatch(Y(c.document), Y(c.patch));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, Y(c.want)) << c.document << " + " << c.patch;
}

INSTANTIATE_TEST_SUITE_P(
    Rfc7386, MergePatchTable,
    testing::Values(Case{"{a: b}", "{a: c}", "{a: c}"}, Case{"{a: b}", "{b: c}", "{a: b, b: c}"},
                    Case{"{a: b}", "{a: null}", "{}"}, Case{"{a: b, b: c}", "{a: null}", "{b: c}"},
                    Case{"{a: [b]}", "{a: c}", "{a: c}"}, Case{"{a: c}", "{a: [b]}", "{a: [b]}"},
                    Case{"{a: {b: c}}", "{a: {b: d, c: null}}", "{a: {b: d}}"},
                    Case{"{a: [{b: c}]}", "{a: [1]}", "{a: [1]}"}, Case{"{a: b}", "{}", "{a: b}"},
                    Case{"{e: null}", "{a: 1}", "{e: null, a: 1}"},
                    Case{"{}", "{a: {bb: {ccc: null}}}", "{a: {bb: {}}}"},
                    Case{"{a: x}", "{a: {b: null, c: 1}}", "{a: {c: 1}}"}));

TEST(MergePatch, OnlyObjectsAreMergePatches) {
  auto list = MergePatch(Y("{}"), Y("[1]"));
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code(), 400);
  EXPECT_EQ(list.error().message(),
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}");
  auto null = MergePatch(Y("{}"), Json());
  ASSERT_FALSE(null.ok());
  EXPECT_EQ(null.error().code(), 400);
}

}  // namespace
}  // namespace mailroom::apiserver
