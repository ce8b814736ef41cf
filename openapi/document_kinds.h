// Which kinds the models of OpenAPI documents are (x-kubernetes-group-version-kind). Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "openapi/resource_type.h"

namespace mailroom::openapi {

enum class Dialect { kV2, kV3 };

Json KindJson(const GroupVersionKind& gvk);

// The kinds of built-in types, which for options and events depend on the document: they are kinds
// of every group version, of which a document of one names its own and the core's.
class KindLists {
 public:
  // Of a document about everything.
  KindLists() = default;
  // Of the document of one group version.
  KindLists(std::string_view group, std::string_view version) : group_(group), version_(version) {}
  // Of the document of a group version that definitions declare: it names all that clients know.
  static KindLists OfDefinitions();
  // Empty for what is no kind.
  Json Of(const Schema& type) const;

 private:
  std::string group_, version_;  // no version: everything
  bool clients_ = false;         // but for what only servers know
};

// The model of what `/version` answers.
Json VersionInfoModel(Dialect dialect);

}  // namespace mailroom::openapi
