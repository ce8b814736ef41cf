// A WEC older than the mailbox refuses an apply that names fields it does not know. This finds
// those fields in its refusal and drops them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/object/json_fwd.h"

namespace mailroom::syncer {

// Removes from `body` what `refusal` calls undeclared, and returns the paths; empty when the
// refusal is about something else. Paths look like `.spec.containers[name="c"].field`.
std::vector<std::string> DropUndeclared(std::string_view refusal, Json& body);

}  // namespace mailroom::syncer
