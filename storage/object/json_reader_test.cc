#include "storage/object/json_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/object/json_text.h"
#include "storage/object/limits.h"

namespace mailroom {
namespace {

const std::vector<std::string> kPlain = {
    "0", "-0", "-1", "12", "999999999999999999", "-999999999999999999", "1.5", "-0.25", "1e3", "2E-2",
    "1.0", "0.1", "123456789.123456789", "true", " false\n", "null", "\"\"", "[]", "{}", "[ ]", "{ }",
    R"("a\"b\\c\/d\b\f\n\r\t\u0041\u00e9\u20ac\u0000")", "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"",
    R"( { "b" : [ 1 , { "c" : null } ] , "a" : "x" } )", "\"\x7f\"",
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"z":"1","b":"2"}},)"
    R"("data":{"long":"0123456789abcdef0123456789abcdef\n0123456789"}})"};

// Whoever reads a text reads the same from it, down to the kinds of numbers.
void ExpectAgreement(const std::string& text) {
  const std::optional<Json> plain = ReadPlainJson(text);
  if (!plain) return;
  const Json theirs = Json::parse(text, nullptr, false);
  ASSERT_FALSE(theirs.is_discarded()) << text;
  EXPECT_EQ(*plain, theirs) << text;
  EXPECT_EQ(plain->type(), theirs.type()) << text;
  EXPECT_EQ(plain->dump(), theirs.dump()) << text;
}

TEST(JsonReader, ReadsWhatIsPlain) {
  for (const std::string& text : kPlain) {
    EXPECT_TRUE(ReadPlainJson(text).has_value()) << text;
    ExpectAgreement(text);
  }
}

TEST(JsonReader, LeavesTheRestToTheLibrary) {
  for (const char* text :
       {"", " ", "{", "[", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{a:1}",
        "nul", "tru", "{} x", "01", "-", "1.", ".5", "1e", "+1", "\"", "\"\\", "\"\\x\"", "\"\\u12\"",
        "\"\\u12g4\"", "\"\\ud83d\\ude00\"", "\"\x01\"", "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"",
        "\"\xe2\x82\"", "9999999999999999999", "1e999", "{\"a\":1,\"a\":2}", "\xef\xbb\xbf{}"}) {
    EXPECT_FALSE(ReadPlainJson(text).has_value()) << text;
  }
  EXPECT_FALSE(ReadPlainJson(std::string("1\0", 2)).has_value());
  const std::string deep(limits::kJsonDepth + 1, '[');
  EXPECT_FALSE(ReadPlainJson(deep + std::string(deep.size(), ']')).has_value());
}

TEST(JsonReader, AgreesWithTheLibraryOnDamagedText) {
  std::mt19937 random(7);
  const std::string_view pieces = "\"\\{}[],:01.eE+-tfn u\n\xc3\xa9\x01";
  for (int i = 0; i < 40'000; ++i) {
    std::string text = kPlain[random() % kPlain.size()];
    for (unsigned n = random() % 4; n > 0 && !text.empty(); --n) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = pieces[random() % pieces.size()];
      } else {
        text.erase(at, 1 + random() % 3);
      }
    }
    ExpectAgreement(text);
    if (HasFatalFailure()) return;
  }
}

TEST(JsonWriter, WritesAsTheLibraryDoes) {
  for (const std::string& text : kPlain) {
    const Json tree = Json::parse(text);
    if (text.find('.') == text.npos && text.find('e') == text.npos) {
      EXPECT_EQ(DumpJson(tree), tree.dump()) << text;
    }
  }
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  for (std::size_t from = 0; from < all.size(); ++from) {
    const Json tree = all.substr(from) + "\xf0\x9f\x98\x80" + all.substr(0, from);
    EXPECT_EQ(DumpJson(tree), tree.dump()) << from;
  }
  EXPECT_EQ(DumpJson(Json(-9223372036854775807 - 1)), "-9223372036854775808");
  EXPECT_EQ(DumpJson(Json(9223372036854775807u)), "9223372036854775807");
}

TEST(JsonWriter, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(JsonQuote("a\xff\xe2\x82z"), "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
}

TEST(JsonText, FindsTheFirstByteThatNeedsALook) {
  for (std::size_t size : {0u, 1u, 7u, 8u, 9u, 31u}) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'"', '\\', '\x1f', '\x01', '\x80', '\xff'}) {
        std::string text(size, ' ');
        text[at] = c;
        EXPECT_EQ(EndOfPlain(text, 0), at);
        EXPECT_EQ(EndOfPlain(text, at + 1), size);
      }
    }
    EXPECT_EQ(EndOfPlain(std::string(size, '\x7f'), 0), size);
  }
}

TEST(JsonText, KnowsWellFormedUtf8) {
  EXPECT_EQ(Utf8Length("\xc2\x80"), 2u);
  EXPECT_EQ(Utf8Length("\xe0\xa0\x80"), 3u);
  EXPECT_EQ(Utf8Length("\xed\x9f\xbf"), 3u);
  EXPECT_EQ(Utf8Length("\xf0\x90\x80\x80"), 4u);
  EXPECT_EQ(Utf8Length("\xf4\x8f\xbf\xbf"), 4u);
  for (const char* bad : {"", "a", "\x80", "\xc1\x80", "\xe0\x9f\x80", "\xed\xa0\x80", "\xf0\x8f\x80\x80",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2", "\xe2\x82", "\xf0\x90\x80"}) {
    EXPECT_EQ(Utf8Length(bad), 0u) << bad;
  }
}

}  // namespace
}  // namespace mailroom
