// From text to a tree: CEL's grammar by recursive descent, bounded in depth, macros expanded.
#pragma once

#include <string>
#include <vector>

#include "openapi/cel/ast.h"

namespace mailroom::cel {

// Fills `ast`. When `issues` comes back not empty, the tree must not be used.
void Parse(const std::string& text, Ast& ast, std::vector<Issue>& issues);

// Replaces a macro call (`args` and `target`, null for a global one) by its expansion. Null when
// `name` is no macro of that form. Errors are added to `issues`.
Expr* ExpandMacro(Ast& ast, std::uint32_t position, const std::string& name, Expr* target,
                  const std::vector<Expr*>& args, std::vector<Issue>& issues);

}  // namespace mailroom::cel
