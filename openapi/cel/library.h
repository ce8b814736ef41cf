// The functions of CEL as Kubernetes has them. A function is a name with overloads; which one a
// call means is narrowed by types when checking and decided by values when evaluating.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/cel/type.h"
#include "openapi/cel/value.h"

namespace mailroom::cel {

// What one evaluation has used, against what it may use.
class Meter {
 public:
  Meter(std::uint64_t cost_limit, std::size_t byte_limit)
      : cost_limit_(cost_limit), byte_limit_(byte_limit) {}
  void Spend(std::uint64_t cost) {
    cost_ += cost;
    exceeded_ |= cost_ > cost_limit_;
  }
  // Memory that a function is about to fill. False: it must not.
  bool Allocate(std::size_t bytes) {
    bytes_ += bytes;
    exceeded_ |= bytes_ > byte_limit_ || bytes > byte_limit_;
    return !exceeded_;
  }
  // Something cannot be bounded otherwise.
  void Stop() { exceeded_ = true; }
  bool exceeded() const { return exceeded_; }
  std::uint64_t cost() const { return cost_; }

 private:
  std::uint64_t cost_limit_;
  std::size_t byte_limit_;
  std::uint64_t cost_ = 0;
  std::size_t bytes_ = 0;
  bool exceeded_ = false;
};

using Args = std::span<const Value>;
using Run = Value (*)(Meter& meter, Args args);
// The cost of a call whose arguments and result are known.
using Price = std::uint64_t (*)(Args args, const Value& result);

struct Overload {
  std::string name;
  bool member = false;
  std::vector<TypePtr> params;  // the receiver first
  TypePtr result;
  Run run = nullptr;
  Price price = nullptr;  // null: 1
};

// A row of a library's table. `form` is `(int, string) bool` or, with a receiver,
// `string.(int) string`; A, B and so on are type variables.
struct Row {
  const char* name;
  const char* form;
  Run run;
  Price price = nullptr;
};

class Library {
 public:
  // Everything, built once.
  static const Library& Get();

  // Overloads of a name in order of declaration; empty when there is no such function.
  std::span<const Overload* const> Find(std::string_view name) const;
  // A type by its name in expressions (`int`, `net.IP`); null when there is none.
  TypePtr FindType(std::string_view name) const;

  void Add(std::span<const Row> rows);

 private:
  std::vector<std::unique_ptr<Overload>> overloads_;
  absl::btree_map<std::string, std::vector<const Overload*>, std::less<>> by_name_;
};

// Tables, one per file.
std::span<const Row> OperatorRows();
std::span<const Row> ConversionRows();
std::span<const Row> TimeRows();
std::span<const Row> StringRows();
std::span<const Row> RegexRows();
std::span<const Row> FormatRows();
std::span<const Row> ListRows();
std::span<const Row> OptionalRows();
std::span<const Row> QuantityRows();
std::span<const Row> UrlRows();
std::span<const Row> AddressRows();
std::span<const Row> SemverRows();
std::span<const Row> NamedFormatRows();
std::span<const Row> AuthorizerRows();

// Prices. Size is 1 for what has none.
std::uint64_t SizeOf(const Value& value);
std::uint64_t Scaled(std::uint64_t size, double factor);  // rounded up
std::uint64_t TraverseFirst(Args args, const Value& result);  // a tenth of the first argument
std::uint64_t TraverseTwice(Args args, const Value& result);
std::uint64_t PriceOfRegex(Args args, const Value& result);

Value NoOverload();
// `'text'` matches somewhere. An error value when the pattern is bad.
Value Matches(std::string_view text, std::string_view pattern);
// Why the pattern is bad; "" when it is good.
std::string PatternError(std::string_view pattern);

}  // namespace mailroom::cel
