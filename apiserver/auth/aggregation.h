// What ClusterRoles that gather others come to hold. An aggregated role may gather aggregated roles
// (admin holds edit, edit holds view): the closure is taken, so that the result does not depend on
// what such roles show at the moment. The work for one workspace is bounded; a role that is past the
// bound holds nothing.
#pragma once

#include <vector>

#include "apiserver/auth/rbac.h"

namespace mailroom::apiserver {

// For each of all ClusterRoles of a workspace, in order of their names: the rules it gathers, null
// for one that gathers none.
std::vector<RulesPtr> UnitedRules(const std::vector<const Role*>& roles);

}  // namespace mailroom::apiserver
