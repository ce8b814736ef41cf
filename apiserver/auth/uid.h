// Random version 4 UUIDs, as objects and requests are identified by.
#pragma once

#include <string>

namespace mailroom::apiserver {

std::string NewUid();

}  // namespace mailroom::apiserver
