#include "openapi/cel/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace mailroom::cel {

std::uint64_t AddSaturated(std::uint64_t a, std::uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}
std::uint64_t MultiplySaturated(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

namespace {

constexpr double kTraversal = 0.1;
constexpr double kRegex = 0.25;

// A range of sizes or costs.
struct Range {
  std::uint64_t min = 0, max = 0;
};
constexpr Range kUnknown = {0, UINT64_MAX};

Range operator+(Range a, Range b) {
  return {AddSaturated(a.min, b.min), AddSaturated(a.max, b.max)};
}
Range operator*(Range a, Range b) {
  return {MultiplySaturated(a.min, b.min), MultiplySaturated(a.max, b.max)};
}
Range Union(Range a, Range b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }
std::uint64_t ScaledUp(std::uint64_t x, double factor) {
  const double product = std::ceil(static_cast<double>(x) * factor);
  return product >= 18446744073709551615.0 ? UINT64_MAX : static_cast<std::uint64_t>(product);
}
Range operator*(Range a, double factor) {
  return {ScaledUp(a.min, factor), ScaledUp(a.max, factor)};
}

bool IsScalar(const Type& type) {
  switch (type.kind) {
    case Kind::kBool:
    case Kind::kDouble:
    case Kind::kDuration:
    case Kind::kInt:
    case Kind::kTimestamp:
    case Kind::kUint: return true;
    case Kind::kOptional: return IsScalar(*type.params[0]);
    default: return false;
  }
}

bool AnyOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The size that a type alone tells.
std::optional<Range> TypeSize(const Type& type) {
  if (type.max_elements >= 0) return Range{0, static_cast<std::uint64_t>(type.max_elements)};
  if (IsScalar(type)) return Range{1, 1};
  return std::nullopt;
}

struct CallCost {
  Range cost = {1, 1};
  std::optional<Range> size;
};

class Estimator {
 public:
  Range Cost(const Expr& expr) {
    switch (expr.shape) {
      case Shape::kConstant: return {};
      case Shape::kIdent: return {1, 1};
      case Shape::kSelect: {
        Range sum = Cost(*expr.operand);
        const Kind kind = expr.operand->type->kind;
        if (!expr.test_only && (kind == Kind::kMap || kind == Kind::kObject)) {
          sum = sum + Range{1, 1};
        }
        return sum;
      }
      case Shape::kCall: return Call(expr);
      case Shape::kList: return Sum(expr.args) + Range{10, 10};
      case Shape::kMap: return Sum(expr.args) + Sum(expr.keys) + Range{30, 30};
      case Shape::kStruct: return Sum(expr.args) + Range{40, 40};
      case Shape::kFold: return expr.is_bind ? Bind(expr) : Fold(expr);
    }
    return {};
  }

 private:
  Range Sum(const std::vector<Expr*>& all) {
    Range sum;
    for (const Expr* expr : all) sum = sum + Cost(*expr);
    return sum;
  }

  std::optional<Range> KnownSize(const Expr& expr) const {
    if (const auto at = sizes_.find(&expr); at != sizes_.end()) return at->second;
    if (expr.shape == Shape::kConstant) {
      const std::int64_t size = expr.constant.size();
      const auto exact = static_cast<std::uint64_t>(size < 0 ? 1 : size);
      return Range{exact, exact};
    }
    if (expr.shape == Shape::kList || expr.shape == Shape::kMap) {
      return Range{expr.args.size(), expr.args.size()};
    }
    if (expr.shape == Shape::kIdent) {
      if (const auto at = locals_.find(expr.slot); at != locals_.end() && at->second.has_value()) {
        return at->second;
      }
    }
    return TypeSize(*expr.type);
  }
  Range Size(const Expr& expr) const { return KnownSize(expr).value_or(kUnknown); }

  Range Bind(const Expr& expr) {
    const Range start = Cost(*expr.args[kStart]);
    locals_[expr.slot] = KnownSize(*expr.args[kStart]);
    const Range sum = Range{10, 10} + start + Cost(*expr.args[kFoldResult]);
    if (auto size = KnownSize(*expr.args[kFoldResult])) sizes_[&expr] = *size;
    locals_.erase(expr.slot);
    return sum;
  }

  Range Fold(const Expr& expr) {
    Range sum = Cost(*expr.args[kRange]) + Cost(*expr.args[kStart]);
    const Range count = Size(*expr.args[kRange]);
    const bool collects = expr.args[kStart]->shape == Shape::kList ||
                          expr.args[kStart]->shape == Shape::kMap;
    locals_[expr.slot] = KnownSize(*expr.args[kStart]);
    const Range each = Cost(*expr.args[kCondition]) + Cost(*expr.args[kStep]);
    sum = sum + Cost(*expr.args[kFoldResult]);
    locals_.erase(expr.slot);
    if (collects) {
      sizes_[&expr] = count;
    } else if (auto size = KnownSize(*expr.args[kStart])) {
      sizes_[&expr] = *size;
    }
    return sum + count * each;
  }

  Range Call(const Expr& expr) {
    if (expr.name == "dyn" && expr.args.size() == 1) {
      const Range cost = Cost(*expr.args[0]) + Range{1, 1};
      if (auto size = KnownSize(*expr.args[0])) sizes_[&expr] = *size;
      return cost;
    }
    std::vector<Range> costs;
    Range sum;
    for (const Expr* arg : expr.args) {
      costs.push_back(Cost(*arg));
      sum = sum + costs.back();
    }
    if (expr.name == "_&&_" || expr.name == "_||_") {
      return {costs[0].min, AddSaturated(costs[0].max, costs[1].max)};
    }
    if (expr.name == "_?_:_") {
      sizes_[&expr] = Union(Size(*expr.args[1]), Size(*expr.args[2]));
      return costs[0] + Union(costs[1], costs[2]);
    }
    if (expr.operand != nullptr) sum = sum + Cost(*expr.operand);
    const CallCost own = Function(expr);
    if (own.size.has_value()) sizes_[&expr] = *own.size;
    return sum + own.cost;
  }

  // Element of a list as far as its type tells.
  static std::optional<Range> ElementSize(const Type& list) {
    if (list.params.empty()) return std::nullopt;
    return TypeSize(*list.params[0]);
  }

  CallCost Function(const Expr& expr) const {
    const std::string_view name = expr.name;
    const std::size_t count = expr.args.size();
    if (expr.operand != nullptr) {
      if (auto member = Member(expr, *expr.operand)) return *member;
    } else if (count >= 1) {
      if (auto global = Global(expr)) return *global;
    }
    if (name == "check") return {{350000, 350000}, std::nullopt};
    return {};
  }

  std::optional<CallCost> Global(const Expr& expr) const {
    const std::string_view name = expr.name;
    const Range first = Size(*expr.args[0]);
    if (AnyOf(name, {"url", "jsonpatch.escapeKey"})) return CallCost{first * kTraversal, first};
    if (AnyOf(name, {"ip", "cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver",
                     "isSemver"})) {
      return CallCost{first * kTraversal, std::nullopt};
    }
    if (name == "ip.isCanonical") return CallCost{first * (2 * kTraversal), std::nullopt};
    const Kind kind = expr.args[0]->type->kind;
    if (name == "bytes" && kind == Kind::kString) {
      return CallCost{first * kTraversal, Range{first.min, MultiplySaturated(first.max, 4)}};
    }
    if (name == "string" && kind == Kind::kBytes) {
      return CallCost{first * kTraversal, Range{first.min / 4, first.max}};
    }
    if (name == "strings.quote") {
      return CallCost{first * kTraversal, first * Range{1, 2} + Range{2, 2}};
    }
    if (expr.args.size() != 2) return std::nullopt;
    return Binary(expr, first, Size(*expr.args[1]));
  }

  std::optional<CallCost> Binary(const Expr& expr, Range left, Range right) const {
    const std::string_view name = expr.name;
    const Type& type = *expr.args[0]->type;
    if (AnyOf(name, {"_==_", "_!=_"}) && type.kind == Kind::kOpaque) return CallCost{};
    const bool texts = type.kind == Kind::kString || type.kind == Kind::kBytes ||
                       type.kind == Kind::kDyn;
    if (AnyOf(name, {"_==_", "_!=_"}) ||
        (texts && AnyOf(name, {"_<_", "_<=_", "_>_", "_>=_"}))) {
      const std::uint64_t most = std::min(left.max, right.max);
      return CallCost{Range{most > 0 ? 1U : 0U, most} * kTraversal, std::nullopt};
    }
    if (name == "@in" && expr.args[1]->type->kind != Kind::kMap) {
      return CallCost{right * 1.0, std::nullopt};
    }
    if (name == "_+_" && (texts || type.kind == Kind::kList)) {
      const Range size = left + right;
      if (type.kind == Kind::kList) return CallCost{Range{1, 1}, size};
      return CallCost{size * kTraversal, size};
    }
    if (AnyOf(name, {"sets.contains", "sets.equivalent", "sets.intersects"})) {
      const Range product = left * right;
      if (name == "sets.equivalent") return CallCost{product * Range{2, 2} + Range{1, 1}, {}};
      return CallCost{product + Range{1, 1}, std::nullopt};
    }
    return std::nullopt;
  }

  std::optional<CallCost> Member(const Expr& expr, const Expr& target) const {
    const std::string_view name = expr.name;
    const Range size = Size(target);
    const std::size_t count = expr.args.size();
    if (AnyOf(name, {"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"})) {
      if (target.type->kind != Kind::kList) return CallCost{size * kTraversal, std::nullopt};
      Range each = {1, 1};
      const Kind kind = target.type->params[0]->kind;
      if (kind == Kind::kString || kind == Kind::kBytes) {
        each = each + ElementSize(*target.type).value_or(kUnknown) * kTraversal;
      }
      return CallCost{size * each, std::nullopt};
    }
    if (AnyOf(name, {"lowerAscii", "upperAscii", "substring", "trim"})) {
      return CallCost{size * kTraversal, size};
    }
    if (name == "replace" && count >= 2) return Replace(expr, size);
    if (name == "split") {
      Range pieces = {0, size.max};
      if (count > 1 && expr.args[1]->constant.is(Kind::kInt) &&
          expr.args[1]->constant.integer() >= 0) {
        pieces.max = static_cast<std::uint64_t>(expr.args[1]->constant.integer());
      }
      return CallCost{size * (2 * kTraversal), pieces};
    }
    if (name == "join") return Join(expr, target, size);
    if (count < 1) return std::nullopt;
    const Range first = Size(*expr.args[0]);
    if (AnyOf(name, {"matches", "find", "findAll"})) {
      const Range cost = (size + Range{1, 1}) * kTraversal * (first * kRegex);
      return CallCost{cost, name == "matches" ? std::nullopt : std::optional(Range{0, size.max})};
    }
    if (name == "contains") {
      return CallCost{size * kTraversal * (first * kTraversal), std::nullopt};
    }
    if (AnyOf(name, {"startsWith", "endsWith"})) return CallCost{first * kTraversal, std::nullopt};
    if (name == "format" && target.type->kind == Kind::kString) {
      return CallCost{size * kTraversal, std::nullopt};
    }
    if (name == "containsIP" || name == "containsCIDR") {
      Range cost = Range{8, 32} * kTraversal;
      if (name == "containsCIDR") cost = cost + Range{4, 16} * kTraversal + Range{1, 1};
      if (expr.args[0]->type->kind == Kind::kString) cost = cost + first * kTraversal;
      return CallCost{cost, std::nullopt};
    }
    if (name == "validate") return CallCost{first * kTraversal * (128 * kRegex), std::nullopt};
    if (name == "fieldSelector" || name == "labelSelector") {
      return CallCost{Range{10, 10} + first * kTraversal + first * 0.5 * 50.0, std::nullopt};
    }
    return std::nullopt;
  }

  CallCost Replace(const Expr& expr, Range size) const {
    const Range old = Size(*expr.args[0]);
    const Range fresh = Size(*expr.args[1]);
    Range times, kept;
    if (old.min == 0) {
      times.max = AddSaturated(size.max, 1);
      kept.max = size.max;
    } else if (fresh.max <= old.min) {
      kept.max = size.max;
    } else {
      times.max = ScaledUp(size.max, 1.0 / static_cast<double>(old.min));
    }
    if (old.max == 0) {
      times.min = AddSaturated(size.min, 1);
      kept.min = size.min;
    } else if (old.max <= fresh.min) {
      kept.min = size.min;
    } else {
      times.min = ScaledUp(size.min, 1.0 / static_cast<double>(old.max));
    }
    return {size * (2 * kTraversal), times * fresh + kept};
  }

  CallCost Join(const Expr& expr, const Expr& target, Range count) const {
    Range size = count * ElementSize(*target.type).value_or(kUnknown);
    if (!expr.args.empty()) {
      const Range gaps = {count.min > 0 ? count.min - 1 : 0, count.max > 0 ? count.max - 1 : 0};
      size = size + Size(*expr.args[0]) * gaps;
    }
    return {size * kTraversal, size};
  }

  std::unordered_map<const Expr*, Range> sizes_;              // of results
  std::unordered_map<int, std::optional<Range>> locals_;      // of accumulators, by slot
};

}  // namespace

CostEstimate EstimateCost(const Expr& root) {
  const Range range = Estimator().Cost(root);
  return {range.min, range.max};
}

}  // namespace mailroom::cel
