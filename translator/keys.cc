#include "translator/keys.h"

#include <array>

#include "storage/object/status.h"

namespace mailroom::translator {

client::WorkKey ToWorkKey(const std::string& workspace, const ObjectId& id) {
  return {workspace, id.resource.group + "/" + id.resource.resource + "/" + id.ns + "/" + id.name};
}

std::optional<ObjectId> ParseObjectId(std::string_view text) {
  std::array<std::string, 4> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t slash = i + 1 < parts.size() ? text.find('/') : text.size();
    if (slash == std::string_view::npos) return std::nullopt;
    parts[i] = text.substr(0, slash);
    text.remove_prefix(std::min(slash + 1, text.size()));
  }
  if (parts[1].empty() || parts[3].empty()) return std::nullopt;
  return ObjectId{{parts[0], parts[1]}, parts[2], parts[3]};
}

std::string Describe(const ObjectId& id) {
  std::string text = Qualified(id.resource.resource, id.resource.group);
  if (!id.ns.empty()) text += "/" + id.ns;
  return text + "/" + id.name;
}

ObjectId NamespaceId(std::string_view name) { return {kNamespaces, "", std::string(name)}; }

ObjectId CrdId(const GroupResource& defined) {
  return {kCrds, "", defined.resource + "." + defined.group};
}

std::optional<GroupResource> DefinedBy(std::string_view crd_name) {
  const std::size_t dot = crd_name.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == crd_name.size()) return std::nullopt;
  return GroupResource{std::string(crd_name.substr(dot + 1)), std::string(crd_name.substr(0, dot))};
}

}  // namespace mailroom::translator
