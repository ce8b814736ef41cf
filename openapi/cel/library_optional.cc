// Optional values, and what comprehensions over maps need.
#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

Value Of(Meter&, Args a) { return Value::Optional(a[0]); }
Value OfNonZero(Meter&, Args a) { return IsZero(a[0]) ? Value::None() : Value::Optional(a[0]); }
Value None(Meter&, Args) { return Value::None(); }
Value Get(Meter&, Args a) {
  return a[0].has_value() ? a[0].unwrap() : Value::Error("optional.none() dereference");
}
Value HasValue(Meter&, Args a) { return Value::Bool(a[0].has_value()); }
Value Or(Meter&, Args a) { return a[0].has_value() ? a[0] : a[1]; }
Value OrValue(Meter&, Args a) { return a[0].has_value() ? a[0].unwrap() : a[1]; }

Value IndexOptional(Meter&, Args a) {
  Value target = a[0];
  if (target.is(Kind::kOptional)) {
    if (!target.has_value()) return target;
    target = target.unwrap();
  }
  if (target.is(Kind::kList)) {
    if (!a[1].is(Kind::kInt)) return NoOverload();
    if (a[1].integer() < 0 || a[1].integer() >= target.size()) return Value::None();
    return Value::Optional(target.At(a[1].integer()));
  }
  if (!target.is(Kind::kMap) && !target.is(Kind::kObject)) return NoOverload();
  Value found;
  return target.Lookup(a[1], found) ? Value::Optional(std::move(found)) : Value::None();
}

Value First(Meter&, Args a) {
  return a[0].size() == 0 ? Value::None() : Value::Optional(a[0].At(0));
}
Value Last(Meter&, Args a) {
  return a[0].size() == 0 ? Value::None() : Value::Optional(a[0].At(a[0].size() - 1));
}
Value Unwrap(Meter& meter, Args a) {
  std::vector<Value> items;
  if (!meter.Allocate(static_cast<std::size_t>(a[0].size()) * sizeof(Value))) return {};
  for (std::int64_t i = 0; i < a[0].size(); ++i) {
    const Value item = a[0].At(i);
    if (!item.is(Kind::kOptional)) {
      return Value::Error("value " + item.TypeName() + " is not optional");
    }
    if (item.has_value()) items.push_back(item.unwrap());
  }
  return Value::List(std::move(items));
}

Value Insert(Meter& meter, const Value& map, const std::vector<std::pair<Value, Value>>& added) {
  // The whole map is copied; what it costs is charged, so a loop of these ends.
  const auto size = static_cast<std::size_t>(map.size());
  if (!meter.Allocate(added.size() * 2 * sizeof(Value))) return {};
  meter.Spend(Scaled(size, 0.1));
  if (meter.exceeded()) return {};
  Entries entries;
  for (Value& key : map.Keys()) {
    Value value;
    map.Lookup(key, value);
    entries.emplace_hint(entries.end(), std::move(key), std::move(value));
  }
  for (const auto& [key, value] : added) {
    if (!entries.emplace(key, value).second) {
      return Value::Error("insert failed: key " +
                          std::string(key.is(Kind::kString) ? key.text() : key.TypeName()) +
                          " already exists");
    }
  }
  return Value::Map(std::move(entries));
}
Value InsertKey(Meter& meter, Args a) { return Insert(meter, a[0], {{a[1], a[2]}}); }
Value InsertMap(Meter& meter, Args a) {
  std::vector<std::pair<Value, Value>> added;
  for (const Value& key : a[1].Keys()) {
    Value value;
    a[1].Lookup(key, value);
    added.emplace_back(key, std::move(value));
  }
  return Insert(meter, a[0], added);
}

constexpr Row kRows[] = {
    {"optional.of", "(A) optional<A>", Of},
    {"optional.ofNonZeroValue", "(A) optional<A>", OfNonZero},
    {"optional.none", "() optional<A>", None},
    {"value", "optional<A>.() A", Get},
    {"hasValue", "optional<A>.() bool", HasValue},
    {"or", "optional<A>.(optional<A>) optional<A>", Or},
    {"orValue", "optional<A>.(A) A", OrValue},
    {"_[?_]", "(list<A>, int) optional<A>", IndexOptional},
    {"_[?_]", "(optional<list<A>>, int) optional<A>", IndexOptional},
    {"_[?_]", "(map<A,B>, A) optional<B>", IndexOptional},
    {"_[?_]", "(optional<map<A,B>>, A) optional<B>", IndexOptional},
    {"_[_]", "(optional<list<A>>, int) optional<A>", IndexOptional},
    {"_[_]", "(optional<map<A,B>>, A) optional<B>", IndexOptional},
    {"first", "list<A>.() optional<A>", First},
    {"last", "list<A>.() optional<A>", Last},
    {"optional.unwrap", "(list<optional<A>>) list<A>", Unwrap},
    {"unwrapOpt", "list<optional<A>>.() list<A>", Unwrap},
    {"cel.@mapInsert", "(map<A,B>, A, B) map<A,B>", InsertKey},
    {"cel.@mapInsert", "(map<A,B>, map<A,B>) map<A,B>", InsertMap},
};

}  // namespace

std::span<const Row> OptionalRows() { return kRows; }

}  // namespace mailroom::cel
