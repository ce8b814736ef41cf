// What CEL expressions of admission ask about access, answered by the same authority that let the
// request in. Lives no longer than the call.
#pragma once

#include <memory>

#include "apiserver/call.h"
#include "openapi/cel/authorizer.h"

namespace mailroom::apiserver {

std::shared_ptr<const cel::AccessOracle> OracleFor(const Call& call);

}  // namespace mailroom::apiserver
