#include "openapi/resource_type.h"

#include <algorithm>

namespace mailroom::openapi {

const Subresource* ResourceType::FindSubresource(std::string_view name) const {
  auto at = std::find_if(subresources.begin(), subresources.end(),
                         [name](const Subresource& sub) { return sub.name == name; });
  return at == subresources.end() ? nullptr : &*at;
}

bool ResourceType::HasVerb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

}  // namespace mailroom::openapi
