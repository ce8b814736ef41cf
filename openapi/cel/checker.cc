#include "openapi/cel/checker.h"

#include <algorithm>

#include "openapi/cel/library.h"
#include "storage/object/limits.h"
#include "storage/object/problems.h"

namespace mailroom::cel {
namespace {

bool IsWild(const Type& type) { return type.kind == Kind::kDyn || type.kind == Kind::kError; }

// `a.b.c` of identifiers and selections; "" for anything else.
std::string QualifiedName(const Expr& expr) {
  if (expr.shape == Shape::kIdent) return expr.name;
  if (expr.shape != Shape::kSelect || expr.test_only) return "";
  std::string prefix = QualifiedName(*expr.operand);
  return prefix.empty() ? "" : prefix + "." + expr.name;
}

class Checker {
 public:
  Checker(Ast& ast, const Environment& environment, std::vector<Issue>& issues)
      : ast_(ast), environment_(environment), issues_(issues) {
    for (const Variable& variable : environment.variables) {
      scope_.push_back({variable.name, variable.type, scope_.size()});
    }
    checked_.used.resize(scope_.size());
    checked_.slots = scope_.size();
  }

  Checked Run() {
    Visit(*ast_.root);
    for (Expr& node : ast_.nodes) {
      if (node.type != nullptr) node.type = unifier_.Resolve(node.type, true);
    }
    if (issues_.empty()) CheckLiterals(*ast_.root);
    return std::move(checked_);
  }

 private:
  struct Local {
    std::string name;
    TypePtr type;
    std::size_t slot;
  };

  void Fault(std::uint32_t position, const std::string& message) {
    issues_.push_back({position, CutText(message, limits::kProblemValueBytes)});
  }
  void Undeclared(Expr& expr, const std::string& name) {
    Fault(expr.position, "undeclared reference to '" + name + "' (in container '')");
    expr.type = Simple(Kind::kError);
  }
  void Mismatch(const Expr& expr, const TypePtr& expected, const TypePtr& found) {
    Fault(expr.position, "expected type '" + DisplayCut(*unifier_.Resolve(expected)) +
                             "' but found '" + DisplayCut(*unifier_.Resolve(found)) + "'");
  }

  void Visit(Expr& expr) {
    switch (expr.shape) {
      case Shape::kConstant: expr.type = Simple(expr.constant.kind()); break;
      case Shape::kIdent: Ident(expr); break;
      case Shape::kSelect: Select(expr); break;
      case Shape::kCall: Call(expr); break;
      case Shape::kList: List(expr); break;
      case Shape::kMap: Map(expr); break;
      case Shape::kStruct: Struct(expr); break;
      case Shape::kFold: Fold(expr); break;
    }
  }

  bool Resolved(Expr& expr, const std::string& name) {
    for (auto local = scope_.rbegin(); local != scope_.rend(); ++local) {
      if (local->name != name) continue;
      expr.type = local->type;
      expr.slot = static_cast<int>(local->slot);
      if (local->slot < checked_.used.size()) checked_.used[local->slot] = true;
      return true;
    }
    TypePtr type = Library::Get().FindType(name);
    if (type == nullptr) type = Message(name);
    if (type == nullptr) return false;
    expr.shape = Shape::kConstant;
    expr.constant = Value::TypeNamed(std::string(RuntimeName(*type)));
    expr.type = MakeTypeOf(type);
    return true;
  }

  void Ident(Expr& expr) {
    if (!Resolved(expr, expr.name)) Undeclared(expr, expr.name);
  }

  void Select(Expr& expr) {
    const std::string name = QualifiedName(expr);
    if (!name.empty() && name.find('.') != std::string::npos) {
      // A variable shadows a type whose name begins alike.
      const std::string first = name.substr(0, name.find('.'));
      const auto declared = [&](const std::string& wanted) {
        return std::any_of(scope_.begin(), scope_.end(),
                           [&](const Local& local) { return local.name == wanted; });
      };
      // A variable may have a dotted name itself: `authorizer.requestResource`.
      if ((declared(name) || !declared(first)) && Resolved(expr, name)) {
        if (expr.shape == Shape::kSelect) expr.shape = Shape::kIdent;
        return;
      }
    }
    Visit(*expr.operand);
    expr.type = FieldType(expr, expr.operand->type, expr.name, false);
    if (expr.test_only) expr.type = Simple(Kind::kBool);
  }

