// Values as kube-apiserver's own Go types print them in field errors. Those types name and order
// members in a way of their own and leave none out; what clients see is not printed. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "openapi/validate_builtin.h"

namespace mailroom::openapi {

// A value of the type that `schema` describes; null: there is none.
std::string InternalText(const Schema& schema, const Json* value);
// Whether both say the same, with what is blank as good as left out.
bool IsSameValue(const Schema& schema, const Json* a, const Json* b);

// "Invalid value" of the built-in type `type`.
void InvalidInternal(const BuiltinCheck& check, const std::string& field, std::string_view type,
                     const Json* value, std::string detail);
// "field is immutable" when the member at `path`, of the built-in type `type`, differs from the old
// object's.
void CheckInternalImmutable(const BuiltinCheck& check, Path path, std::string_view type);

}  // namespace mailroom::openapi
