// Arithmetic, relations, membership, indexing and size.
#include <cmath>

#include "openapi/cel/library.h"
#include "openapi/cel/wide.h"

namespace mailroom::cel {
namespace {

Value IntOverflow() { return Value::Error("integer overflow"); }
Value UintOverflow() { return Value::Error("unsigned integer overflow"); }
Value DurationOverflow() { return Value::Error("duration overflow"); }

Value AddInt(Meter&, Args a) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a[0].integer(), a[1].integer(), &out)) return IntOverflow();
  return Value::Int(out);
}
Value SubtractInt(Meter&, Args a) {
  std::int64_t out = 0;
  if (__builtin_sub_overflow(a[0].integer(), a[1].integer(), &out)) return IntOverflow();
  return Value::Int(out);
}
Value MultiplyInt(Meter&, Args a) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a[0].integer(), a[1].integer(), &out)) return IntOverflow();
  return Value::Int(out);
}
Value DivideInt(Meter&, Args a) {
  if (a[1].integer() == 0) return Value::Error("division by zero");
  if (a[0].integer() == INT64_MIN && a[1].integer() == -1) return IntOverflow();
  return Value::Int(a[0].integer() / a[1].integer());
}
Value ModuloInt(Meter&, Args a) {
  if (a[1].integer() == 0) return Value::Error("modulus by zero");
  if (a[0].integer() == INT64_MIN && a[1].integer() == -1) return IntOverflow();
  return Value::Int(a[0].integer() % a[1].integer());
}
Value NegateInt(Meter&, Args a) {
  if (a[0].integer() == INT64_MIN) return IntOverflow();
  return Value::Int(-a[0].integer());
}

Value AddUint(Meter&, Args a) {
  std::uint64_t out = 0;
  if (__builtin_add_overflow(a[0].natural(), a[1].natural(), &out)) return UintOverflow();
  return Value::Uint(out);
}
Value SubtractUint(Meter&, Args a) {
  std::uint64_t out = 0;
  if (__builtin_sub_overflow(a[0].natural(), a[1].natural(), &out)) return UintOverflow();
  return Value::Uint(out);
}
Value MultiplyUint(Meter&, Args a) {
  std::uint64_t out = 0;
  if (__builtin_mul_overflow(a[0].natural(), a[1].natural(), &out)) return UintOverflow();
  return Value::Uint(out);
}
Value DivideUint(Meter&, Args a) {
  if (a[1].natural() == 0) return Value::Error("division by zero");
  return Value::Uint(a[0].natural() / a[1].natural());
}
Value ModuloUint(Meter&, Args a) {
  if (a[1].natural() == 0) return Value::Error("modulus by zero");
  return Value::Uint(a[0].natural() % a[1].natural());
}

Value AddDouble(Meter&, Args a) { return Value::Double(a[0].real() + a[1].real()); }
Value SubtractDouble(Meter&, Args a) { return Value::Double(a[0].real() - a[1].real()); }
Value MultiplyDouble(Meter&, Args a) { return Value::Double(a[0].real() * a[1].real()); }
Value DivideDouble(Meter&, Args a) { return Value::Double(a[0].real() / a[1].real()); }
Value NegateDouble(Meter&, Args a) { return Value::Double(-a[0].real()); }

