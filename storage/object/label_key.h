// The form that keys of labels and other qualified names have: `[prefix/]name`. Pure functions; any
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mailroom {

// What is wrong with it, in kube's words; nothing when it is valid.
std::vector<std::string> LabelKeyFaults(std::string_view key);

// Letters, digits, '-', '_' and '.', with a letter or digit at either end: the name of a key, and what is
// in a label that is not empty.
bool IsNameText(std::string_view text);

}  // namespace mailroom
