// The OpenAPI documents of a catalogue. Pure functions; callers remember the results.
#pragma once

#include <string>
#include <string_view>

#include "openapi/catalog.h"

namespace mailroom::openapi {

// The v3 document of one group version; null when the catalogue does not serve it.
Json DocumentV3(const Catalog& catalog, std::string_view group, std::string_view version);

// The v2 document of everything the catalogue serves.
Json DocumentV2(const Catalog& catalog);
// The documents as the gnostic protobuf messages that clients may ask for.
std::string EncodeGnosticV2(const Json& document);
std::string EncodeGnosticV3(const Json& document);

}  // namespace mailroom::openapi
