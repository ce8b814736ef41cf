// The two members of a PersistentVolumeClaim that say where its data comes from.
#pragma once

#include "apiserver/call.h"
#include "storage/object/json.h"

namespace mailroom::apiserver {

// KindRules::settle: where claims are acted on, dataSource and dataSourceRef say the same if either
// can; what only the newer one may name is forgotten in the older one.
void FillClaim(Call& call, Json& object, const Json* live);
// The same for claims of a StatefulSet, whose sources stay as they were stored.
void FillClaimTemplates(Call& call, Json& object, const Json* live);

}  // namespace mailroom::apiserver
