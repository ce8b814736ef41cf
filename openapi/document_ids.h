// Operation ids and tags. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace mailroom::openapi {

// `networking.k8s.io` and `v1` as `NetworkingV1`; core as `Core`.
std::string GroupVersionWord(std::string_view group, std::string_view version);
// `networking_v1`; `networking` without a version.
std::string TagOf(std::string_view group, std::string_view version);
// With a capital at its beginning.
std::string Capital(std::string_view text);

}  // namespace mailroom::openapi
