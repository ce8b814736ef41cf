#include "openapi/cel/interpreter.h"

#include <array>

namespace mailroom::cel {
namespace {

Value Exceeded() { return Value::Error("operation cancelled: actual cost limit exceeded"); }

bool Fits(const Type& param, const Value& value) {
  switch (param.kind) {
    case Kind::kDyn:
    case Kind::kParam: return true;
    case Kind::kMap: return value.is(Kind::kMap) || value.is(Kind::kObject);
    case Kind::kOpaque: return value.is(Kind::kOpaque) && value.opaque()->type_name() == param.name;
    default: return param.kind == value.kind();
  }
}

class Evaluator {
 public:
  Evaluator(std::vector<Value>& slots, Meter& meter) : slots_(slots), meter_(meter) {}

  Value Visit(const Expr& expr) {
    if (meter_.exceeded()) return Exceeded();
    switch (expr.shape) {
      case Shape::kConstant: return expr.constant;
      case Shape::kIdent: meter_.Spend(1); return slots_[static_cast<std::size_t>(expr.slot)];
      case Shape::kSelect: return Select(expr);
      case Shape::kCall: return Call(expr);
      case Shape::kList: return List(expr);
      case Shape::kMap: return Map(expr);
      case Shape::kStruct: return Struct(expr);
      case Shape::kFold: return Fold(expr);
    }
    return {};
  }

 private:
  static bool HasFields(const Value& value) {
    return value.is(Kind::kMap) || value.is(Kind::kObject);
  }

  Value Select(const Expr& expr) {
    Value operand = Visit(*expr.operand);
    if (!expr.test_only) meter_.Spend(1);
    if (operand.is_error()) return operand;
    if (operand.is(Kind::kOptional)) {
      if (!operand.has_value()) return expr.test_only ? Value::Bool(false) : operand;
      Value member;
      const Value inner = operand.unwrap();
      if (!HasFields(inner)) return NoOverload();
      const bool found = inner.LookupField(expr.name, member);
      if (expr.test_only) return Value::Bool(found);
      return !found ? Value::None() : member.is_error() ? member : Value::Optional(member);
    }
    if (!HasFields(operand)) return NoOverload();
    Value member;
    const bool found = operand.LookupField(expr.name, member);
    if (expr.test_only) return Value::Bool(found);
    return found ? member : Value::Error("no such key: " + expr.name);
  }

  Value Call(const Expr& expr) {
    if (expr.name == "_&&_" || expr.name == "_||_") return Logic(expr, expr.name == "_||_");
    if (expr.name == "_?_:_") {
      Value condition = Visit(*expr.args[0]);
      if (condition.is_error()) return condition;
      if (!condition.is(Kind::kBool)) return NoOverload();
      return Visit(*expr.args[condition.truth() ? 1 : 2]);
    }
    if (expr.name == "@not_strictly_false") {
      const Value value = Visit(*expr.args[0]);
      meter_.Spend(1);
      return Value::Bool(!value.is(Kind::kBool) || value.truth());
    }
    if (expr.name == "_?._") return OptionalSelect(expr);
    if (expr.appends) return AppendInPlace(expr);
    std::array<Value, 4> few;
    std::vector<Value> many;
    const std::size_t count = expr.args.size() + (expr.operand != nullptr ? 1 : 0);
    if (count > few.size()) many.resize(count);
    std::span<Value> args = count > few.size() ? std::span<Value>(many)
                                               : std::span<Value>(few).first(count);
    std::size_t next = 0;
    if (expr.operand != nullptr) {
      args[next] = Visit(*expr.operand);
      if (args[next++].is_error()) return args[0];
    }
    for (const Expr* arg : expr.args) {
      args[next] = Visit(*arg);
      if (args[next].is_error()) return args[next];
      ++next;
    }
    return Dispatch(expr, args);
  }