  TypePtr FieldType(const Expr& expr, const TypePtr& operand, const std::string& field,
                    bool optional) {
    TypePtr target = unifier_.Resolve(operand);
    const bool wrapped = target->kind == Kind::kOptional;
    if (wrapped) target = unifier_.Resolve(target->params[0]);
    TypePtr result = Simple(Kind::kDyn);
    if (target->kind == Kind::kMap) {
      result = target->params[1];
    } else if (target->kind == Kind::kObject) {
      if (const Field* found = target->FindField(field)) {
        result = found->type;
      } else if (!target->open) {
        Fault(expr.position, "undefined field '" + field + "'");
        result = Simple(Kind::kError);
      }
    } else if (target->kind == Kind::kParam) {
      unifier_.Assign(Simple(Kind::kDyn), target);
    } else if (!IsWild(*target)) {
      Fault(expr.position,
            "type '" + DisplayCut(*target) + "' does not support field selection");
    }
    return wrapped || optional ? MakeOptional(std::move(result)) : result;
  }

  void Call(Expr& expr) {
    if (expr.name == "_?._") {
      Visit(*expr.args[0]);
      Visit(*expr.args[1]);
      expr.type =
          FieldType(expr, expr.args[0]->type, std::string(expr.args[1]->constant.text()), true);
      return;
    }
    for (Expr* arg : expr.args) Visit(*arg);
    if (expr.operand != nullptr) {
      const std::string prefix = QualifiedName(*expr.operand);
      if (!prefix.empty() && !Library::Get().Find(prefix + "." + expr.name).empty()) {
        expr.name = prefix + "." + expr.name;
        expr.operand = nullptr;
      } else {
        Visit(*expr.operand);
      }
    }
    if (expr.name == "_&&_" || expr.name == "_||_") return Logic(expr);
    if (expr.name == "_?_:_") return Conditional(expr);
    if (expr.name == "@not_strictly_false") {
      expr.type = Simple(Kind::kBool);
      return;
    }
    const auto overloads = Library::Get().Find(expr.name);
    if (overloads.empty()) return Undeclared(expr, expr.name);
    Resolve(expr, overloads);
    Literals(expr);
  }

  void Logic(Expr& expr) {
    expr.type = Simple(Kind::kBool);
    for (Expr* arg : expr.args) {
      if (unifier_.Assign(arg->type, Simple(Kind::kBool))) continue;
      Mismatch(*arg, Simple(Kind::kBool), arg->type);
      expr.type = Simple(Kind::kError);
    }
  }

  void Conditional(Expr& expr) {
    const TypePtr result = unifier_.Fresh();
    if (!unifier_.AssignAll({expr.args[0]->type, expr.args[1]->type, expr.args[2]->type},
                            {Simple(Kind::kBool), result, result})) {
      return NoMatch(expr);
    }
    expr.type = unifier_.Resolve(result);
  }

  std::vector<TypePtr> ArgumentTypes(const Expr& expr) const {
    std::vector<TypePtr> types;
    if (expr.operand != nullptr) types.push_back(expr.operand->type);
    for (const Expr* arg : expr.args) types.push_back(arg->type);
    return types;
  }

  void NoMatch(Expr& expr) {
    std::string form;
    const std::vector<TypePtr> types = ArgumentTypes(expr);
    std::size_t first = 0;
    if (expr.operand != nullptr) {
      form = DisplayCut(*unifier_.Resolve(types[0], true)) + ".";
      first = 1;
    }
    form += "(";
    for (std::size_t i = first; i < types.size(); ++i) {
      if (form.size() > limits::kProblemValueBytes) break;  // no more of it is shown
      if (i > first) form += ", ";
      form += DisplayCut(*unifier_.Resolve(types[i], true));
    }
    Fault(expr.position,
          "found no matching overload for '" + expr.name + "' applied to '" + form + ")'");
    expr.type = Simple(Kind::kError);
  }

