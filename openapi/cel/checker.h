// Types of expressions: every node gets its type, every call its possible overloads, every
// identifier its slot.
#pragma once

#include <vector>

#include "openapi/cel/ast.h"
#include "openapi/cel/program.h"

namespace mailroom::cel {

struct Checked {
  std::size_t slots = 0;    // variables and loop variables
  std::vector<bool> used;   // by index of the environment's variables
};

// REQUIRES: the tree came from Parse without issues.
Checked Check(Ast& ast, const Environment& environment, std::vector<Issue>& issues);

// Type inference with variables. A failed attempt leaves no trace.
class Unifier {
 public:
  TypePtr Fresh();
  // The type with what is known of its variables; the unknown ones become dyn when `final`.
  // Parts beyond limits::kCelTypeParts become dyn: types may share parts, and written out in full
  // they can be exponentially larger than the expression.
  TypePtr Resolve(const TypePtr& type, bool final = false) const;
  bool Assign(const TypePtr& to, const TypePtr& from);
  bool AssignAll(const std::vector<TypePtr>& to, const std::vector<TypePtr>& from);
  // Renames an overload's own variables.
  TypePtr Instantiate(const TypePtr& type, std::vector<std::pair<std::string, TypePtr>>& renamed);

 private:
  TypePtr ResolveWithin(const TypePtr& type, bool final, std::size_t& parts) const;
  bool Try(const TypePtr& a, const TypePtr& b);
  // Whether variable `b` may stand for `a`; sets `known` when it had a meaning before.
  bool Substitute(const TypePtr& a, const TypePtr& b, bool& known);
  bool Occurs(const Type& variable, const TypePtr& within) const;
  const TypePtr* Meaning(const Type& variable) const;
  void Bind(const Type& variable, TypePtr meaning);

  std::vector<TypePtr> meanings_;  // by number of the variable; null: none yet
  std::vector<std::pair<std::size_t, TypePtr>> undo_;
  mutable std::size_t steps_ = 0;  // of the present attempt; past the bound everything fits
};

// The less specific of two types that agree.
TypePtr MoreGeneral(const TypePtr& a, const TypePtr& b);

}  // namespace mailroom::cel
