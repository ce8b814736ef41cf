// How an operator lets a new edge cluster in: a join token for one mailbox, and the command that
// uses it there.
#pragma once

#include <string>

#include "storage/object/result.h"

namespace mailroom::apiserver {

// BadRequest for a mailbox made by hand: after it another could have its name, and with that its
// syncer's rights. Names of inventory entries' mailboxes hold a UID.
Result<void> CheckHasSyncer(const std::string& mailbox);

// Makes the token in `workspace` (root, or that of the inventory entry) with the credential of the
// kubeconfig file, and returns the command line for the edge cluster.
Result<std::string> JoinCommand(const std::string& kubeconfig, const std::string& workspace,
                                const std::string& mailbox);

}  // namespace mailroom::apiserver
