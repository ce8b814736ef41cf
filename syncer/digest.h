// SHA-256 as hexadecimal text, for names and fingerprints.
#pragma once

#include <string>
#include <string_view>

namespace mailroom::syncer {

std::string HexDigest(std::string_view text);

}  // namespace mailroom::syncer
