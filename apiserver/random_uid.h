// A new random UUID (version 4) for metadata.uid and the like.
#pragma once

#include <string>

namespace mailroom::apiserver {

std::string NewUid();

}  // namespace mailroom::apiserver