  Value Dispatch(const Expr& expr, std::span<const Value> args) {
    for (const Overload* overload : expr.overloads) {
      bool fits = overload->params.size() == args.size();
      for (std::size_t i = 0; fits && i < args.size(); ++i) {
        fits = Fits(*overload->params[i], args[i]);
      }
      if (!fits) continue;
      Value result = overload->run(meter_, args);
      // Membership in a list of constants is a look-up.
      const bool lookup = expr.name == "@in" && expr.args[1]->constant_list;
      if (!lookup) meter_.Spend(overload->price == nullptr ? 1 : overload->price(args, result));
      return meter_.exceeded() ? Exceeded() : result;
    }
    return NoOverload();
  }

  // An error on one side is forgotten when the other side decides.
  Value Logic(const Expr& expr, bool deciding) {
    Value left = Visit(*expr.args[0]);
    if (left.is(Kind::kBool) && left.truth() == deciding) return left;
    if (meter_.exceeded()) return Exceeded();
    Value right = Visit(*expr.args[1]);
    if (meter_.exceeded()) return Exceeded();
    if (right.is(Kind::kBool) && right.truth() == deciding) return right;
    if (left.is_error()) return left;
    if (right.is_error()) return right;
    if (!left.is(Kind::kBool) || !right.is(Kind::kBool)) return NoOverload();
    return Value::Bool(!deciding);
  }

  Value OptionalSelect(const Expr& expr) {
    Value operand = Visit(*expr.args[0]);
    meter_.Spend(1);
    if (operand.is_error()) return operand;
    if (operand.is(Kind::kOptional)) {
      if (!operand.has_value()) return operand;
      operand = operand.unwrap();
    }
    if (!HasFields(operand)) return NoOverload();
    Value member;
    if (!operand.LookupField(expr.args[1]->constant.text(), member)) return Value::None();
    return member.is_error() ? member : Value::Optional(std::move(member));
  }

  // accumulator + [x]: the list is taken out of its slot, so that nobody else holds it.
  Value AppendInPlace(const Expr& expr) {
    Value item = Visit(*expr.args[1]->args[0]);
    meter_.Spend(1 + 1 + 10);  // the identifier, the call, the list literal
    if (item.is_error()) return item;
    if (!meter_.Allocate(sizeof(Value))) return Exceeded();
    Value list = std::move(slots_[static_cast<std::size_t>(expr.args[0]->slot)]);
    slots_[static_cast<std::size_t>(expr.args[0]->slot)] = Value();
    if (!list.is(Kind::kList)) return list;
    list.Append(std::move(item));
    return list;
  }

  Value List(const Expr& expr) {
    std::vector<Value> items;
    items.reserve(expr.args.size());
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Value item;
      const Element element = Take(expr, i, item);
      if (element == Element::kFault) return item;
      if (element == Element::kGiven) items.push_back(std::move(item));
    }
    if (!expr.constant_list) meter_.Spend(10);
    if (!meter_.Allocate(items.size() * sizeof(Value))) return Exceeded();
    return Value::List(std::move(items));
  }

  // One element of a literal; an optional one may have no value.
  enum class Element { kGiven, kAbsent, kFault };
  Element Take(const Expr& expr, std::size_t index, Value& out) {
    out = Visit(*expr.args[index]);
    if (out.is_error()) return Element::kFault;
    if (!expr.optional[index]) return Element::kGiven;
    if (!out.is(Kind::kOptional)) {
      out = Value::Error("cannot initialize optional list element from non-optional value " +
                         out.TypeName());
      return Element::kFault;
    }
    if (!out.has_value()) return Element::kAbsent;
    out = out.unwrap();
    return Element::kGiven;
  }

  Value Map(const Expr& expr) {
    Entries entries;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Value key = Visit(*expr.keys[i]);
      if (key.is_error()) return key;
      Value value;
      const Element element = Take(expr, i, value);
      if (element == Element::kFault) return value;
      if (element == Element::kAbsent) continue;
      if (!key.is(Kind::kString) && !key.is_number() && !key.is(Kind::kBool)) {
        return Value::Error("unsupported key type: " + key.TypeName());
      }
      entries[std::move(key)] = std::move(value);
    }
    meter_.Spend(30);
    if (!meter_.Allocate(entries.size() * 2 * sizeof(Value))) return Exceeded();
    return Value::Map(std::move(entries));
  }

