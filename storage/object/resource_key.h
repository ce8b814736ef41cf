// Where an object lives: workspace, resource, namespace, name. The only builder and parser of
// store keys, whose form is
//
//   /mailroom/<workspace>/<group>/<resource>/[<namespace>/]<name>
//
// with `core` standing for the core group. Workspace first, so that one range is one workspace.
// No segment can hold a '/', be empty, or be "." or "..", hence no key is a prefix of another
// workspace's range.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/ids.h"
#include "storage/object/result.h"

namespace mailroom {

struct ResourceKey {
  Workspace workspace;
  GroupResource resource;
  std::string ns;    // "" for cluster-scoped objects
  std::string name;

  // The store key. REQUIRES: Check().ok().
  std::string ToStoreKey() const;
  // BadRequest when a segment could not stand in a key.
  Result<void> Check() const;
  static Result<ResourceKey> Parse(std::string_view store_key);

  friend auto operator<=>(const ResourceKey&, const ResourceKey&) = default;
};

// The store prefix (ending in '/') of everything, of one workspace, of one resource in it, and of
// one namespace of that resource.
std::string HubPrefix();
// Among them, but no object's: the mark that compaction leaves to move the revision of a store
// nobody writes to.
std::string CompactionMark();
std::string WorkspacePrefix(const Workspace& workspace);
std::string ResourcePrefix(const Workspace& workspace, const GroupResource& resource);
std::string NamespacePrefix(const Workspace& workspace, const GroupResource& resource,
                            std::string_view ns);
// First key after every key that starts with `prefix`.
std::string PrefixEnd(std::string_view prefix);

// A workspace name: DNS-1123 label or subdomain characters, at most 253 bytes.
bool IsWorkspaceName(std::string_view name);

}  // namespace mailroom
