// Whether rules that somebody holds cover rules that are granted. Bounded, whatever the lists of a
// rule multiply to. Pure functions.
#pragma once

#include "apiserver/auth/rule.h"
#include "storage/object/limits.h"

namespace mailroom::apiserver {

// The rights that are wanted and not held.
struct Missing {
  Rules rules = {};       // merged by resource; as many as are told
  bool more = false;      // than those
  bool too_many = false;  // rights are wanted for all of them to be compared
  bool empty() const { return rules.empty() && !more && !too_many; }
};
// Stops looking when `told` of them are known.
Missing Uncovered(const Rules& held, const Rules& wanted, std::size_t told = limits::kRulesTold);

}  // namespace mailroom::apiserver
