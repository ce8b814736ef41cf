// The types of CEL. A type both checks an expression and shapes JSON while it is read: a string
// of type timestamp is seen as one. Immutable and shared once built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mailroom::cel {

enum class Kind {
  kError,  // of a value: evaluation failed; of a type: checking failed below
  kDyn,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kTimestamp,
  kDuration,
  kList,
  kMap,
  kObject,    // named fields
  kOptional,
  kType,
  kOpaque,    // a library's own: quantity, IP address, ...
  kParam,     // a type variable of an overload
};

struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct Field {
  std::string name;    // as expressions spell it
  std::string member;  // the member of the JSON object; escaping makes the difference
  TypePtr type;
};

// Order and identity in a list, as x-kubernetes-list-type says.
enum class ListOrder { kAtomic, kSet, kMap };

struct Type {
  Kind kind = Kind::kDyn;
  std::string name;             // kObject, kOpaque, kParam
  std::vector<TypePtr> params;  // list: element; map: key, value; optional, type: one
  std::vector<Field> fields;    // kObject; sorted by name once MakeObject returns
  bool open = false;            // kObject: undeclared fields are dynamic

  ListOrder order = ListOrder::kAtomic;
  std::vector<std::string> keys;   // members that identify the elements of a kMap list
  std::int64_t max_elements = -1;  // characters, elements or entries; -1: not known
  std::int64_t min_size = 0;       // bytes of the smallest JSON text

  const Field* FindField(std::string_view field) const;
};

// The one instance of a type without parameters.
const TypePtr& Simple(Kind kind);
TypePtr MakeList(TypePtr element);
TypePtr MakeMap(TypePtr key, TypePtr value);
TypePtr MakeOptional(TypePtr value);
TypePtr MakeTypeOf(TypePtr type);
TypePtr MakeOpaque(std::string name);
TypePtr MakeParam(std::string name);
// Fields may be given in any order.
TypePtr MakeObject(std::string name, std::vector<Field> fields);

// As error messages print it: `list(string)`, `map(string, dyn)`, `optional_type(int)`.
std::string Display(const Type& type);
// The same within limits::kProblemPathBytes: names are as long as paths in a definition.
std::string DisplayCut(const Type& type);
// What type(x) is called: `list`, `google.protobuf.Timestamp`, `net.IP`.
std::string_view RuntimeName(const Type& type);
bool SameType(const Type& a, const Type& b);

// A property name as an identifier (`a-b` becomes `a__dash__b`); "" when it cannot be one.
std::string Escape(std::string_view property);

}  // namespace mailroom::cel
