// For tests: evaluating an expression and showing the result.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "openapi/cel/program.h"
#include "storage/object/json.h"
#include "storage/object/limits.h"

namespace mailroom::cel {

inline std::string Show(const Value& value) {
  if (value.is_error()) return "error: " + std::string(value.text());
  if (value.is(Kind::kType)) return "type " + std::string(value.text());
  if (value.is(Kind::kUint)) return std::to_string(value.natural()) + "u";
  if (value.is(Kind::kDouble)) return FormatDouble(value.real());
  if (value.is(Kind::kOptional) && !value.has_value()) return "none";
  if (value.is(Kind::kOptional)) return "optional(" + Show(value.unwrap()) + ")";
  Json tree;
  std::string error;
  return ToJson(value, tree, error) ? DumpJson(tree) : "?" + error;
}

inline std::string Eval(const std::string& text, const Json& object = nullptr) {
  Environment env;
  env.variables = {{"object", Simple(Kind::kDyn)}};
  auto program = Compile(text, env);
  if (!program.ok()) return program.error().message();
  return Show((*program)->Run(std::vector{Value::FromJson(object)}, limits::kCelCallCost).value);
}

struct Case {
  const char* text;
  const char* result;
};
inline void Expect(std::initializer_list<Case> cases) {
  for (const Case& row : cases) EXPECT_EQ(Eval(row.text), row.result) << row.text;
}

}  // namespace mailroom::cel
