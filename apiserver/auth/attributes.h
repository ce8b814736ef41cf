// What is asked, as authorisation sees it. Views: what they point to must live as long.
#pragma once

#include <string_view>

namespace mailroom::apiserver {

struct Attributes {
  std::string_view workspace = {};  // "" with all_workspaces
  bool all_workspaces = false;
  std::string_view verb = {};

  bool is_resource = true;
  std::string_view group = {}, version = {}, resource = {}, subresource = {}, ns = {}, name = {};
  std::string_view path = {};  // of a non-resource request
};

}  // namespace mailroom::apiserver
