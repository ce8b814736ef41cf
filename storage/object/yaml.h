// YAML in, JSON tree out, and back. Sole user of yaml-cpp; its exceptions end here. Custom
// tags are refused; depth and size are bounded (limits.h), of what aliases and merge keys make of the
// text, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json.h"

namespace mailroom {

// One document. Scalars resolve as YAML 1.1 core types do for Kubernetes (quoted are strings).
Result<Json> ParseYaml(std::string_view text);
// Duplicate keys are reported like ParseJsonStrict, as `line <n>: key "<k>" already set in map`.
Result<ParsedJson> ParseYamlStrict(std::string_view text);
// Documents separated by `---`; empty ones are dropped.
Result<std::vector<Json>> ParseYamlDocuments(std::string_view text);
// Block style, keys sorted.
std::string DumpYaml(const Json& value);

}  // namespace mailroom
