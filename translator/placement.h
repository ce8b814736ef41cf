// A placement as the translator understands it: which objects (clauses) go where (selectors).
// Parsed once from a BindingPolicy or an EdgePlacement; immutable afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/object/json.h"
#include "storage/object/selector.h"

namespace mailroom::translator {

// An object matches a clause when it passes every predicate; an empty predicate passes all.
struct Clause {
  std::optional<std::string> api_group;  // "" is core
  std::vector<std::string> resources;    // plural or plural.group
  std::vector<std::string> namespaces;
  std::vector<LabelSelector> namespace_selectors;
  std::vector<LabelSelector> object_selectors;
  std::vector<std::string> object_names;
  bool create_only = false;
  bool want_singleton = false;
};

struct Placement {
  // A cluster is chosen when any selector matches the labels of its inventory entry.
  std::vector<LabelSelector> cluster_selectors;
  // A cluster is chosen when it belongs to a Location that any selector matches.
  std::vector<LabelSelector> location_selectors;
  std::vector<Clause> clauses;
  // Why a part of it could not be understood. Such a placement still chooses by its other parts,
  // but nothing of its workspace is removed from mailboxes until it is mended.
  std::vector<std::string> errors;
  std::int64_t generation = 0;
  std::string spec_text;  // two placements with equal text choose alike
};

Placement ParseBindingPolicy(const Json& policy);
Placement ParseEdgePlacement(const Json& placement);

}  // namespace mailroom::translator
