// The resources a workspace serves, read from its discovery documents. Blocking; called from
// reconcilers only.
#pragma once

#include <string>
#include <vector>

#include "apiserver/client/client.h"
#include "storage/object/ids.h"
#include "storage/object/json.h"
#include "storage/object/result.h"

namespace mailroom::translator {

struct ResourceFacts {
  GroupResource resource;
  std::string version;      // the preferred one, or the best that has it
  bool has_status = false;  // status subresource
  bool namespaced = false;
  client::Gvr gvr() const;
  friend bool operator==(const ResourceFacts&, const ResourceFacts&) = default;
};

// Appends the listable, watchable resources of one APIResourceList that `out` does not have yet.
void AddResources(const std::string& group, const std::string& version, const Json& list,
                  std::vector<ResourceFacts>& out);
// Any document that cannot be read fails the whole: a part must not look like a removal.
Result<std::vector<ResourceFacts>> Discover(const client::Client& client);

}  // namespace mailroom::translator
