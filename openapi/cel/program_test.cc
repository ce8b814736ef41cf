// The language: operators, macros, types, errors and costs.
#include "openapi/cel/program.h"

#include <gtest/gtest.h>

#include <functional>

#include "openapi/cel/test_eval.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"

namespace mailroom::cel {
namespace {

TEST(CelLanguage, Arithmetic) {
  Expect({{"1 + 2 * 3", "7"},
          {"(1 + 2) * 3", "9"},
          {"7 / 2", "3"},
          {"-7 / 2", "-3"},
          {"-7 % 3", "-1"},
          {"1.5 + 2.0", "3.5"},
          {"3u - 1u", "2u"},
          {"1u - 2u", "error: unsigned integer overflow"},
          {"9223372036854775807 + 1", "error: integer overflow"},
          {"-9223372036854775808 - 1", "error: integer overflow"},
          {"9223372036854775807 * 2", "error: integer overflow"},
          {"1 / 0", "error: division by zero"},
          {"1 % 0", "error: modulus by zero"},
          {"1u / 0u", "error: division by zero"},
          {"-(-9223372036854775808)", "error: integer overflow"},
          {"0x1F", "31"},
          {"1e3", "1000"},
          {".5 + 1.0", "1.5"},
          {"- 5 + 10", "5"},
          {"--5", "5"},
          {"!!true", "true"},
          {"'a' + 'b'", "\"ab\""},
          {"b'a' + b'b' == b'ab'", "true"},
          {"[1] + [2, 3]", "[1,2,3]"}});
}

TEST(CelLanguage, RelationsAcrossKinds) {
  Expect({{"1 < 2", "true"},
          {"1 < 1.5", "true"},
          {"2u >= 2", "true"},
          {"9007199254740993 > 9007199254740992.0", "true"},
          {"'a' < 'b'", "true"},
          {"'10' < '9'", "true"},
          {"b'a' <= b'a'", "true"},
          {"false < true", "true"},
          {"timestamp('2020-01-01T00:00:00Z') < timestamp('2021-01-01T00:00:00Z')", "true"},
          {"duration('1m') == duration('60s')", "true"},
          {"dyn(1) == dyn(1u)", "true"},
          {"dyn(1) == dyn('1')", "false"},
          {"[1, 2] == [1, 2]", "true"},
          {"{'a': 1} == {'a': 1}", "true"},
          {"{'a': 1} != {'a': 2}", "true"},
          {"null == null", "true"},
          {"dyn(0.0 / 0.0) == dyn(0.0 / 0.0)", "false"},
          {"2 in [1, 2]", "true"},
          {"'a' in {'a': 1}", "true"},
          {"1.0 in {1: 'x'}", "ERROR: <input>:1:5: found no matching overload for '@in' applied "
                              "to '(double, map(int, string))'\n | 1.0 in {1: 'x'}\n | ....^"}});
}

TEST(CelLanguage, LogicAbsorbsErrors) {
  Expect({{"true || 1/0 == 1", "true"},
          {"1/0 == 1 || true", "true"},
          {"1/0 == 1 || false", "error: division by zero"},
          {"false && 1/0 == 1", "false"},
          {"1/0 == 1 && false", "false"},
          {"1/0 == 1 && true", "error: division by zero"},
          {"true ? 1 : 2", "1"},
          {"false ? 1 : true ? 2 : 3", "2"},
          {"(1/0 == 1) ? 1 : 2", "error: division by zero"},
          {"[1, 0].exists(x, 1/x == 1)", "true"},
          {"[0, 1].exists(x, 1/x == 1)", "true"},
          {"[0, 2].exists(x, 1/x == 1)", "error: division by zero"},
          {"[0, 2].all(x, 1/x == 1)", "false"}});
}

TEST(CelLanguage, Macros) {
  Expect({{"[1, 2, 3].all(x, x > 0)", "true"},
          {"[1, 2, 3].exists(x, x > 2)", "true"},
          {"[1, 2, 3].exists_one(x, x > 2)", "true"},
          {"[1, 2, 3].existsOne(x, x > 1)", "false"},
          {"[1, 2, 3].map(x, x * 2)", "[2,4,6]"},
          {"[1, 2, 3].map(x, x > 1, x * 2)", "[4,6]"},
          {"[1, 2, 3].filter(x, x > 1)", "[2,3]"},
          {"[[1, 2], [3]].map(x, x.filter(y, y > 1))", "[[2],[3]]"},
          {"{'a': 1, 'b': 2}.map(k, k)", "[\"a\",\"b\"]"},
          {"{'a': 1, 'b': 2}.filter(k, k == 'b')", "[\"b\"]"},
          {"[].all(x, false)", "true"},
          {"has({'a': 1}.a)", "true"},
          {"has({'a': 1}.b)", "false"},
          {"[5, 6].all(i, v, i + 5 == v)", "true"},
          {"{'a': 1}.exists(k, v, k == 'a' && v == 1)", "true"},
          {"[5, 6].exists_one(i, v, v == 6)", "true"},
          {"[5, 6].transformList(i, v, i + v)", "[5,7]"},
          {"[5, 6].transformList(i, v, i > 0, v)", "[6]"},
          {"{'a': 1, 'b': 2}.transformMap(k, v, v * 2)", "{\"a\":2,\"b\":4}"},
          {"{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v)", "{\"b\":2}"},
          {"['x', 'y'].transformMapEntry(i, v, {v: i})", "{\"x\":0,\"y\":1}"},
          {"['x', 'x'].transformMapEntry(i, v, {v: i})",
           "error: insert failed: key x already exists"},
          {"[3, 1, 2].sortBy(x, -x)", "[3,2,1]"}});
}

TEST(CelLanguage, Optionals) {
  Expect({{"optional.of(1)", "optional(1)"},
          {"optional.none().orValue(3)", "3"},
          {"optional.of(1).or(optional.of(2)).value()", "1"},
          {"optional.none().value()", "error: optional.none() dereference"},
          {"optional.ofNonZeroValue(0).hasValue()", "false"},
          {"optional.ofNonZeroValue('a').hasValue()", "true"},
          {"{'a': 1}.?a", "optional(1)"},
          {"{'a': 1}.?b", "none"},
          {"{'a': 1}[?'b']", "none"},
          {"[1, 2][?1]", "optional(2)"},
          {"[1, 2][?5]", "none"},
          {"{'a': {'b': 1}}.?a.b", "optional(1)"},
          {"{'a': {'b': 1}}.?a.?c.orValue(7)", "7"},
          {"{'a': {'b': 1}}.?x.b", "none"},
          {"optional.of(2).optMap(x, x + 1)", "optional(3)"},
          {"optional.none().optMap(x, x + 1)", "none"},
          {"optional.of(2).optFlatMap(x, optional.of(x * 2))", "optional(4)"},
          {"[?optional.of(1), ?optional.none(), 3]", "[1,3]"},
          {"{?'a': optional.of(1), ?'b': optional.none()}", "{\"a\":1}"},
          {"optional.unwrap([optional.of(1), optional.none()])", "[1]"},
          {"[1, 2].first()", "optional(1)"},
          {"[1, 2].last()", "optional(2)"}});
}

TEST(CelLanguage, TypesAndConversions) {
  Expect({{"type(1)", "type int"},
          {"type(1) == int", "true"},
          {"type('a') == string", "true"},
          {"type(type(1)) == type", "true"},
          {"type(null) == null_type", "true"},
          {"type([]) == list", "true"},
          {"type(duration('1s')) == google.protobuf.Duration", "true"},
          {"int('42')", "42"},
          {"int('x')", "error: type conversion error from 'string' to 'int'"},
          {"int(4.9)", "4"},
          {"int(1e40)", "error: integer overflow"},
          {"int(timestamp('1970-01-01T00:01:00Z'))", "60"},
          {"uint(-1)", "error: unsigned integer overflow"},
          {"uint('7')", "7u"},
          {"double('1.5')", "1.5"},
          {"double(3)", "3"},
          {"bool('true')", "true"},
          {"string(1)", "\"1\""},
          {"string(1.5)", "\"1.5\""},
          {"string(true)", "\"true\""},
          {"string(b'abc')", "\"abc\""},
          {"string(b'\\xff')", "error: invalid UTF-8 in bytes, cannot convert to string"},
          {"string(timestamp('2020-01-02T03:04:05.5Z'))", "\"2020-01-02T03:04:05.5Z\""},
          {"string(duration('1h1s'))", "\"3601s\""},
          {"bytes('\u00e9').size()", "2"},
          {"size('\u00e9')", "1"}});
}

TEST(CelLanguage, TextLiterals) {
  Expect({{R"('a\'b')", "\"a'b\""},
          {R"("\u00e9" == "é")", "true"},
          {R"('\x41\101')", "\"AA\""},
          {R"(r'\d')", R"("\\d")"},
          {R"('''a'b''')", "\"a'b\""},
          {R"(b'\x00\xff'.size())", "2"},
          {"1 + // comment\n 2", "3"}});
}

TEST(CelLanguage, SyntaxErrorsNameTheirPlace) {
  Expect({{"1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', "
                  "'{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, "
                  "NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^"},
          {"a b", "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n | a "
                  "b\n | ..^"},
          {"object.f(", "ERROR: <input>:1:10: Syntax error: mismatched input "
                  "'<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', "
                  "NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object.f(\n | "
                  ".........^"},
          {"'abc", "ERROR: <input>:1:1: Syntax error: token recognition error at: ''abc'\n | "
                   "'abc\n | ^\nERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' "
                   "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, "
                   "NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 'abc\n | ....^"},
          {"while", "ERROR: <input>:1:1: reserved identifier: while\n | while\n | ^"},
          {"99999999999999999999", "ERROR: <input>:1:1: invalid int literal\n | "
                                   "99999999999999999999\n | ^"},
          {"has(1)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(1)\n | ....^"},
          {"[1].all(1, true)", "ERROR: <input>:1:9: argument must be a simple name\n | "
                               "[1].all(1, true)\n | ........^"}});
}

TEST(CelLanguage, TypeErrorsNameTheirPlace) {
  Expect({{"nope", "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | "
                   "nope\n | ^"},
          {"1 + 'a'", "ERROR: <input>:1:3: found no matching overload for '_+_' applied to "
                      "'(int, string)'\n | 1 + 'a'\n | ..^"},
          {"'a'.size(1)", "ERROR: <input>:1:9: found no matching overload for 'size' applied to "
                          "'string.(int)'\n | 'a'.size(1)\n | ........^"},
          {"1 && true", "ERROR: <input>:1:1: expected type 'bool' but found 'int'\n | 1 && true\n "
                        "| ^"},
          {"[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n "
                       "| ....^"},
          {"[1, dyn(1)]", "ERROR: <input>:1:8: expected type 'int' but found 'dyn'\n | [1, dyn(1)]\n "
                          "| .......^"},
          {"[null, 1]", "ERROR: <input>:1:8: expected type 'null' but found 'int'\n | [null, 1]\n "
                        "| .......^"},
          {"{'a': 1, 'b': dyn(2)}", "ERROR: <input>:1:18: expected type 'int' but found 'dyn'\n | {'a': 1, "
                                    "'b': dyn(2)}\n | .................^"},
          {"[{'a': dyn(1)}, {'a': 2}]", "ERROR: <input>:1:17: expected type 'map(string, dyn)' but found "
                                        "'map(string, int)'\n | [{'a': dyn(1)}, {'a': 2}]\n | "
                                        "................^"},
          {"'a'.b", "ERROR: <input>:1:4: type 'string' does not support field selection\n | "
                    "'a'.b\n | ...^"},
          {"1.all(x, true)", "ERROR: <input>:1:1: expression of type 'int' cannot be range of a "
                             "comprehension (must be list, map, or dynamic)\n | 1.all(x, true)\n "
                             "| ^"},
          {"object.\nfoo.bar(1, nope)",
           "ERROR: <input>:2:8: undeclared reference to 'bar' (in container '')\n | foo.bar(1, "
           "nope)\n | .......^\nERROR: <input>:2:12: undeclared reference to 'nope' (in container "
           "'')\n | foo.bar(1, nope)\n | ...........^"},
          {"'x'.matches('(')", "ERROR: <input>:1:13: invalid matches argument\n | "
                               "'x'.matches('(')\n | ............^"},
          {"duration('1x')", "ERROR: <input>:1:10: invalid duration argument\n | "
                             "duration('1x')\n | .........^"}});
}

TEST(CelLanguage, ReadsJsonInPlace) {
  const Json object = {{"spec", {{"replicas", 3}, {"ratio", 0.5}, {"names", {"a", "b"}}}},
                       {"labels", {{"a-b", "x"}}},
                       {"none", nullptr}};
  EXPECT_EQ(Eval("object.spec.replicas > 2", object), "true");
  EXPECT_EQ(Eval("object.spec.names[1]", object), "\"b\"");
  EXPECT_EQ(Eval("object.spec.names[2]", object), "error: index out of bounds: 2");
  EXPECT_EQ(Eval("object.labels['a-b']", object), "\"x\"");
  EXPECT_EQ(Eval("object.spec.missing", object), "error: no such key: missing");
  EXPECT_EQ(Eval("has(object.spec.missing)", object), "false");
  EXPECT_EQ(Eval("object.spec.names.map(n, n + '!')", object), "[\"a!\",\"b!\"]");
  EXPECT_EQ(Eval("object.spec.ratio * 2.0", object), "1");
  EXPECT_EQ(Eval("object.none == null", object), "true");
  EXPECT_EQ(Eval("object.spec.replicas.foo", object), "error: no such overload");
  EXPECT_EQ(Eval("object.spec.replicas + 'a'", object), "error: no such overload");
}

TEST(CelLanguage, StopsAtItsCostLimit) {
  const std::string loop = "lists.range(1000).map(x, lists.range(1000).map(y, x * y)).size() > 0";
  EXPECT_EQ(Eval(loop), "error: operation cancelled: actual cost limit exceeded");
}

// `body` with names a0, a1, ... for the first value and those made from it, one by one.
std::string Chain(const std::string& first, int steps,
                  const std::function<std::string(const std::string& last)>& step,
                  const std::string& body) {
  std::string head = "optional.of(" + first + ").optMap(a0, ", tail = ").value()";
  for (int i = 1; i <= steps; ++i) {
    head += "optional.of(" + step("a" + std::to_string(i - 1)) + ").optMap(a" +
            std::to_string(i) + ", ";
    tail += ").value()";
  }
  return head + body + tail;
}

TEST(CelLanguage, StopsAtItsMemoryLimit) {
  const std::string bomb = Chain(
      "'xxxxxxxxxxxxxxxx'", 30,
      [](const std::string& last) { return last + ".replace('x', " + last + ")"; }, "a30.size()");
  EXPECT_EQ(Eval(bomb), "error: operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(Eval("lists.range(1000000000000).size()"),
            "error: operation cancelled: actual cost limit exceeded");
}

// Values that double with every step take little room but are endless to walk through.
TEST(CelLanguage, BoundsItsWalks) {
  auto twice = [](const std::string& body) {
    return Chain("[1]", 30,
                 [](const std::string& last) { return "[dyn(" + last + "), dyn(" + last + ")]"; }, body);
  };
  for (const char* walk : {"a30 == a30", "a30 in [a30]", "'%s'.format([a30]) == ''",
                           "a30.flatten(100).size() > 0", "sets.contains([a30], [a30])",
                           "[a30].indexOf(a30) == 0"}) {
    EXPECT_EQ(Eval(twice(walk)), "error: operation cancelled: actual cost limit exceeded") << walk;
  }
  EXPECT_EQ(Eval(twice("a30")), "?the value is too large");
}

// Types that double with every step, known and inferred.
TEST(CelLanguage, BoundsItsTypes) {
  for (const char* start : {"1", "[]", "{}"}) {
    const std::string bomb = Chain(
        start, 30,
        [](const std::string& last) { return "[{'k': " + last + "}, {'k': " + last + "}]"; },
        "size(a30) == 2");
    EXPECT_EQ(Eval(bomb), "true") << start;
    const std::string keys = Chain(
        start, 30, [](const std::string& last) { return "{" + last + ": " + last + "}"; },
        "a30 == a29");
    EXPECT_FALSE(Eval(keys).empty()) << start;
  }
}

// Kubernetes does not have this macro of CEL's extensions.
TEST(CelLanguage, BindsByOptionalsOnly) {
  EXPECT_NE(Eval("cel.bind(x, 2, x * x)").find("undeclared reference to 'cel'"), std::string::npos);
  EXPECT_EQ(Eval("optional.of(2).optMap(x, x * x).value()"), "4");
}

// Names of types are paths in a definition, which are of any length.
TEST(CelLanguage, ShowsTypesUpToABound) {
  const std::string name(1'000'000, 'n');
  Environment env;
  env.variables = {{"self", MakeList(MakeObject(name, {{"a", "a", Simple(Kind::kInt)}}))}};
  for (const char* text : {"self.a", "self == 1", "size(self, self, self)", "[self, self] == 1",
                           "self[0].map(x, x)", "[self, self, self, self, self, self].all(x, x)"}) {
    const auto program = Compile(text, env);
    ASSERT_FALSE(program.ok()) << text;
    EXPECT_LT(program.error().message().size(), 10'000u) << text;
    EXPECT_NE(program.error().message().find("nnnn..."), std::string::npos) << text;
  }
  const auto failing = Compile("string(dyn(self[0]))", env);
  ASSERT_TRUE(failing.ok());
  const Json self = Json::array({{{"a", 1}}});
  const auto value = Value::FromJson(self, env.variables[0].type.get());
  EXPECT_LT(Show((*failing)->Run(std::vector{value}, limits::kCelCallCost).value).size(), 10'000u);
}

TEST(CelLanguage, BoundsItsDepth) {
  EXPECT_NE(Eval(std::string(300, '(') + "1" + std::string(300, ')')).find("recursion limit"),
            std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 400; ++i) sum += "+1";
  EXPECT_NE(Eval(sum).find("recursion limit"), std::string::npos);
  std::string either = "true";
  for (int i = 0; i < 1000; ++i) either += " && true";
  EXPECT_EQ(Eval(either), "true");
  EXPECT_NE(Eval(std::string(100'001, ' ')).find("exceeds limit"), std::string::npos);
  std::string nested = "1";
  for (int i = 0; i < 200; ++i) {
    std::string chain = "(" + nested + ")";
    for (int j = 0; j < 100; ++j) chain += "+1";
    nested = std::move(chain);
    if (nested.size() > 50'000) break;
  }
  EXPECT_NE(Eval(nested).find("recursion limit"), std::string::npos);
}

}  // namespace
}  // namespace mailroom::cel
