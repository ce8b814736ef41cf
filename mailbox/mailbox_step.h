// What to do next about one mailbox: a pure function from what exists (inventory entry,
// workspace, Mailbox object, what the syncer reports) to at most one write. Called again after every change, it walks
// from nothing to a Ready mailbox and back, whatever happened in between.
#pragma once

#include <chrono>
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
  ObjectPtr config = nullptr;  // SyncerConfig `the-one` in the mailbox
};

struct Step {
  enum class Kind {
    kNothing,
    kCreateWorkspace,
    kCreateMailbox,
    kUpdateMailbox,
    kUpdateMailboxStatus,
    kUpdateEntry,
    kUpdateEntryStatus,
    kDeleteMailbox,
    kDeleteWorkspace,
  };
  Kind kind = Kind::kNothing;
  Json body;        // of a create or update
  std::string uid;  // precondition of a delete
  // With kNothing: look again then, although nothing may have changed; zero for never.
  std::chrono::milliseconds after{0};
};

// `now` (RFC 3339) is the transition time of a condition that changes.
Step NextStep(const Seen& seen, const std::string& now);

}  // namespace mailroom::mailbox
