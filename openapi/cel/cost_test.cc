// Estimated and actual costs, and values shaped by declared types.
#include "openapi/cel/cost.h"

#include <gtest/gtest.h>

#include "openapi/cel/test_eval.h"

namespace mailroom::cel {
namespace {

TypePtr Text(std::int64_t most) {
  auto type = std::make_shared<Type>(*Simple(Kind::kString));
  type->max_elements = most;
  return type;
}
TypePtr ListOf(TypePtr element, std::int64_t most) {
  auto type = std::make_shared<Type>(*MakeList(std::move(element)));
  type->max_elements = most;
  return type;
}

Environment SelfEnvironment() {
  Environment env;
  env.variables = {{"self", MakeObject("self", {{"name", "name", Text(40)},
                                                {"other", "other", Text(100)},
                                                {"items", "items", ListOf(Text(10), 5)},
                                                {"any", "any", Simple(Kind::kString)}})}};
  return env;
}

CostEstimate Estimate(const std::string& text) {
  auto program = Compile(text, SelfEnvironment());
  EXPECT_TRUE(program.ok()) << program.error().message();
  return program.ok() ? (*program)->cost() : CostEstimate{};
}

TEST(CelCost, EstimatesFollowDeclaredSizes) {
  struct Case {
    const char* text;
    std::uint64_t min, max;
  };
  const Case cases[] = {
      {"true", 0, 0},
      {"1 + 1 == 2", 2, 2},
      {"self.name == 'x'", 3, 3},
      {"self.name == self.other", 5, 8},
      {"has(self.name)", 1, 1},
      {"self.name.startsWith('abcdefghijk')", 4, 4},
      {"self.items.all(x, x == 'a')", 3, 28},
      {"self.items.size() < 3", 4, 4},
      {"self.name.contains(self.other)", 4, 44},
      {"self.name in ['a', 'b']", 14, 14},
      {"[1, 2, 3].all(x, x > 1)", 20, 26},
  };
  for (const Case& row : cases) {
    const CostEstimate cost = Estimate(row.text);
    EXPECT_EQ(cost.max, row.max) << row.text;
    EXPECT_LE(cost.min, cost.max) << row.text;
  }
}

TEST(CelCost, UnknownSizesCostTheMost) {
  EXPECT_EQ(Estimate("self.any.contains(self.any)").max, UINT64_MAX);
  EXPECT_EQ(AddSaturated(UINT64_MAX, 1), UINT64_MAX);
  EXPECT_EQ(MultiplySaturated(UINT64_MAX / 2, 3), UINT64_MAX);
}

TEST(CelCost, ActualStaysBelowTheEstimate) {
  const Json object = {{"name", std::string(40, 'n')}, {"other", std::string(100, 'o')},
                       {"items", {"aaaaaaaaaa", "b", "c", "d", "e"}}, {"any", "x"}};
  const Environment env = SelfEnvironment();
  for (const char* text :
       {"self.name == self.other", "self.items.all(x, x != 'z')", "self.items.exists(x, x == 'e')",
        "self.items.map(x, x + '!').size() == 5", "self.items.join(',').size() > 3",
        "self.name.replace('n', 'mm').size() == 80", "self.name.matches('^n+$')",
        "self.items.filter(x, x.size() > 1).size() == 1", "self.name.split('').size() == 40",
        "self.items.exists_one(x, x == 'b')", "self.name.upperAscii() == 'X'",
        "self.items.isSorted()", "sets.contains(self.items, ['b'])",
        "self.name < self.other", "self.items.indexOf('e') == 4"}) {
    auto program = Compile(text, env);
    ASSERT_TRUE(program.ok()) << program.error().message();
    const Outcome outcome = (*program)->Run(
        std::vector{Value::FromJson(object, env.variables[0].type.get())}, limits::kCelCallCost);
    EXPECT_FALSE(outcome.value.is_error()) << text << ": " << Show(outcome.value);
    EXPECT_LE(outcome.cost, (*program)->cost().max) << text;
    EXPECT_GE(outcome.cost, 1U) << text;
  }
}

TEST(CelTypes, ShapeJson) {
  const TypePtr type = MakeObject(
      "self", {{"when", "when", Simple(Kind::kTimestamp)},
               {"a__dash__b", "a-b", Simple(Kind::kInt)},
               {"ratio", "ratio", Simple(Kind::kDouble)},
               {"data", "data", Simple(Kind::kBytes)}});
  Environment env;
  env.variables = {{"self", type}};
  const Json object = {{"when", "2020-01-01T00:00:00Z"}, {"a-b", 4}, {"ratio", 2}, {"data", "AAEC"}};
  auto eval = [&](const std::string& text) {
    auto program = Compile(text, env);
    if (!program.ok()) return program.error().message();
    return Show((*program)
                    ->Run(std::vector{Value::FromJson(object, type.get())}, limits::kCelCallCost)
                    .value);
  };
  EXPECT_EQ(eval("self.when.getFullYear() == 2020"), "true");
  EXPECT_EQ(eval("self.a__dash__b"), "4");
  EXPECT_EQ(eval("self.ratio"), "2");
  EXPECT_EQ(eval("type(self.ratio) == double"), "true");
  EXPECT_EQ(eval("self.data == b'\\x00\\x01\\x02'"), "true");
  EXPECT_NE(eval("self.nope").find("undefined field 'nope'"), std::string::npos);
}

TEST(CelTypes, EscapePropertyNames) {
  EXPECT_EQ(Escape("a-b.c/d"), "a__dash__b__dot__c__slash__d");
  EXPECT_EQ(Escape("a__b"), "a__underscores__b");
  EXPECT_EQ(Escape("namespace"), "__namespace__");
  EXPECT_EQ(Escape("plain_name"), "plain_name");
  EXPECT_EQ(Escape("9a"), "");
  EXPECT_EQ(Escape("a b"), "");
  EXPECT_EQ(Escape(""), "");
}

TEST(CelTypes, ConstructsMessages) {
  auto open = std::make_shared<Type>(*MakeObject("Object", {}));
  open->open = true;
  Environment env;
  env.messages = {open, MakeObject("JSONPatch", {{"op", "op", Simple(Kind::kString)},
                                                 {"path", "path", Simple(Kind::kString)},
                                                 {"value", "value", Simple(Kind::kDyn)}})};
  auto eval = [&](const std::string& text) {
    auto program = Compile(text, env);
    if (!program.ok()) return program.error().message();
    return Show((*program)->Run({}, limits::kCelCallCost).value);
  };
  EXPECT_EQ(eval("Object{spec: Object.spec{replicas: 3}}"), "{\"spec\":{\"replicas\":3}}");
  EXPECT_EQ(eval("[JSONPatch{op: 'add', path: '/a', value: 1}]"),
            "[{\"op\":\"add\",\"path\":\"/a\",\"value\":1}]");
  EXPECT_EQ(eval("Object{spec: Object.status{}}"),
            "error: unexpected type name \"Object.status\", expected \"Object.spec\", which "
            "matches field name path from root Object type");
  EXPECT_NE(eval("JSONPatch{oops: 1}").find("undefined field 'oops'"), std::string::npos);
  EXPECT_NE(eval("JSONPatch{op: 1}").find("expected type of field 'op' is 'string' but provided "
                                          "type is 'int'"),
            std::string::npos);
  EXPECT_NE(eval("Nope{}").find("undeclared reference to 'Nope'"), std::string::npos);
}

}  // namespace
}  // namespace mailroom::cel
