// Macros: has, all, exists, exists_one, map, filter, their two-variable forms, transformList,
// transformMap, transformMapEntry, optMap and optFlatMap.
#include "openapi/cel/parser.h"

namespace mailroom::cel {
namespace {

constexpr const char* kAccumulator = "@result";

class Expander {
 public:
  Expander(Ast& ast, std::uint32_t position, std::vector<Issue>& issues)
      : ast_(ast), position_(position), issues_(issues) {}

  Expr* Has(const std::vector<Expr*>& args) {
    if (args[0]->shape != Shape::kSelect) return Fault(args[0], "invalid argument to has() macro");
    Expr* node = ast_.New(Shape::kSelect, position_);
    node->operand = args[0]->operand;
    node->name = args[0]->name;
    node->test_only = true;
    return node;
  }

  // all, exists, exists_one with one or two variables.
  Expr* Quantify(const std::string& name, Expr* target, const std::vector<Expr*>& args) {
    Expr* fold = Fold(target, args, args.size() == 3, "argument must be a simple name");
    Expr* predicate = args.back();
    if (name == "all") {
      Fill(fold, Bool(true), Call("@not_strictly_false", {Accumulator()}),
           Call("_&&_", {Accumulator(), predicate}), Accumulator());
    } else if (name == "exists") {
      Fill(fold, Bool(false), Call("@not_strictly_false", {Call("!_", {Accumulator()})}),
           Call("_||_", {Accumulator(), predicate}), Accumulator());
    } else {
      Fill(fold, Int(0), Bool(true),
           Call("_?_:_", {predicate, Call("_+_", {Accumulator(), Int(1)}), Accumulator()}),
           Call("_==_", {Accumulator(), Int(1)}));
    }
    return fold;
  }

  // map, filter, transformList: `item` is appended where `filter` (may be null) holds.
  Expr* Collect(Expr* target, const std::vector<Expr*>& args, bool two, Expr* filter, Expr* item) {
    Expr* fold = Fold(target, args, two,
                      two ? "argument must be a simple name" : "argument is not an identifier");
    Expr* single = ast_.New(Shape::kList, position_);
    single->args = {item};
    single->optional = {false};
    Expr* step = Call("_+_", {Accumulator(), single});
    step->appends = true;
    if (filter != nullptr) step = Call("_?_:_", {filter, step, Accumulator()});
    Fill(fold, ast_.New(Shape::kList, position_), Bool(true), step, Accumulator());
    return fold;
  }

  // transformMap and transformMapEntry.
  Expr* CollectMap(Expr* target, const std::vector<Expr*>& args, bool entries) {
    Expr* fold = Fold(target, args, true, "argument must be a simple name");
    Expr* filter = args.size() == 4 ? args[2] : nullptr;
    std::vector<Expr*> given = {Accumulator()};
    if (!entries) given.push_back(Ident(fold->iter));
    given.push_back(args.back());
    Expr* step = Call("cel.@mapInsert", std::move(given));
    if (filter != nullptr) step = Call("_?_:_", {filter, step, Accumulator()});
    Fill(fold, ast_.New(Shape::kMap, position_), Bool(true), step, Accumulator());
    return fold;
  }

  Expr* Bind(const std::string& name, Expr* value, Expr* body) {
    Expr* fold = ast_.New(Shape::kFold, position_);
    fold->is_bind = true;
    fold->iter = "#unused";
    fold->accumulator = name;
    fold->args = {ast_.New(Shape::kList, position_), value, Bool(false), Ident(name), body};
    return fold;
  }

  Expr* BindNamed(const std::vector<Expr*>& args) {
    if (args[0]->shape != Shape::kIdent) {
      return Fault(args[0], "cel.bind() variable names must be simple identifiers");
    }
    return Bind(args[0]->name, args[1], args[2]);
  }

  // The target is bound, not repeated, so that chains of these do not double in size.
  Expr* OptMap(Expr* target, const std::vector<Expr*>& args, bool flat) {
    if (args[0]->shape != Shape::kIdent) {
      return Fault(args[0], std::string(flat ? "optFlatMap" : "optMap") +
                                "() variable name must be a simple identifier");
    }
    const std::string hidden = "@optional";
    Expr* inner = Bind(args[0]->name, Member("value", Ident(hidden)), args[1]);
    if (!flat) inner = Call("optional.of", {inner});
    return Bind(hidden, target, Call("_?_:_", {Member("hasValue", Ident(hidden)), inner,
                                               Call("optional.none", {})}));
  }

