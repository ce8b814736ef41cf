// Forward declaration of the JSON tree type, for headers that only name it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace mailroom {
using Json = nlohmann::json;
}  // namespace mailroom
