#include "storage/object/key_faults.h"

#include <gtest/gtest.h>

namespace mailroom {
namespace {

std::string Told(std::string_view text, std::vector<KeyFault> faults) {
  std::string out;
  for (const KeyFault& fault : InOrderOfText(text, std::move(faults))) {
    out += (out.empty() ? "" : " ") + std::string(fault.duplicate ? "2" : "?") + fault.path;
  }
  return out;
}

TEST(KeyFaults, AreToldAsAReaderMeetsThem) {
  const std::string text =
      R"({"spec":{"zeta":1,"replicas":2,"replicas":3,"list":[{},{"b":0,"a":0}],"alpha":{}},"x":0})";
  EXPECT_EQ(Told(text, {{"spec.replicas", true},
                        {"spec.alpha"},
                        {"spec.list[1].a"},
                        {"spec.list[1].b"},
                        {"spec.zeta"},
                        {"x"}}),
            "?spec.zeta 2spec.replicas ?spec.list[1].b ?spec.list[1].a ?spec.alpha ?x");
}

TEST(KeyFaults, InsideOfAnUnknownKeyAreNotLookedAt) {
  EXPECT_EQ(Told(R"({"u":{"a":1,"a":2},"ua":1,"ua":2})", {{"u.a", true}, {"ua", true}, {"u"}}),
            "?u 2ua");
}

TEST(KeyFaults, AnUnknownKeyGivenTwiceIsUnknown) {
  EXPECT_EQ(Told(R"({"a":1,"u":1,"b":1,"u":2,"b":2})", {{"b", true}, {"u", true}, {"u"}}),
            "?u 2b");
}

TEST(KeyFaults, ThatAreNotInTheTextComeLast) {
  EXPECT_EQ(Told(R"({"b":1})", {{"gone"}, {"b"}}), "?b ?gone");
}

}  // namespace
}  // namespace mailroom
