// Standard base64 with padding, as bytes fields of built-in types carry it. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mailroom::openapi {

std::string EncodeBase64(std::string_view bytes);
// Nothing when `text` is not well-formed; line breaks are skipped.
std::optional<std::string> DecodeBase64(std::string_view text);
// The offset of the first byte that is out of place, or nothing when `text` is well-formed.
std::optional<std::size_t> Base64Fault(std::string_view text);

}  // namespace mailroom::openapi