  void Resolve(Expr& expr, std::span<const Overload* const> overloads) {
    const std::vector<TypePtr> types = ArgumentTypes(expr);
    TypePtr result;
    for (const Overload* overload : overloads) {
      if (overload->member != (expr.operand != nullptr) ||
          overload->params.size() != types.size()) {
        continue;
      }
      std::vector<std::pair<std::string, TypePtr>> renamed;
      std::vector<TypePtr> params;
      for (const TypePtr& param : overload->params) {
        params.push_back(unifier_.Instantiate(param, renamed));
      }
      if (!unifier_.AssignAll(types, params)) continue;
      expr.overloads.push_back(overload);
      const TypePtr own = unifier_.Resolve(unifier_.Instantiate(overload->result, renamed));
      if (result == nullptr) {
        result = own;
      } else if (result->kind != Kind::kDyn && !SameType(*own, *result)) {
        result = Simple(Kind::kDyn);
      }
    }
    if (result == nullptr) return NoMatch(expr);
    expr.type = result;
  }

  // Literals whose text is wrong in any case.
  void Literals(const Expr& expr) {
    const bool regex = expr.name == "matches";
    if (!regex && expr.name != "duration" && expr.name != "timestamp") return;
    if (expr.args.empty() || expr.args.back()->shape != Shape::kConstant ||
        !expr.args.back()->constant.is(Kind::kString)) {
      return;
    }
    const std::string_view text = expr.args.back()->constant.text();
    std::int64_t nanos = 0;
    Moment moment;
    const bool good = regex ? PatternError(text).empty()
                      : expr.name == "duration" ? ParseDuration(text, nanos)
                                                : ParseMoment(text, moment);
    if (!good) Fault(expr.args.back()->position, "invalid " + expr.name + " argument");
  }

  // The type of an element, or of what an optional one holds.
  TypePtr ElementType(const Expr& element, bool optional) {
    if (!optional) return element.type;
    const TypePtr type = unifier_.Resolve(element.type);
    if (type->kind == Kind::kOptional) return type->params[0];
    if (!IsWild(*type)) Mismatch(element, MakeOptional(type), type);
    return type;
  }

  TypePtr Join(const TypePtr& previous, const TypePtr& current) {
    if (previous == nullptr) return current;
    if (unifier_.Assign(previous, current)) return MoreGeneral(previous, current);
    return Simple(Kind::kDyn);
  }

  // Elements of a list or map that is written out are of one type, except where they are formatted.
  void CheckLiterals(const Expr& expr) {
    if (expr.shape == Shape::kCall && expr.name == "format") return;
    if (expr.operand != nullptr) CheckLiterals(*expr.operand);
    for (const Expr* child : expr.keys) CheckLiterals(*child);
    for (const Expr* child : expr.args) CheckLiterals(*child);
    if (expr.shape != Shape::kList && expr.shape != Shape::kMap) return;
    TypePtr key, value;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      if (expr.shape == Shape::kMap) CheckAlike(*expr.keys[i], key, expr.keys[i]->type);
      const TypePtr type = ElementType(*expr.args[i], expr.optional[i]);
      if (!CheckAlike(*expr.args[i], value, type) && expr.shape == Shape::kList) return;
    }
  }

  bool CheckAlike(const Expr& expr, TypePtr& first, const TypePtr& type) {
    if (first == nullptr) first = type;
    if (SameType(*first, *type)) return true;
    Mismatch(expr, first, type);
    return false;
  }

  void List(Expr& expr) {
    TypePtr element;
    expr.constant_list = !expr.args.empty();
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Visit(*expr.args[i]);
      expr.constant_list &= expr.args[i]->shape == Shape::kConstant && !expr.optional[i];
      element = Join(element, ElementType(*expr.args[i], expr.optional[i]));
    }
    expr.type = unifier_.Resolve(MakeList(element != nullptr ? element : unifier_.Fresh()));
  }

