// The one decision of downsync, apart from all input and output: given what is wanted and what is
// there, what to do. Pure.
#pragma once

#include "syncer/ownership.h"

namespace mailroom::syncer {

struct Situation {
  bool instructed = true;    // there is at least one SyncerConfig
  bool wanted = false;       // selected, and in the mailbox (or a namespace to ensure)
  bool create_only = false;  // the mailbox copy says: create, then leave alone
  bool adopt = false;        // the mailbox copy says: take over what somebody else made
  bool is_namespace = false;
  bool present = false;          // in the WEC
  bool deleting = false;         // the WEC object is on its way out
  bool settled = false;          // the WEC object holds everything desired
  bool kept = false;             // the WEC object is marked create-only
  Owner owner = Owner::kNobody;  // of the WEC object
};

enum class Action {
  kNothing,
  kApply,
  kMarkCreateOnly,  // note on the WEC object that it is to be left alone
  kRemove,
  kConflict,  // somebody else's object is in the way
  kHold,      // unwanted, but nobody gave instructions: keep it and say so
};

Action Decide(const Situation& situation);

}  // namespace mailroom::syncer
