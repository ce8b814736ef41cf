// Lists and sets.
#include <algorithm>
#include <numeric>
#include <string>

#include "openapi/cel/library.h"

namespace mailroom::cel {
namespace {

// The cost of looking at everything in a value.
std::uint64_t Traversal(const Value& value, Steps& steps) {
  if (!steps.Take()) return UINT32_MAX;
  switch (value.kind()) {
    case Kind::kString:
    case Kind::kBytes: return static_cast<std::uint64_t>(static_cast<double>(SizeOf(value)) * 0.1);
    case Kind::kList: {
      std::uint64_t cost = 0;
      for (std::int64_t i = 0; i < value.size() && !steps.exhausted(); ++i) {
        cost += Traversal(value.At(i), steps);
      }
      return cost;
    }
    case Kind::kMap:
    case Kind::kObject: {
      std::uint64_t cost = 0;
      for (const Value& key : value.Keys()) {
        Value member;
        value.Lookup(key, member);
        cost += Traversal(key, steps) + Traversal(member, steps);
        if (steps.exhausted()) break;
      }
      return cost;
    }
    default: return 1;
  }
}
std::uint64_t PriceOfWalk(Args a, const Value&) {
  Steps steps;
  return Traversal(a[0], steps);
}
std::uint64_t PriceOfResult(Args, const Value& result) { return 11 + SizeOf(result); }
std::uint64_t PriceOfSort(Args a, const Value&) {
  const std::uint64_t size = SizeOf(a[0]);
  return 11 + size * size;
}
// Comparing everything with everything: spent while it runs, so nothing is left to add.
std::uint64_t Prepaid(Args, const Value&) { return 1; }

bool Reserve(Meter& meter, std::int64_t items) {
  return meter.Allocate(static_cast<std::size_t>(items) * sizeof(Value));
}

Value IsSorted(Meter&, Args a) {
  for (std::int64_t i = 1; i < a[0].size(); ++i) {
    const int order = Compare(a[0].At(i - 1), a[0].At(i));
    if (order == 3) return NoOverload();
    if (order == 1) return Value::Bool(false);
  }
  return Value::Bool(true);
}

template <Value (*Zero)()>
Value Sum(Meter& meter, Args a) {
  Value total = Zero();
  const auto adds = Library::Get().Find("_+_");
  for (std::int64_t i = 0; i < a[0].size(); ++i) {
    const Value pair[] = {total, a[0].At(i)};
    if (pair[1].kind() != total.kind()) return NoOverload();
    for (const Overload* add : adds) {
      if (add->params[0]->kind != total.kind() || add->params[1]->kind != total.kind()) continue;
      total = add->run(meter, Args(pair, 2));
      break;
    }
    if (total.is_error()) return total;
  }
  return total;
}
Value ZeroInt() { return Value::Int(0); }
Value ZeroUint() { return Value::Uint(0); }
Value ZeroDouble() { return Value::Double(0); }
Value ZeroDuration() { return Value::Duration(0); }

template <int Preferred>
Value Extreme(Meter&, Args a) {
  if (a[0].size() == 0) {
    return Value::Error(std::string(Preferred < 0 ? "min" : "max") + " called on empty list");
  }
  Value best = a[0].At(0);
  for (std::int64_t i = 1; i < a[0].size(); ++i) {
    Value next = a[0].At(i);
    const int order = Compare(next, best);
    if (order == 3) return NoOverload();
    if (order == Preferred) best = std::move(next);
  }
  return best;
}

Value IndexOf(Meter& meter, Args a) {
  Steps steps;
  for (std::int64_t i = 0; i < a[0].size() && !steps.exhausted(); ++i) {
    if (Equal(a[0].At(i), a[1], steps)) return Value::Int(i);
  }
  if (steps.exhausted()) meter.Stop();
  return Value::Int(-1);
}
Value LastIndexOf(Meter& meter, Args a) {
  Steps steps;
  for (std::int64_t i = a[0].size() - 1; i >= 0 && !steps.exhausted(); --i) {
    if (Equal(a[0].At(i), a[1], steps)) return Value::Int(i);
  }
  if (steps.exhausted()) meter.Stop();
  return Value::Int(-1);
}

Value Slice(Meter& meter, Args a) {
  const std::int64_t start = a[1].integer(), end = a[2].integer(), size = a[0].size();
  const std::string call =
      "cannot slice(" + std::to_string(start) + ", " + std::to_string(end) + "), ";
  if (start < 0 || end < 0) return Value::Error(call + "negative indexes not supported");
  if (start > end) {
    return Value::Error(call + "start index must be less than or equal to end index");
  }
  if (size < end) return Value::Error(call + "list is length " + std::to_string(size));
  if (!Reserve(meter, end - start)) return {};
  std::vector<Value> items;
  for (std::int64_t i = start; i < end; ++i) items.push_back(a[0].At(i));
  return Value::List(std::move(items));
}

bool FlattenInto(Meter& meter, const Value& list, std::int64_t depth, std::vector<Value>& out) {
  for (std::int64_t i = 0; i < list.size(); ++i) {
    meter.Spend(1);
    if (meter.exceeded()) return false;
    Value item = list.At(i);
    if (item.is(Kind::kList) && depth > 0) {
      if (!FlattenInto(meter, item, depth - 1, out)) return false;
      continue;
    }
    if (!Reserve(meter, 1)) return false;
    out.push_back(std::move(item));
  }
  return true;
}
Value FlattenBy(Meter& meter, const Value& list, std::int64_t depth) {
  if (depth < 0) return Value::Error("level must be non-negative");
  std::vector<Value> items;
  if (!FlattenInto(meter, list, depth, items)) return {};
  return Value::List(std::move(items));
}
Value Flatten(Meter& meter, Args a) { return FlattenBy(meter, a[0], 1); }
Value FlattenDeep(Meter& meter, Args a) { return FlattenBy(meter, a[0], a[1].integer()); }

Value SortBy(Meter& meter, Args a) {
  const Value& keys = a.back();
  const std::int64_t size = a[0].size();
  if (size != keys.size()) return Value::Error("keys and elements differ in number");
  if (!Reserve(meter, size * 2)) return {};
  std::vector<std::pair<Value, Value>> pairs;
  for (std::int64_t i = 0; i < size; ++i) pairs.emplace_back(keys.At(i), a[0].At(i));
  for (const auto& [key, item] : pairs) {
    if (Compare(key, key) == 3) return Value::Error("list elements must be comparable");
    if (key.kind() != pairs[0].first.kind()) {
      return Value::Error("list elements must have the same type");
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& left, const auto& right) {
    return Compare(left.first, right.first) == -1;
  });
  std::vector<Value> items;
  for (auto& [key, item] : pairs) items.push_back(std::move(item));
  return Value::List(std::move(items));
}

Value RangeOf(Meter& meter, Args a) {
  const std::int64_t size = std::max<std::int64_t>(a[0].integer(), 0);
  if (size > INT32_MAX || !Reserve(meter, size)) {
    meter.Allocate(SIZE_MAX / 2);
    return {};
  }
  std::vector<Value> items;
  for (std::int64_t i = 0; i < size; ++i) items.push_back(Value::Int(i));
  return Value::List(std::move(items));
}

Value Reverse(Meter& meter, Args a) {
  if (!Reserve(meter, a[0].size())) return {};
  std::vector<Value> items;
  for (std::int64_t i = a[0].size() - 1; i >= 0; --i) items.push_back(a[0].At(i));
  return Value::List(std::move(items));
}

// Whether `wanted` is among the first `count` items; what is looked at is spent.
bool Among(Meter& meter, const Value& wanted, std::span<const Value> items) {
  meter.Spend(items.size());
  if (meter.exceeded()) return false;
  Steps steps;
  const bool found = std::any_of(items.begin(), items.end(), [&](const Value& item) {
    return Equal(item, wanted, steps);
  });
  if (steps.exhausted()) meter.Stop();
  return found;
}

Value Distinct(Meter& meter, Args a) {
  if (!Reserve(meter, a[0].size())) return {};
  std::vector<Value> items;
  for (std::int64_t i = 0; i < a[0].size() && !meter.exceeded(); ++i) {
    Value item = a[0].At(i);
    if (!Among(meter, item, items)) items.push_back(std::move(item));
  }
  return Value::List(std::move(items));
}

std::vector<Value> Items(const Value& list) {
  std::vector<Value> items;
  for (std::int64_t i = 0; i < list.size(); ++i) items.push_back(list.At(i));
  return items;
}
bool ContainsAll(Meter& meter, const Value& list, const Value& sought) {
  const std::vector<Value> items = Items(list);
  for (std::int64_t i = 0; i < sought.size(); ++i) {
    if (!Among(meter, sought.At(i), items)) return false;
  }
  return true;
}
Value SetsContain(Meter& meter, Args a) { return Value::Bool(ContainsAll(meter, a[0], a[1])); }
Value SetsEqual(Meter& meter, Args a) {
  return Value::Bool(ContainsAll(meter, a[0], a[1]) && ContainsAll(meter, a[1], a[0]));
}
Value SetsMeet(Meter& meter, Args a) {
  const std::vector<Value> items = Items(a[1]);
  for (std::int64_t i = 0; i < a[0].size() && !meter.exceeded(); ++i) {
    if (Among(meter, a[0].At(i), items)) return Value::Bool(true);
  }
  return Value::Bool(false);
}

constexpr Row kRows[] = {
    {"sum", "list<int>.() int", Sum<ZeroInt>, PriceOfWalk},
    {"sum", "list<uint>.() uint", Sum<ZeroUint>, PriceOfWalk},
    {"sum", "list<double>.() double", Sum<ZeroDouble>, PriceOfWalk},
    {"sum", "list<duration>.() duration", Sum<ZeroDuration>, PriceOfWalk},
    {"indexOf", "list<A>.(A) int", IndexOf, PriceOfWalk},
    {"lastIndexOf", "list<A>.(A) int", LastIndexOf, PriceOfWalk},
    {"slice", "list<A>.(int, int) list<A>", Slice, PriceOfResult},
    {"flatten", "list<list<A>>.() list<A>", Flatten, PriceOfResult},
    {"flatten", "list<dyn>.(int) list<dyn>", FlattenDeep, PriceOfResult},
    {"lists.range", "(int) list<int>", RangeOf, PriceOfResult},
    {"reverse", "list<A>.() list<A>", Reverse, PriceOfResult},
    {"distinct", "list<A>.() list<A>", Distinct, Prepaid},
    {"sets.contains", "(list<A>, list<A>) bool", SetsContain, Prepaid},
    {"sets.equivalent", "(list<A>, list<A>) bool", SetsEqual, Prepaid},
    {"sets.intersects", "(list<A>, list<A>) bool", SetsMeet, Prepaid},
};

}  // namespace

std::span<const Row> ListRows() {
  // The forms must live as long as the rows.
  static std::vector<std::string>* const forms = new std::vector<std::string>;
  static const auto* kAll = [] {
    auto* rows = new std::vector<Row>(std::begin(kRows), std::end(kRows));
    forms->reserve(64);
    for (const char* type :
         {"int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"}) {
      const std::string list = "list<" + std::string(type) + ">";
      auto add = [&](const char* name, std::string form, Run run, Price price) {
        forms->push_back(std::move(form));
        rows->push_back({name, forms->back().c_str(), run, price});
      };
      add("isSorted", list + ".() bool", IsSorted, PriceOfWalk);
      add("max", list + ".() " + type, Extreme<1>, PriceOfWalk);
      add("min", list + ".() " + type, Extreme<-1>, PriceOfWalk);
      add("sort", list + ".() " + list, SortBy, PriceOfSort);
      add("@sortByAssociatedKeys", "list<T>.(" + list + ") list<T>", SortBy, PriceOfSort);
    }
    return rows;
  }();
  return *kAll;
}

}  // namespace mailroom::cel
