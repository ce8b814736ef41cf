// An expression as a tree. Nodes are owned by the Ast and refer to each other by pointer; macros
// are already expanded. Parsing fills what is above the line in Expr, checking what is below.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "openapi/cel/type.h"
#include "openapi/cel/value.h"

namespace mailroom::cel {

struct Overload;

enum class Shape {
  kConstant,
  kIdent,
  kSelect,
  kCall,
  kList,
  kMap,
  kStruct,
  kFold,  // a comprehension
};

struct Expr {
  Shape shape = Shape::kConstant;
  std::uint32_t position = 0;  // code points from the start of the text
  Value constant;
  std::string name;             // identifier, field, function or message type
  Expr* operand = nullptr;      // selected from, or the target of a member call
  bool test_only = false;       // has(operand.name)
  // Arguments, elements, values of a map or message.
  std::vector<Expr*> args;
  std::vector<Expr*> keys;          // of a map
  std::vector<std::string> fields;  // of a message
  std::vector<std::uint32_t> field_positions;
  std::vector<bool> optional;       // elements and entries given with `?`

  // kFold. args: range, accumulator's start, condition, step, result.
  std::string iter, iter2, accumulator;
  bool is_bind = false;  // cel.bind: no loop

  // ---- after checking
  TypePtr type;
  // Overloads that may apply; when more than one, values decide.
  std::vector<const Overload*> overloads;
  int slot = -1;   // kIdent: index of the variable; kFold: of the accumulator, iter and iter2
  bool appends = false;    // the step `accumulator + [x]` of a fold: may change it in place
  bool constant_list = false;  // all elements are constants
};

enum FoldPart { kRange = 0, kStart = 1, kCondition = 2, kStep = 3, kFoldResult = 4 };

struct Ast {
  std::deque<Expr> nodes;
  Expr* root = nullptr;
  bool binds = false;  // cel.bind() is a macro

  Expr* New(Shape shape, std::uint32_t position) {
    Expr& node = nodes.emplace_back();
    node.shape = shape;
    node.position = position;
    return &node;
  }
};

// Where something is wrong.
struct Issue {
  std::uint32_t position = 0;
  std::string message;
};
// As kube-apiserver prints them: `ERROR: <input>:1:5: ...`, the line, and a mark under it.
std::string Describe(const std::string& text, std::vector<Issue> issues);

}  // namespace mailroom::cel
