// Evaluating a checked tree.
#pragma once

#include <span>
#include <vector>

#include "openapi/cel/ast.h"
#include "openapi/cel/library.h"

namespace mailroom::cel {

// `slots` holds the variables first and room for loop variables behind them.
Value Evaluate(const Expr& expr, std::vector<Value>& slots, Meter& meter);

// A constructed message: its fields by name.
struct Constructed : Record {
  std::string type;
  absl::btree_map<std::string, Value, std::less<>> fields;
  std::string_view type_name() const override { return type; }
  Value Get(std::string_view field) const override;
  bool Has(std::string_view field) const override { return fields.contains(field); }
  std::vector<std::string> Fields() const override;
};

}  // namespace mailroom::cel