  Value Struct(const Expr& expr) {
    auto record = std::make_shared<Constructed>();
    record->type = expr.name;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Value value;
      const Element element = Take(expr, i, value);
      if (element == Element::kFault) return value;
      if (element == Element::kAbsent) continue;
      if (expr.type->open) {
        const std::string expected = expr.name + "." + expr.fields[i];
        Steps steps;
        if (std::string fault = Misplaced(value, expected, steps); !fault.empty()) {
          return Value::Error(std::move(fault));
        }
      }
      record->fields[expr.fields[i]] = std::move(value);
    }
    meter_.Spend(40);
    if (!meter_.Allocate(expr.args.size() * 2 * sizeof(Value))) return Exceeded();
    return Value::Of(std::shared_ptr<const Record>(std::move(record)));
  }

  // Messages of an open family are named by the path at which they stand.
  static std::string Misplaced(const Value& value, const std::string& expected, Steps& steps) {
    if (!steps.Take()) return "the value is too large";
    if (value.is(Kind::kList) && value.json() == nullptr) {
      for (std::int64_t i = 0; i < value.size(); ++i) {
        std::string fault = Misplaced(value.At(i), expected, steps);
        if (!fault.empty()) return fault;
      }
    }
    if (value.record() == nullptr || value.TypeName() == expected) return "";
    return "unexpected type name \"" + value.TypeName() + "\", expected \"" + expected +
           "\", which matches field name path from root Object type";
  }

  Value Fold(const Expr& expr) {
    const auto base = static_cast<std::size_t>(expr.slot);
    if (expr.is_bind) {
      Value start = Visit(*expr.args[kStart]);
      // The bound value may be an error; it counts only where it is used.
      slots_[base] = std::move(start);
      return Visit(*expr.args[kFoldResult]);
    }
    const Value range = Visit(*expr.args[kRange]);
    if (range.is_error()) return range;
    slots_[base] = Visit(*expr.args[kStart]);
    const bool list = range.is(Kind::kList);
    if (!list && !HasFields(range)) return NoOverload();
    const std::vector<Value> keys = list ? std::vector<Value>() : range.Keys();
    const std::int64_t count = list ? range.size() : static_cast<std::int64_t>(keys.size());
    for (std::int64_t i = 0; i < count; ++i) {
      if (list) {
        slots_[base + 1] = expr.iter2.empty() ? range.At(i) : Value::Int(i);
        if (!expr.iter2.empty()) slots_[base + 2] = range.At(i);
      } else {
        slots_[base + 1] = keys[static_cast<std::size_t>(i)];
        if (!expr.iter2.empty()) range.Lookup(slots_[base + 1], slots_[base + 2]);
      }
      const Value go_on = Visit(*expr.args[kCondition]);
      if (meter_.exceeded()) return Exceeded();
      if (go_on.is(Kind::kBool) && !go_on.truth()) break;
      Value next = Visit(*expr.args[kStep]);
      if (meter_.exceeded()) return Exceeded();
      slots_[base] = std::move(next);
    }
    Value result = Visit(*expr.args[kFoldResult]);
    slots_[base] = Value();
    return result;
  }

  std::vector<Value>& slots_;
  Meter& meter_;
};

}  // namespace

Value Constructed::Get(std::string_view field) const {
  const auto at = fields.find(field);
  return at == fields.end() ? Value::Error("no such key: " + std::string(field)) : at->second;
}

std::vector<std::string> Constructed::Fields() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields) names.push_back(name);
  return names;
}

Value Evaluate(const Expr& expr, std::vector<Value>& slots, Meter& meter) {
  return Evaluator(slots, meter).Visit(expr);
}

}  // namespace mailroom::cel
