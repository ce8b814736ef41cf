// How an operator lets a new edge cluster in: a join token for one mailbox, and the command that
// uses it there.
#pragma once

#include <string>

#include "storage/object/result.h"

namespace mailroom::apiserver {

// Makes the token in `workspace` (root, or that of the inventory entry) with the credential of the
// kubeconfig file, and returns the command line for the edge cluster.
Result<std::string> JoinCommand(const std::string& kubeconfig, const std::string& workspace,
                                const std::string& mailbox);

}  // namespace mailroom::apiserver
