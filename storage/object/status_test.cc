#include "storage/object/status.h"

#include <gtest/gtest.h>

#include "storage/object/json.h"
#include "storage/object/json_path.h"
#include "storage/object/limits.h"

namespace mailroom {
namespace {

TEST(Status, NotFoundSpeaksTheProtocol) {
  Json tree = *ParseJson(NotFound("widgets", "example.com", "w1").ToJson());
  EXPECT_EQ(StringAt(tree, {"message"}), "widgets.example.com \"w1\" not found");
  EXPECT_EQ(StringAt(tree, {"reason"}), "NotFound");
  EXPECT_EQ(IntAt(tree, {"code"}), 404);
  EXPECT_EQ(StringAt(tree, {"details", "kind"}), "widgets");
  EXPECT_EQ(StringAt(tree, {"details", "group"}), "example.com");
}

TEST(Status, InvalidJoinsCausesAndDropsRepeats) {
  Status one = Invalid("Pod", "", "p", {RequiredValue("spec.containers")});
  EXPECT_EQ(one.message(), "Pod \"p\" is invalid: spec.containers: Required value");
  Cause again = InvalidValue("spec.x", "\"v\"", "bad");
  Status two = Invalid("Widget", "example.com", "w", {RequiredValue("spec.a"), again, again});
  EXPECT_EQ(two.message(),
            "Widget.example.com \"w\" is invalid: [spec.a: Required value, spec.x: Invalid value: "
            "\"v\": bad]");
  EXPECT_EQ(two.code(), 422);
}

TEST(Status, InvalidTellsOfABoundedNumberOfCausesInFewBytes) {
  std::vector<Cause> causes;
  for (int i = 0; i < 300'000; ++i) {
    causes.push_back(InvalidValue("data[k" + std::to_string(i) + "]", "\"k\"", "bad"));
  }
  const Status many = Invalid("ConfigMap", "", "a", std::move(causes));
  EXPECT_EQ(many.details().causes.size(), limits::kProblemsTold);
  EXPECT_TRUE(many.message().starts_with("ConfigMap \"a\" is invalid: [data[k0]: Invalid value: \"k\": bad, data[k1]: "));
  EXPECT_TRUE(many.message().ends_with("data[k99]: Invalid value: \"k\": bad]"));

  const std::string long_text(1'000'000, 'x');
  const Cause cause = InvalidValue(long_text, Quoted(long_text), long_text);
  EXPECT_LT(cause.field.size() + cause.message.size(), 64u * 1024);
  EXPECT_TRUE(cause.field.ends_with("x..."));
  const std::string usual(limits::kProblemValueBytes - 2, 'x');
  EXPECT_EQ(InvalidValue("a", Quoted(usual), "b").message, "Invalid value: \"" + usual + "\": b");
}

TEST(Status, UnsupportedValuesAreListedAsGiven) {
  EXPECT_EQ(UnsupportedValue("spec.type", "\"x\"", {"b", "a"}).message,
            "Unsupported value: \"x\": supported values: \"b\", \"a\"");
}

TEST(Status, SurvivesTheWire) {
  Status sent = TooManyRequests("queue is full", 3);
  Status read = Status::FromBody(429, sent.ToJson());
  EXPECT_EQ(read.reason(), Reason::kTooManyRequests);
  EXPECT_EQ(read.message(), sent.message());
  EXPECT_EQ(read.details().retry_after_seconds, 3);
  Status expired = Expired("gone");
  expired.WithContinue("token");
  EXPECT_EQ(Status::FromBody(410, expired.ToJson()).continue_token(), "token");
}

TEST(Status, BodyThatIsNoStatusKeepsTheCode) {
  Status read = Status::FromBody(404, "404 page not found");
  EXPECT_EQ(read.reason(), Reason::kNotFound);
  EXPECT_EQ(read.code(), 404);
}

TEST(Status, QuotesLikeGo) { EXPECT_EQ(Quoted("a\"b\\\n\x01"), "\"a\\\"b\\\\\\n\\x01\""); }

}  // namespace
}  // namespace mailroom
