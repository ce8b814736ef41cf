// APIServices of the group versions that a workspace serves by itself, where APIServices act. Those
// that every workspace of its type serves are implied (implied.h); deleting one makes it anew. Those
// of definitions are stored (definition_apis.h): they come and go, and watches are told.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// The label that says who looks after an APIService.
inline constexpr const char* kAutomanaged = "kube-aggregator.kubernetes.io/automanaged";

// Those that are implied in the workspace.
std::vector<Json> ImpliedApis(const Hub& hub, const WorkspaceView& workspace);
// Whether every workspace of the type serves the group version by itself.
bool IsImpliedApi(openapi::WorkspaceType type, std::string_view group, std::string_view version);
// An APIService for what definitions serve, without what the server fills in.
Json DefinitionApi(const std::string& group, const std::string& version);
// For KindRules: 409 for a name that is implied; another object in the place of one that goes.
Result<void> PrepareApiService(Call& call, Json& object, const Json* live);
void RenewApiService(const Call& call, const Object& object, storage::Txn& txn);

}  // namespace mailroom::apiserver
