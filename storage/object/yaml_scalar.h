// What the plain scalars of YAML mean to Kubernetes' reader (sigs.k8s.io/yaml over go-yaml v2): the words
// and numbers of YAML 1.1, but for dates and numbers of base 60, which are texts. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "storage/object/json.h"

namespace mailroom {

// The value of a scalar without quotes; infinities and `.nan` are numbers, too, though JSON has none.
Json PlainScalar(const std::string& text);
// The name of a member whose key is that value, as text; null when there is no such name.
Json KeyOfScalar(const Json& key);
// Whether a text, though one here, is a date or a number to readers of YAML 1.1: it is written quoted.
bool MayMisleadOthers(std::string_view text);

}  // namespace mailroom
