// Walking JSON trees by dotted path, the only place that does so by hand. Paths are lists of
// member names; array elements are not addressed. Reads never create members.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json_fwd.h"

namespace mailroom {

using Path = std::initializer_list<std::string_view>;

// The node at `path`, or nullptr when any step is missing or not an object.
const Json* Find(const Json& root, Path path);
Json* Find(Json& root, Path path);
// The string at `path`, or "" when absent or not a string.
std::string StringAt(const Json& root, Path path);
std::int64_t IntAt(const Json& root, Path path, std::int64_t fallback = 0);
bool BoolAt(const Json& root, Path path, bool fallback = false);
// Strings of the array at `path`; other elements are skipped.
std::vector<std::string> StringsAt(const Json& root, Path path);
// Sets the node, creating objects on the way (a non-object on the way is replaced).
Json& Set(Json& root, Path path, Json value);
// Removes the member; true when it was there.
bool Erase(Json& root, Path path);
// Splits `spec.nodeName` or `.spec.nodeName`.
std::vector<std::string> SplitDotted(std::string_view dotted);
const Json* FindDotted(const Json& root, std::string_view dotted);

}  // namespace mailroom