  void Map(Expr& expr) {
    TypePtr key, value;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Visit(*expr.keys[i]);
      key = Join(key, expr.keys[i]->type);
      Visit(*expr.args[i]);
      value = Join(value, ElementType(*expr.args[i], expr.optional[i]));
    }
    if (key == nullptr) {
      key = unifier_.Fresh();
      value = unifier_.Fresh();
    }
    expr.type = unifier_.Resolve(MakeMap(key, value));
  }

  TypePtr Message(const std::string& name) const {
    for (const TypePtr& type : environment_.messages) {
      if (type->name == name) return type;
      if (type->open && name.starts_with(type->name + ".")) {
        auto below = std::make_shared<Type>(*type);
        below->name = name;
        return below;
      }
    }
    return nullptr;
  }

  void Struct(Expr& expr) {
    const TypePtr type = Message(expr.name);
    if (type == nullptr) return Undeclared(expr, expr.name);
    expr.type = type;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Visit(*expr.args[i]);
      const TypePtr value = ElementType(*expr.args[i], expr.optional[i]);
      const Field* field = type->FindField(expr.fields[i]);
      if (field == nullptr) {
        if (!type->open) {
          Fault(expr.field_positions[i], "undefined field '" + expr.fields[i] + "'");
        }
      } else if (!unifier_.Assign(field->type, value)) {
        Fault(expr.field_positions[i],
              "expected type of field '" + expr.fields[i] + "' is '" + DisplayCut(*field->type) +
                  "' but provided type is '" + DisplayCut(*unifier_.Resolve(value)) + "'");
      }
    }
  }

  void Declare(const std::string& name, TypePtr type) {
    // Slots are reused by loops that stand beside each other.
    scope_.push_back({name, std::move(type), scope_.size()});
    checked_.slots = std::max(checked_.slots, scope_.size());
  }

  void Fold(Expr& expr) {
    Visit(*expr.args[kRange]);
    Visit(*expr.args[kStart]);
    const TypePtr range = unifier_.Resolve(expr.args[kRange]->type);
    const TypePtr accumulator = expr.args[kStart]->type;
    TypePtr first = Simple(Kind::kDyn), second = Simple(Kind::kDyn);
    if (range->kind == Kind::kList) {
      first = expr.iter2.empty() ? range->params[0] : Simple(Kind::kInt);
      second = range->params[0];
    } else if (range->kind == Kind::kMap) {
      first = range->params[0];
      second = range->params[1];
    } else if (range->kind == Kind::kParam || IsWild(*range)) {
      unifier_.Assign(Simple(Kind::kDyn), range);
    } else {
      Fault(expr.args[kRange]->position,
            "expression of type '" + DisplayCut(*range) +
                "' cannot be range of a comprehension (must be list, map, or dynamic)");
      first = second = Simple(Kind::kError);
    }
    expr.slot = static_cast<int>(scope_.size());
    Declare(expr.accumulator, accumulator);
    Declare(expr.iter, first);
    Declare(expr.iter2.empty() ? "@none" : expr.iter2, second);
    Visit(*expr.args[kCondition]);
    Assert(*expr.args[kCondition], Simple(Kind::kBool));
    Visit(*expr.args[kStep]);
    Assert(*expr.args[kStep], accumulator);
    scope_.resize(scope_.size() - 2);
    Visit(*expr.args[kFoldResult]);
    scope_.pop_back();
    expr.type = unifier_.Resolve(expr.args[kFoldResult]->type);
  }

  void Assert(const Expr& expr, const TypePtr& type) {
    if (!unifier_.Assign(type, expr.type)) Mismatch(expr, type, expr.type);
  }

  Ast& ast_;
  const Environment& environment_;
  std::vector<Issue>& issues_;
  Unifier unifier_;
  std::vector<Local> scope_;
  Checked checked_;
};

}  // namespace

Checked Check(Ast& ast, const Environment& environment, std::vector<Issue>& issues) {
  return Checker(ast, environment, issues).Run();
}

}  // namespace mailroom::cel