Value AddDuration(Meter&, Args a) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a[0].nanos(), a[1].nanos(), &out)) return DurationOverflow();
  return Value::Duration(out);
}
Value SubtractDuration(Meter&, Args a) {
  std::int64_t out = 0;
  if (__builtin_sub_overflow(a[0].nanos(), a[1].nanos(), &out)) return DurationOverflow();
  return Value::Duration(out);
}
Value Shift(Moment moment, Wide nanos) {
  const Wide total =
      static_cast<Wide>(moment.seconds) * 1'000'000'000 + moment.nanos + nanos;
  Wide seconds = total / 1'000'000'000;
  auto rest = static_cast<std::int32_t>(total % 1'000'000'000);
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  return Value::Timestamp({static_cast<std::int64_t>(seconds), rest});
}
Value AddMoment(Meter&, Args a) { return Shift(a[0].moment(), a[1].nanos()); }
Value AddToMoment(Meter&, Args a) { return Shift(a[1].moment(), a[0].nanos()); }
Value SubtractFromMoment(Meter&, Args a) {
  return Shift(a[0].moment(), -static_cast<Wide>(a[1].nanos()));
}
Value SubtractMoments(Meter&, Args a) {
  const Moment left = a[0].moment(), right = a[1].moment();
  const Wide nanos =
      (static_cast<Wide>(left.seconds) - right.seconds) * 1'000'000'000 + left.nanos -
      right.nanos;
  if (nanos > INT64_MAX || nanos < INT64_MIN) return DurationOverflow();
  return Value::Duration(static_cast<std::int64_t>(nanos));
}

Value AddText(Meter& meter, Args a) {
  if (!meter.Allocate(a[0].text().size() + a[1].text().size())) return {};
  std::string text(a[0].text());
  text += a[1].text();
  return a[0].is(Kind::kString) ? Value::String(std::move(text)) : Value::Bytes(std::move(text));
}
std::uint64_t PriceOfAddText(Args a, const Value&) {
  return Scaled(SizeOf(a[0]) + SizeOf(a[1]), 0.1);
}

// What makes two elements of a set or map list the same.
Value Identity(const Value& item, const Type& list) {
  if (list.order == ListOrder::kSet) return item;
  std::vector<Value> parts;
  for (const std::string& key : list.keys) {
    Value part;
    item.LookupField(Escape(key), part);
    parts.push_back(std::move(part));
  }
  return Value::List(std::move(parts));
}

// Lists of type set are united, those of type map merged by key.
Value AddLists(Meter& meter, Args a) {
  const auto total = static_cast<std::size_t>(a[0].size() + a[1].size());
  if (!meter.Allocate(total * sizeof(Value))) return {};
  std::vector<Value> items;
  items.reserve(total);
  for (std::int64_t i = 0; i < a[0].size(); ++i) items.push_back(a[0].At(i));
  const Type* shape = a[0].shape();
  if (shape == nullptr || shape->order == ListOrder::kAtomic) {
    for (std::int64_t i = 0; i < a[1].size(); ++i) items.push_back(a[1].At(i));
    return Value::List(std::move(items));
  }
  std::vector<Value> identities;
  for (const Value& item : items) identities.push_back(Identity(item, *shape));
  for (std::int64_t i = 0; i < a[1].size(); ++i) {
    Value item = a[1].At(i);
    const Value identity = Identity(item, *shape);
    std::size_t at = 0;
    meter.Spend(Scaled(identities.size(), 0.1));
    if (meter.exceeded()) return {};
    while (at < identities.size() && !Equal(identities[at], identity)) ++at;
    if (at == identities.size()) {
      identities.push_back(identity);
      items.push_back(std::move(item));
    } else if (shape->order == ListOrder::kMap) {
      items[at] = std::move(item);
    }
  }
  return Value::List(std::move(items));
}

Value Less(Meter&, Args a) {
  const int order = Compare(a[0], a[1]);
  if (order == 2) return Value::Error("NaN values cannot be ordered");
  return order == 3 ? NoOverload() : Value::Bool(order < 0);
}
Value LessEqual(Meter&, Args a) {
  const int order = Compare(a[0], a[1]);
  if (order == 2) return Value::Error("NaN values cannot be ordered");
  return order == 3 ? NoOverload() : Value::Bool(order <= 0);
}
Value Greater(Meter&, Args a) {
  const int order = Compare(a[0], a[1]);
  if (order == 2) return Value::Error("NaN values cannot be ordered");
  return order == 3 ? NoOverload() : Value::Bool(order > 0);
}
Value GreaterEqual(Meter&, Args a) {
  const int order = Compare(a[0], a[1]);
  if (order == 2) return Value::Error("NaN values cannot be ordered");
  return order == 3 ? NoOverload() : Value::Bool(order >= 0);
}

std::uint64_t PriceOfEquals(Args a, const Value&) {
  if (a[0].is(Kind::kOpaque)) return 1;
  return Scaled(std::min(SizeOf(a[0]), SizeOf(a[1])), 0.1);
}
std::uint64_t PriceOfOrder(Args a, const Value&) {
  if (!a[0].is(Kind::kString) && !a[0].is(Kind::kBytes)) return 1;
  return Scaled(std::min(SizeOf(a[0]), SizeOf(a[1])), 0.1);
}

Value Same(Meter& meter, Args a) {
  Steps steps;
  const bool same = Equal(a[0], a[1], steps);
  if (steps.exhausted()) meter.Stop();
  return Value::Bool(same);
}
Value Differ(Meter& meter, Args a) { return Value::Bool(!Same(meter, a).truth()); }
Value Not(Meter&, Args a) { return Value::Bool(!a[0].truth()); }

Value IndexList(Meter&, Args a) {
  if (a[1].integer() < 0 || a[1].integer() >= a[0].size()) {
    return Value::Error("index out of bounds: " + std::to_string(a[1].integer()));
  }
  return a[0].At(a[1].integer());
}
std::string KeyText(const Value& key) {
  switch (key.kind()) {
    case Kind::kString: return std::string(key.text());
    case Kind::kInt: return std::to_string(key.integer());
    case Kind::kUint: return std::to_string(key.natural());
    case Kind::kBool: return key.truth() ? "true" : "false";
    case Kind::kDouble: return FormatDouble(key.real());
    default: return key.TypeName();
  }
}
Value IndexMap(Meter&, Args a) {
  Value out;
  if (!a[0].Lookup(a[1], out)) return Value::Error("no such key: " + KeyText(a[1]));
  return out;
}
Value InList(Meter& meter, Args a) {
  Steps steps;
  for (std::int64_t i = 0; i < a[1].size() && !steps.exhausted(); ++i) {
    if (Equal(a[0], a[1].At(i), steps)) return Value::Bool(true);
  }
  if (steps.exhausted()) meter.Stop();
  return Value::Bool(false);
}
std::uint64_t PriceOfInList(Args a, const Value&) { return SizeOf(a[1]); }
Value InMap(Meter&, Args a) {
  Value out;
  return Value::Bool(a[1].Lookup(a[0], out));
}
Value Size(Meter&, Args a) { return Value::Int(a[0].size()); }

constexpr Row kRows[] = {
    {"!_", "(bool) bool", Not},
    {"_==_", "(A, A) bool", Same, PriceOfEquals},
    {"_!=_", "(A, A) bool", Differ, PriceOfEquals},
    {"_+_", "(bytes, bytes) bytes", AddText, PriceOfAddText},
    {"_+_", "(double, double) double", AddDouble},
    {"_+_", "(duration, duration) duration", AddDuration},
    {"_+_", "(duration, timestamp) timestamp", AddToMoment},
    {"_+_", "(timestamp, duration) timestamp", AddMoment},
    {"_+_", "(int, int) int", AddInt},
    {"_+_", "(list<A>, list<A>) list<A>", AddLists},
    {"_+_", "(string, string) string", AddText, PriceOfAddText},
    {"_+_", "(uint, uint) uint", AddUint},
    {"_/_", "(double, double) double", DivideDouble},
    {"_/_", "(int, int) int", DivideInt},
    {"_/_", "(uint, uint) uint", DivideUint},
    {"_%_", "(int, int) int", ModuloInt},
    {"_%_", "(uint, uint) uint", ModuloUint},
    {"_*_", "(double, double) double", MultiplyDouble},
    {"_*_", "(int, int) int", MultiplyInt},
    {"_*_", "(uint, uint) uint", MultiplyUint},
    {"-_", "(double) double", NegateDouble},
    {"-_", "(int) int", NegateInt},
    {"_-_", "(double, double) double", SubtractDouble},
    {"_-_", "(duration, duration) duration", SubtractDuration},
    {"_-_", "(int, int) int", SubtractInt},
    {"_-_", "(timestamp, duration) timestamp", SubtractFromMoment},
    {"_-_", "(timestamp, timestamp) duration", SubtractMoments},
    {"_-_", "(uint, uint) uint", SubtractUint},
    {"_[_]", "(list<A>, int) A", IndexList},
    {"_[_]", "(map<A,B>, A) B", IndexMap},
    {"@in", "(A, list<A>) bool", InList, PriceOfInList},
    {"@in", "(A, map<A,B>) bool", InMap},
    {"size", "(bytes) int", Size},
    {"size", "bytes.() int", Size},
    {"size", "(list<A>) int", Size},
    {"size", "list<A>.() int", Size},
    {"size", "(map<A,B>) int", Size},
    {"size", "map<A,B>.() int", Size},
    {"size", "(string) int", Size},
    {"size", "string.() int", Size},
};

constexpr const char* kOrdered[] = {
    "(bool, bool) bool",     "(int, int) bool",      "(int, double) bool",
    "(int, uint) bool",      "(uint, uint) bool",    "(uint, double) bool",
    "(uint, int) bool",      "(double, double) bool", "(double, int) bool",
    "(double, uint) bool",   "(string, string) bool", "(bytes, bytes) bool",
    "(timestamp, timestamp) bool", "(duration, duration) bool"};

}  // namespace

std::span<const Row> OperatorRows() {
  static const auto* kAll = [] {
    auto* rows = new std::vector<Row>(std::begin(kRows), std::end(kRows));
    for (const char* form : kOrdered) {
      rows->push_back({"_<_", form, Less, PriceOfOrder});
      rows->push_back({"_<=_", form, LessEqual, PriceOfOrder});
      rows->push_back({"_>_", form, Greater, PriceOfOrder});
      rows->push_back({"_>=_", form, GreaterEqual, PriceOfOrder});
    }
    return rows;
  }();
  return *kAll;
}

}  // namespace mailroom::cel
