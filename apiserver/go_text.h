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

// What strconv.ParseUint says of a text that is no number of 64 bits; "" when it is one.
std::string ParseUintProblem(std::string_view text);

// What encoding/base64 says of a text in the alphabet for URLs without padding; "" when it is one.
std::string Base64Problem(std::string_view text);

// object, array, string, number, bool: how Go names the JSON type of a value.
std::string_view JsonKindName(const Json& value);

}  // namespace mailroom::apiserver
