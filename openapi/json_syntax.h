// What Go says about JSON documents that it cannot read. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace mailroom::openapi {

// What encoding/json says about a text that is not JSON; "" when it is well-formed.
std::string JsonSyntaxProblem(std::string_view text);
// The same when the text is to be an object, or null.
std::string JsonObjectProblem(std::string_view text);

}  // namespace mailroom::openapi
