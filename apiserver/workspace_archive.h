// One workspace as a text file and back, exactly: every object as it is stored, and the Workspace
// object itself. A line of JSON each: a head, the objects, and a foot with their number and the digest
// of both, so that a cut or altered file is refused.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "storage/object/ids.h"
#include "storage/store.h"

namespace mailroom::apiserver {

// The workspace as it was at one revision. NotFound when there is none. Plain: a store that seals
// values has to be given opened.
Result<std::size_t> ExportWorkspace(storage::Store& store, const Workspace& workspace,
                                    std::ostream& out);
// AlreadyExists when the workspace, or anything of it, is there. The Workspace object comes last,
// so that no client sees part of it; what a failed import wrote is taken back.
Result<std::size_t> ImportWorkspace(storage::Store& store, const Workspace& workspace,
                                    std::istream& in);

// `mailroom workspace export|import NAME --file FILE (--data-dir DIR | --etcd-servers URL,...)
// [--encryption-keys-file F]`. With a data directory the hub must not be running. The file holds
// Secrets as they are and is its owner's only.
Result<void> RunWorkspaceCommand(const std::vector<std::string>& args);

}  // namespace mailroom::apiserver