  Expr* SortBy(Expr* target, const std::vector<Expr*>& args) {
    const std::string hidden = "@sorted";
    Expr* keys = Collect(Ident(hidden), args, false, nullptr, args[1]);
    Expr* call = Member("@sortByAssociatedKeys", Ident(hidden));
    call->args = {keys};
    return Bind(hidden, target, call);
  }

  Expr* Fault(const Expr* where, std::string message) {
    issues_.push_back({where->position, std::move(message)});
    return ast_.New(Shape::kConstant, position_);
  }

  Expr* Bool(bool value) {
    Expr* node = ast_.New(Shape::kConstant, position_);
    node->constant = Value::Bool(value);
    return node;
  }

 private:
  Expr* Int(std::int64_t value) {
    Expr* node = ast_.New(Shape::kConstant, position_);
    node->constant = Value::Int(value);
    return node;
  }
  Expr* Ident(const std::string& name) {
    Expr* node = ast_.New(Shape::kIdent, position_);
    node->name = name;
    return node;
  }
  Expr* Accumulator() { return Ident(kAccumulator); }
  Expr* Call(const char* name, std::vector<Expr*> args) {
    Expr* node = ast_.New(Shape::kCall, position_);
    node->name = name;
    node->args = std::move(args);
    return node;
  }
  Expr* Member(const char* name, Expr* target) {
    Expr* node = Call(name, {});
    node->operand = target;
    return node;
  }

  Expr* Fold(Expr* target, const std::vector<Expr*>& args, bool two, const char* fault) {
    Expr* fold = ast_.New(Shape::kFold, position_);
    fold->accumulator = kAccumulator;
    fold->args = {target};
    for (std::size_t i = 0; i < (two ? 2U : 1U); ++i) {
      if (args[i]->shape != Shape::kIdent) {
        Fault(args[i], fault);
        return fold;
      }
      if (args[i]->name == "__result__") {
        Fault(args[i], "iteration variable overwrites accumulator variable");
      }
      (i == 0 ? fold->iter : fold->iter2) = args[i]->name;
    }
    if (two && fold->iter == fold->iter2) {
      Fault(args[1], "duplicate variable name: " + fold->iter);
    }
    return fold;
  }
  static void Fill(Expr* fold, Expr* start, Expr* condition, Expr* step, Expr* result) {
    fold->args.insert(fold->args.end(), {start, condition, step, result});
  }

  Ast& ast_;
  std::uint32_t position_;
  std::vector<Issue>& issues_;
};

}  // namespace

Expr* ExpandMacro(Ast& ast, std::uint32_t position, const std::string& name, Expr* target,
                  const std::vector<Expr*>& args, std::vector<Issue>& issues) {
  Expander expand(ast, position, issues);
  const std::size_t count = args.size();
  if (target == nullptr) return name == "has" && count == 1 ? expand.Has(args) : nullptr;
  if (name == "all" || name == "exists" || name == "exists_one" || name == "existsOne") {
    return count == 2 || count == 3 ? expand.Quantify(name, target, args) : nullptr;
  }
  if (name == "map" && (count == 2 || count == 3)) {
    return expand.Collect(target, args, false, count == 3 ? args[1] : nullptr, args.back());
  }
  if (name == "filter" && count == 2) {
    return expand.Collect(target, args, false, args[1], args[0]);
  }
  if (name == "transformList" && (count == 3 || count == 4)) {
    return expand.Collect(target, args, true, count == 4 ? args[2] : nullptr, args.back());
  }
  if ((name == "transformMap" || name == "transformMapEntry") && (count == 3 || count == 4)) {
    return expand.CollectMap(target, args, name == "transformMapEntry");
  }
  if ((name == "optMap" || name == "optFlatMap") && count == 2) {
    return expand.OptMap(target, args, name == "optFlatMap");
  }
  if (name == "sortBy" && count == 2) return expand.SortBy(target, args);
  const bool in_cel = target->shape == Shape::kIdent && target->name == "cel";
  if (ast.binds && name == "bind" && in_cel && count == 3) return expand.BindNamed(args);
  return nullptr;
}

}  // namespace mailroom::cel
