// A value of CEL. Strings, lists and maps of JSON trees are seen in place: a Value made from JSON
// borrows the tree (and the type that shapes it) and must not outlive them. Errors are values,
// because && and || may absorb them. Cheap to copy; no thread may change what it refers to.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openapi/cel/type.h"
#include "storage/object/json_fwd.h"
#include "storage/object/limits.h"

namespace mailroom::cel {

class Value;

// A moment; nanos in [0, 1e9). Years 1 to 9999.
struct Moment {
  std::int64_t seconds = 0;  // since 1970, UTC
  std::int32_t nanos = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

// What a Value keeps alive.
struct Node {
  virtual ~Node() = default;
};

// A library's own kind of value.
struct Opaque : Node {
  virtual std::string_view type_name() const = 0;
  virtual bool Equals(const Opaque& other) const = 0;
};

// An object whose fields are computed: `variables`, `request`, constructed messages.
struct Record : Node {
  virtual std::string_view type_name() const = 0;
  // An Error value `no such key: <field>` when it is not there.
  virtual Value Get(std::string_view field) const = 0;
  virtual bool Has(std::string_view field) const = 0;
  // The names of the fields that are there.
  virtual std::vector<std::string> Fields() const = 0;
};

struct KeyLess {
  bool operator()(const Value& a, const Value& b) const;
};
using Entries = absl::btree_map<Value, Value, KeyLess>;

class Value {
 public:
  Value() = default;  // null

  static Value Bool(bool value);
  static Value Int(std::int64_t value);
  static Value Uint(std::uint64_t value);
  static Value Double(double value);
  static Value String(std::string text);
  static Value Borrowed(std::string_view text);  // a string that outlives the value
  static Value Bytes(std::string bytes);
  static Value Timestamp(Moment moment);  // an error when out of range
  static Value Duration(std::int64_t nanos);
  static Value List(std::vector<Value> items);
  static Value Map(Entries entries);
  static Value Optional(Value value);
  static Value None();
  static Value TypeNamed(std::string name);
  static Value Of(std::shared_ptr<const Opaque> node);
  static Value Of(std::shared_ptr<const Record> node);
  static Value Error(const std::string& message);  // past limits::kProblemValueBytes it is cut
  // `shape` null: by the JSON's own types. Both are borrowed.
  static Value FromJson(const Json& json, const Type* shape = nullptr);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_error() const { return kind_ == Kind::kError; }
  bool is_true() const { return kind_ == Kind::kBool && scalar_.truth; }
  bool is_number() const {
    return kind_ == Kind::kInt || kind_ == Kind::kUint || kind_ == Kind::kDouble;
  }

  // REQUIRES: the kind that the name says (text: string, bytes, type, error).
  bool truth() const { return scalar_.truth; }
  std::int64_t integer() const { return scalar_.integer; }
  std::uint64_t natural() const { return scalar_.natural; }
  double real() const { return scalar_.real; }
  std::string_view text() const { return text_; }
  Moment moment() const;
  std::int64_t nanos() const { return scalar_.integer; }  // of a duration

  // Characters of a string, bytes, elements, entries; -1 for other kinds.
  std::int64_t size() const;
  // Element of a list. REQUIRES: index < size().
  Value At(std::int64_t index) const;
  // Appends to a list, in place when nobody else holds it.
  void Append(Value item);
  // Entry of a map or field of an object by key. False when absent.
  bool Lookup(const Value& key, Value& out) const;
  bool LookupField(std::string_view field, Value& out) const;
  // Keys of a map (or fields of an object) in a stable order; at(i) of the values goes with them.
  std::vector<Value> Keys() const;

  bool has_value() const;  // of an optional
  Value unwrap() const;    // REQUIRES: has_value()
  const Opaque* opaque() const;
  const Record* record() const;
  const Json* json() const { return json_; }  // the tree a list, map or object is seen in
  const Type* shape() const { return shape_; }

  // The name that type(x) has.
  std::string TypeName() const;

 private:
  friend struct KeyLess;
  static Value Holding(Kind kind, std::shared_ptr<const Node> node);
  union Scalar {
    std::int64_t integer = 0;
    std::uint64_t natural;
    double real;
    bool truth;
  };
  Kind kind_ = Kind::kNull;
  std::int32_t fraction_ = 0;  // nanos of a moment
  Scalar scalar_;
  std::string_view text_;
  const Json* json_ = nullptr;
  const Type* shape_ = nullptr;
  std::shared_ptr<const Node> node_;
};

// Work that is left for one walk through a value.
struct Steps {
  std::size_t left = limits::kCelValueSteps;
  bool Take() { return left > 0 && --left > 0; }
  bool exhausted() const { return left == 0; }
};

// CEL equality: numbers by value across kinds, different kinds are unequal, lists of type set and
// map without order.
bool Equal(const Value& a, const Value& b);
// The same; false when the steps do not suffice.
bool Equal(const Value& a, const Value& b, Steps& steps);
// -1, 0, 1; 2 when the two have no order (NaN), 3 when their kinds have none.
int Compare(const Value& a, const Value& b);
// The value as a JSON tree; an error text when it has no such form.
bool ToJson(const Value& value, Json& out, std::string& error);
// Whether it is the zero value of its kind, as optional.ofNonZeroValue asks.
bool IsZero(const Value& value);

// Texts of moments and durations. ParseDuration takes Go's syntax (`1h30m`, `-1.5s`).
bool ParseMoment(std::string_view text, Moment& out);
std::string FormatMoment(Moment moment);
bool ParseDuration(std::string_view text, std::int64_t& nanos);
std::string FormatSeconds(std::int64_t nanos);  // `5400s`
std::string FormatDuration(std::int64_t nanos);  // `1h30m0s`
// As conversions to string print it: shortest digits that read back.
std::string FormatDouble(double value);
std::int64_t CountRunes(std::string_view text);

}  // namespace mailroom::cel
