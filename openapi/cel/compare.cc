// Equality and order of values.
#include <algorithm>
#include <cmath>

#include "openapi/cel/value.h"
#include "storage/object/json.h"

namespace mailroom::cel {
namespace {

int Sign(auto a, auto b) { return a < b ? -1 : (b < a ? 1 : 0); }

int CompareDouble(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return 2;
  return Sign(a, b);
}

// Exact comparison of an integer with a double, which may lie between two integers.
int CompareMixed(std::int64_t a, double b) {
  if (std::isnan(b)) return 2;
  if (b >= 9223372036854775808.0) return -1;
  if (b < -9223372036854775808.0) return 1;
  const auto whole = static_cast<std::int64_t>(b);
  if (a != whole) return Sign(a, whole);
  return Sign(0.0, b - static_cast<double>(whole));
}
int CompareMixed(std::uint64_t a, double b) {
  if (std::isnan(b)) return 2;
  if (b >= 18446744073709551616.0) return -1;
  if (b < 0) return 1;
  const auto whole = static_cast<std::uint64_t>(b);
  if (a != whole) return Sign(a, whole);
  return Sign(0.0, b - static_cast<double>(whole));
}

int Negate(int order) { return order == 2 ? 2 : -order; }

int CompareNumbers(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kInt:
      if (b.is(Kind::kInt)) return Sign(a.integer(), b.integer());
      if (b.is(Kind::kUint)) {
        return a.integer() < 0 ? -1 : Sign(static_cast<std::uint64_t>(a.integer()), b.natural());
      }
      return CompareMixed(a.integer(), b.real());
    case Kind::kUint:
      if (b.is(Kind::kUint)) return Sign(a.natural(), b.natural());
      if (b.is(Kind::kInt)) return Negate(CompareNumbers(b, a));
      return CompareMixed(a.natural(), b.real());
    default:
      if (b.is(Kind::kDouble)) return CompareDouble(a.real(), b.real());
      return Negate(CompareNumbers(b, a));
  }
}

ListOrder OrderOf(const Value& list) {
  return list.shape() != nullptr ? list.shape()->order : ListOrder::kAtomic;
}

// Elements regardless of their order. Sorting by text keeps it from being quadratic.
bool EqualUnordered(const Value& a, const Value& b, Steps& steps) {
  std::vector<std::pair<std::string, Value>> left, right;
  auto fill = [&](const Value& list, auto& out) {
    const std::vector<std::string>* keys = a.shape() != nullptr ? &a.shape()->keys : nullptr;
    for (std::int64_t i = 0; i < list.size(); ++i) {
      Value item = list.At(i);
      std::string text;
      if (keys != nullptr && !keys->empty()) {
        for (const std::string& key : *keys) {
          Value part;
          Json tree;
          std::string error;
          if (item.json() != nullptr && item.json()->is_object() && item.json()->contains(key)) {
            tree = (*item.json())[key];
          } else if (item.LookupField(Escape(key), part)) {
            ToJson(part, tree, error);
          }
          text += DumpJson(tree) + ",";
        }
      } else {
        Json tree;
        std::string error;
        ToJson(item, tree, error);
        text = DumpJson(tree);
      }
      out.emplace_back(std::move(text), std::move(item));
    }
    std::sort(out.begin(), out.end(),
              [](const auto& x, const auto& y) { return x.first < y.first; });
  };
  fill(a, left);
  fill(b, right);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].first != right[i].first || !Equal(left[i].second, right[i].second, steps)) {
      return false;
    }
  }
  return true;
}

bool EqualLists(const Value& a, const Value& b, Steps& steps) {
  if (a.size() != b.size()) return false;
  if (OrderOf(a) != ListOrder::kAtomic) return EqualUnordered(a, b, steps);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (!Equal(a.At(i), b.At(i), steps)) return false;
  }
  return true;
}

// Members without a declared type take part as plain JSON.
bool EqualTrees(const Json& a, const Json& b, const Type& shape, Steps& steps) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, member] : a.items()) {
    const auto other = b.find(name);
    if (other == b.end()) return false;
    const std::string escaped = Escape(name);
    const Field* field = escaped.empty() ? nullptr : shape.FindField(escaped);
    if (field == nullptr ? member != *other
                         : !Equal(Value::FromJson(member, field->type.get()),
                                  Value::FromJson(*other, field->type.get()), steps)) {
      return false;
    }
  }
  return true;
}

bool EqualMaps(const Value& a, const Value& b, Steps& steps) {
  if (a.size() != b.size()) return false;
  if (a.json() != nullptr && b.json() != nullptr && a.shape() != nullptr &&
      a.is(Kind::kObject) && b.is(Kind::kObject)) {
    return EqualTrees(*a.json(), *b.json(), *a.shape(), steps);
  }
  for (const Value& key : a.Keys()) {
    Value left, right;
    if (!b.Lookup(key, right) || !a.Lookup(key, left) || !Equal(left, right, steps)) return false;
  }
  return true;
}

bool MapLike(const Value& value) { return value.is(Kind::kMap) || value.is(Kind::kObject); }

}  // namespace

bool Equal(const Value& a, const Value& b) {
  Steps steps;
  return Equal(a, b, steps);
}

bool Equal(const Value& a, const Value& b, Steps& steps) {
  if (!steps.Take()) return false;
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b) == 0;
  if (MapLike(a) && MapLike(b)) return EqualMaps(a, b, steps);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull: return true;
    case Kind::kBool: return a.truth() == b.truth();
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType: return a.text() == b.text();
    case Kind::kTimestamp: return a.moment() == b.moment();
    case Kind::kDuration: return a.nanos() == b.nanos();
    case Kind::kList: return EqualLists(a, b, steps);
    case Kind::kOptional:
      if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
      return Equal(a.unwrap(), b.unwrap(), steps);
    case Kind::kOpaque:
      return a.opaque()->type_name() == b.opaque()->type_name() &&
             a.opaque()->Equals(*b.opaque());
    default: return false;
  }
}

int Compare(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b);
  if (a.kind() != b.kind()) return 3;
  switch (a.kind()) {
    case Kind::kBool: return Sign(a.truth(), b.truth());
    case Kind::kString:
    case Kind::kBytes: return Sign(a.text(), b.text());
    case Kind::kTimestamp: return Sign(a.moment(), b.moment());
    case Kind::kDuration: return Sign(a.nanos(), b.nanos());
    default: return 3;
  }
}

bool KeyLess::operator()(const Value& a, const Value& b) const {
  const int rank_a = a.is_number() ? 1 : a.is(Kind::kBool) ? 0 : 2;
  const int rank_b = b.is_number() ? 1 : b.is(Kind::kBool) ? 0 : 2;
  if (rank_a != rank_b) return rank_a < rank_b;
  if (rank_a == 2 && a.kind() != b.kind()) return a.kind() < b.kind();
  return Compare(a, b) == -1;
}

}  // namespace mailroom::cel
