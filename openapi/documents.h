// The OpenAPI documents of a catalogue. Pure functions; callers remember the results.
#pragma once

#include <string_view>

#include "openapi/catalog.h"

namespace mailroom::openapi {

// The v3 document of one group version; null when the catalogue does not serve it.
Json DocumentV3(const Catalog& catalog, std::string_view group, std::string_view version);

}  // namespace mailroom::openapi
