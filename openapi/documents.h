// The OpenAPI documents of a catalogue. Pure functions; callers remember the results. `docs` are
// the operator's texts on built-in types; null: our own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "openapi/catalog.h"
#include "openapi/descriptions.h"

namespace mailroom::openapi {

// Version of the API in the documents' heads.
inline constexpr const char* kDocumentVersion = "1.36";

// The v3 document of one group version; null when the catalogue does not serve it.
Json DocumentV3(const Catalog& catalog, std::string_view group, std::string_view version,
                const ApiDocs* docs = nullptr);

// Paths below which there is a v3 document, but for those of group versions (`version`, `apis/apps`),
// and that document; null for any other path.
std::vector<std::string> ServerPaths(const Catalog& catalog);
Json ServerDocumentV3(const Catalog& catalog, std::string_view path, const ApiDocs* docs = nullptr);

// The v2 document of everything the catalogue serves.
Json DocumentV2(const Catalog& catalog, const ApiDocs* docs = nullptr);
// The documents as the gnostic protobuf messages that clients may ask for.
std::string EncodeGnosticV2(const Json& document);
std::string EncodeGnosticV3(const Json& document);

}  // namespace mailroom::openapi
