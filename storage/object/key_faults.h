// Faults of keys in a JSON text, in the order a reader of the text meets them, which is how
// Kubernetes tells them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mailroom {

struct KeyFault {
  std::string path;        // as `spec.containers[0].image`, made by MemberPath and ElementPath
  bool duplicate = false;  // given twice; otherwise unknown
};

// Unknown keys where they first stand, those given twice where they stand again. Nobody looks at
// what an unknown one is or how often it is given, so faults of that are left out. A path that does not occur in the
// text comes last. `text` is valid JSON.
std::vector<KeyFault> InOrderOfText(std::string_view text, std::vector<KeyFault> faults);

}  // namespace mailroom
