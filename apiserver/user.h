// Who asks: the outcome of authentication.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mailroom::apiserver {

struct User {
  std::string name;
  std::vector<std::string> groups;
  bool InGroup(std::string_view group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  }
};

}  // namespace mailroom::apiserver
