// Random names: version 4 UUIDs, as objects and requests are identified by, and the endings of
// generated names.
#pragma once

#include <string>

namespace mailroom::apiserver {

std::string NewUid();
// Five characters without vowels, as Kubernetes appends.
std::string NameSuffix();

}  // namespace mailroom::apiserver
