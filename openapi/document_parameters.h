// Parameters of operations, as both OpenAPI dialects describe them. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json.h"

namespace mailroom::openapi {

struct ParameterFacts {
  std::string name;
  const char* in = "query";  // or path
  std::string type = "string";
  std::string description;

  friend bool operator==(const ParameterFacts&, const ParameterFacts&) = default;
};

// What has a place of its own in the path.
ParameterFacts PathParameter(std::string name, std::string description);
// Whether output is to be indented; taken by nearly all operations.
ParameterFacts PrettyParameter();
// The members of a built-in type of options, such as `meta/v1.ListOptions`, `without` some (space
// separated).
std::vector<ParameterFacts> OptionParameters(std::string_view type,
                                             std::string_view without = "");

}  // namespace mailroom::openapi
