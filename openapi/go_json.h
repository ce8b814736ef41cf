// JSON as Go's encoding/json writes it where it stands in texts: `<`, `>` and `&` are escaped, so
// that it is safe in a page. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/json_fwd.h"

namespace mailroom::openapi {

// A JSON text with those characters escaped; they stand only within its strings.
std::string PageSafe(std::string_view json);
// The members of objects are sorted.
std::string GoJson(const Json& value);
std::string GoJsonQuote(std::string_view text);

}  // namespace mailroom::openapi
