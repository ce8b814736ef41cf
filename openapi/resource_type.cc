#include "openapi/resource_type.h"

#include <algorithm>

namespace mailroom::openapi {

const Subresource* ResourceType::FindSubresource(std::string_view name) const {
  auto at = std::find_if(subresources.begin(), subresources.end(),
                         [name](const Subresource& sub) { return sub.name == name; });
  return at == subresources.end() ? nullptr : &*at;
}

const SelectableField* ResourceType::FindSelectable(std::string_view name) const {
  auto at = std::find_if(selectable_fields.begin(), selectable_fields.end(),
                         [name](const SelectableField& field) { return field.name == name; });
  return at == selectable_fields.end() ? nullptr : &*at;
}

bool ResourceType::HasVerb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const ResourceType* ResourceType::FindVersion(std::string_view api_version) const {
  if (versions == nullptr) return nullptr;
  const std::string_view version = api_version.substr(api_version.find('/') + 1);
  auto at = std::find_if(versions->begin(), versions->end(), [version](const ResourceType& type) {
    return type.gvk.version == version;
  });
  return at == versions->end() ? nullptr : &*at;
}

}  // namespace mailroom::openapi
