// The operations on a custom resource, which the original describes in a way of its own.
#pragma once

#include <vector>

#include "openapi/document_paths.h"

namespace mailroom::openapi {

std::vector<OperationFacts> CustomOperationsOf(const ResourceType& type);

}  // namespace mailroom::openapi
