#include "syncer/decide.h"

namespace mailroom::syncer {
namespace {

Action DecideWanted(const Situation& s) {
  if (!s.present) return Action::kApply;
  if (s.deleting) return Action::kNothing;
  switch (s.owner) {
    case Owner::kOurs:
      if (s.create_only) return s.kept ? Action::kNothing : Action::kMarkCreateOnly;
      return s.settled ? Action::kNothing : Action::kApply;
    case Owner::kFormerSelf:
      return s.create_only ? Action::kNothing : Action::kApply;
    case Owner::kOtherMailbox:
    case Owner::kNobody:
      if (s.adopt) return s.create_only ? Action::kNothing : Action::kApply;
      return s.is_namespace ? Action::kNothing : Action::kConflict;
  }
  return Action::kNothing;
}

}  // namespace

Action Decide(const Situation& s) {
  if (s.wanted) return DecideWanted(s);
  if (!s.present || s.deleting || s.owner != Owner::kOurs || s.kept) return Action::kNothing;
  return s.instructed ? Action::kRemove : Action::kHold;
}

}  // namespace mailroom::syncer
