// What deleting a container in the WEC would take along: the instances of a CRD, the contents of
// a namespace. Asked live, only when such a container is to be deleted.
#pragma once

#include <string>

#include "apiserver/client/client.h"
#include "storage/object/json_fwd.h"
#include "storage/object/result.h"
#include "syncer/kinds.h"
#include "syncer/ownership.h"

namespace mailroom::syncer {

// Names one instance of the CRD that is still there, "" when there is none.
Result<std::string> RemainingInstance(const client::Client& wec, const Json& crd);

// Names one object in the namespace that neither this syncer nor the cluster's own machinery
// made, "" when there is none.
Result<std::string> ForeignObject(const client::Client& wec, Kinds& kinds, const std::string& ns,
                                  const Identity& identity);

}  // namespace mailroom::syncer
