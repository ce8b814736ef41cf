// Table columns of the built-in kinds: names, types and the functions that render each cell as
// kubectl shows it. Pure functions of the object and the time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/resource_type.h"

namespace mailroom::openapi {

// Columns of a built-in kind; a kind without columns of its own gets Name and Created At.
std::vector<Column> BuiltinColumns(const GroupVersionKind& gvk);
// What rows of a kind say besides their cells; null where they say nothing.
Json (*BuiltinRowConditions(const GroupVersionKind& gvk))(const Json& object);
// Name and Created At.
std::vector<Column> DefaultColumns();

// The age of an RFC 3339 time as `kubectl get` prints it: `5s`, `3m20s`, `2d`, `<unknown>`.
std::string Age(std::string_view timestamp);
// A duration in kubectl's approximate style: three significant digits at most.
std::string HumanDuration(std::int64_t seconds);
// The same with a single unit.
std::string ShortHumanDuration(std::int64_t seconds);

// Seconds since the epoch that ages count from; tests replace it, nullptr restores real time.
void SetColumnClock(std::int64_t (*now)());

}  // namespace mailroom::openapi
