// Checking a value against a definition's schema: types, bounds, patterns, formats, junctors and
// list uniqueness, with kube-apiserver's texts. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "openapi/schema.h"
#include "storage/object/problems.h"

namespace mailroom::openapi {

// Errors of `value`; `path` is where it stands. With `old`, errors of parts that did not change
// are left out.
Causes CheckSchema(const Schema& schema, const Json& value, const Json* old, const std::string& path);
// Duplicates in lists of type set and map.
Causes CheckLists(const Schema& schema, const Json& value, const std::string& path);

// Whether `text` has a string format; formats that are not known accept everything.
bool HasFormat(std::string_view format, const std::string& text);
// Whether kube-apiserver knows the format of a node of `type`.
bool IsKnownFormat(Type type, std::string_view format);
// Whether the pattern is found in `text`; a pattern that does not compile matches nothing.
bool MatchesPattern(const std::string& pattern, const std::string& text);
// Why the pattern does not compile, or "".
std::string PatternFault(const std::string& pattern);

}  // namespace mailroom::openapi
