// Texts that clients know from Go's libraries: what is wrong with a JSON document, a document as
// %+v prints it, and the beginning of a body that could not be read. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include "openapi/json_syntax.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

using openapi::JsonSyntaxProblem;

// `map[a:map[b:1] c:[x y]]`
std::string PrintedMap(const Json& value);

// The first bytes of a body, in hexadecimal unless it looks like JSON.
std::string BodySummary(std::string_view body);

// object, array, string, number, bool: how Go names the JSON type of a value.
std::string_view JsonKindName(const Json& value);

}  // namespace mailroom::apiserver
