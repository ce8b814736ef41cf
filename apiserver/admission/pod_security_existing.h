// What is said to who holds a namespace to a stricter level than the pods in it were made under.
// Pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apiserver/admission/pod_security_levels.h"
#include "storage/object/object.h"

namespace mailroom::admission {

inline constexpr std::size_t kExistingPodsChecked = 3000;  // at most

// Warnings about the pods of namespace `ns` that break `enforce`. Looks at one pod of each
// controller first, and no further once `late` says so.
std::vector<std::string> WarnOfExistingPods(const std::vector<ObjectPtr>& pods, const std::string& ns,
                                            const LevelVersion& enforce,
                                            const std::function<bool()>& late);

}  // namespace mailroom::admission
