// Starts the translator against one hub. `root_client` reaches the root workspace (base path
// `/clusters/root`) with rights to read everything, and to write mailboxes, Bindings and statuses
// in all workspaces. Destroying the result stops everything; its transport must outlive it.
#pragma once

#include <memory>

#include "apiserver/client/client.h"

namespace mailroom::translator {

class Running {
 public:
  virtual ~Running() = default;
};

std::unique_ptr<Running> Start(client::Client root_client);

}  // namespace mailroom::translator
