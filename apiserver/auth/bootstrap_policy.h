// The roles, bindings and priority classes that every workspace with live policy starts with: one
// constant set, the roles read once from openapi/builtin/rbac.yaml.
#pragma once

#include <string>
#include <vector>

#include "storage/cached_store.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

struct PolicyObject {
  GroupResource resource;
  std::string ns, name;
  Json tree;  // without uid and time; aggregated roles carry their union
};
const std::vector<PolicyObject>& BootstrapPolicy();

// The whole set as puts into a new workspace.
void AddBootstrapPolicy(const Workspace& workspace, const std::string& now, storage::Txn& txn);
// Puts back what is missing in an existing workspace, as kube-apiserver does when it starts.
Result<void> RestoreBootstrapPolicy(storage::CachedStore& store, const Workspace& workspace,
                                    const std::string& now);

}  // namespace mailroom::apiserver
