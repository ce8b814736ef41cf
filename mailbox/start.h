// Starts the mailbox controller against one hub. `root_client` reaches the root workspace (base
// path `/clusters/root`) with rights over workspaces and mailboxes there, and to list and watch
// the inventory of all workspaces. Destroying the result stops everything; its transport must
// outlive it.
#pragma once

#include <memory>

#include "apiserver/client/client.h"

namespace mailroom::mailbox {

class Running {
 public:
  virtual ~Running() = default;
};

std::unique_ptr<Running> Start(client::Client root_client);

}  // namespace mailroom::mailbox
