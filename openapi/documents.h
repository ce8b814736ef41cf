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
// A v2 document as the gnostic protobuf message that old clients ask for.
std::string EncodeGnostic(const Json& document);

}  // namespace mailroom::openapi
