// Faults that the type facts told, put into the words of a single kind: another field path, another
// detail. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/problems.h"

namespace mailroom::openapi {

// Faults of the elements of the list at `list` are told at the list itself.
void TellAtList(Causes& causes, std::string_view list);
// Faults at `from`, or below it, are told at `to`, or below that.
void TellAt(Causes& causes, std::string_view from, std::string_view to);
// What is said of a missing member.
void TellRequired(Causes& causes, std::string_view field, const std::string& detail);
// Takes back what was told of a field.
void Untell(Causes& causes, std::string_view field);

}  // namespace mailroom::openapi
