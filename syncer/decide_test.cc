#include "syncer/decide.h"

#include <gtest/gtest.h>

namespace mailroom::syncer {
namespace {

struct Case {
  const char* name;
  Situation situation;
  Action action;
};

TEST(Decide, Table) {
  const Case cases[] = {
      {"new object", {.wanted = true}, Action::kApply},
      {"new create-only object", {.wanted = true, .create_only = true}, Action::kApply},
      {"ours and settled",
       {.wanted = true, .present = true, .settled = true, .owner = Owner::kOurs},
       Action::kNothing},
      {"ours and drifted",
       {.wanted = true, .present = true, .owner = Owner::kOurs},
       Action::kApply},
      {"ours, create-only since now",
       {.wanted = true, .create_only = true, .present = true, .owner = Owner::kOurs},
       Action::kMarkCreateOnly},
      {"ours, create-only and marked",
       {.wanted = true, .create_only = true, .present = true, .kept = true, .owner = Owner::kOurs},
       Action::kNothing},
      {"ours, marked, but no longer create-only",
       {.wanted = true, .present = true, .kept = true, .owner = Owner::kOurs},
       Action::kApply},
      {"wanted while the WEC deletes it",
       {.wanted = true, .present = true, .deleting = true, .owner = Owner::kOurs},
       Action::kNothing},
      {"a former incarnation's is taken over",
       {.wanted = true, .present = true, .owner = Owner::kFormerSelf},
       Action::kApply},
      {"somebody else's",
       {.wanted = true, .present = true, .owner = Owner::kNobody},
       Action::kConflict},
      {"another mailbox's",
       {.wanted = true, .present = true, .owner = Owner::kOtherMailbox},
       Action::kConflict},
      {"somebody else's, to be adopted",
       {.wanted = true, .adopt = true, .present = true, .owner = Owner::kNobody},
       Action::kApply},
      {"somebody else's, adopt but create-only",
       {.wanted = true, .create_only = true, .adopt = true, .present = true},
       Action::kNothing},
      {"a namespace that was there before is used",
       {.wanted = true, .is_namespace = true, .present = true, .owner = Owner::kNobody},
       Action::kNothing},
      {"unwanted and ours", {.present = true, .owner = Owner::kOurs}, Action::kRemove},
      {"unwanted, absent", {}, Action::kNothing},
      {"unwanted, somebody else's", {.present = true, .owner = Owner::kNobody}, Action::kNothing},
      {"unwanted, a former incarnation's",
       {.present = true, .owner = Owner::kFormerSelf},
       Action::kNothing},
      {"unwanted, another mailbox's",
       {.present = true, .owner = Owner::kOtherMailbox},
       Action::kNothing},
      {"unwanted, already going",
       {.present = true, .deleting = true, .owner = Owner::kOurs},
       Action::kNothing},
      {"unwanted, but create-only stays",
       {.present = true, .kept = true, .owner = Owner::kOurs},
       Action::kNothing},
      {"unwanted, but nobody gave instructions",
       {.instructed = false, .present = true, .owner = Owner::kOurs},
       Action::kHold},
  };
  for (const Case& c : cases) EXPECT_EQ(Decide(c.situation), c.action) << c.name;
}

// Whatever else is true, only what is ours and unwanted by instruction is deleted.
TEST(Decide, RemovesOnlyItsOwnOnInstruction) {
  for (int bits = 0; bits < 512; ++bits) {
    const auto bit = [bits](int n) { return (bits >> n & 1) != 0; };
    for (const Owner owner :
         {Owner::kOurs, Owner::kFormerSelf, Owner::kOtherMailbox, Owner::kNobody}) {
      const Situation s{.instructed = bit(0),
                        .wanted = bit(1),
                        .create_only = bit(2),
                        .adopt = bit(3),
                        .is_namespace = bit(4),
                        .present = bit(5),
                        .deleting = bit(6),
                        .settled = bit(7),
                        .kept = bit(8),
                        .owner = owner};
      if (Decide(s) != Action::kRemove) continue;
      EXPECT_TRUE(s.instructed && !s.wanted && s.present && !s.kept && owner == Owner::kOurs);
    }
  }
}

}  // namespace
}  // namespace mailroom::syncer
