// What to do next about one mailbox: a pure function from what exists (inventory entry,
// workspace, Mailbox object) to at most one write. Called again after every change, it walks
// from nothing to a Ready mailbox and back, whatever happened in between.
#pragma once

#include <string>

#include "storage/object/json.h"
#include "storage/object/object.h"

namespace mailroom::mailbox {

// The present state of one mailbox name; null means absent.
struct Seen {
  std::string name;     // `<inventory>-mb-<UID>`
  ObjectPtr entry;      // SyncTarget or ManagedCluster with that UID
  ObjectPtr workspace;  // Workspace `name` in root
  ObjectPtr mailbox;    // Mailbox `name` in root
};

struct Step {
  enum class Kind {
    kNothing,
    kCreateWorkspace,
    kCreateMailbox,
    kUpdateMailbox,
    kUpdateMailboxStatus,
    kDeleteMailbox,
    kDeleteWorkspace,
  };
  Kind kind = Kind::kNothing;
  Json body;        // of a create or update
  std::string uid;  // precondition of a delete
};

// `now` (RFC 3339) is the transition time of a condition that changes.
Step NextStep(const Seen& seen, const std::string& now);

}  // namespace mailroom::mailbox
