// Objects for the translator's tests, written as YAML.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "storage/object/object.h"
#include "storage/object/yaml.h"

namespace mailroom::translator {

inline Json Yaml(std::string_view text) {
  auto tree = ParseYaml(text);
  if (!tree.ok()) {
    ADD_FAILURE() << tree.error().message() << "\n" << text;
    return Json();
  }
  return *std::move(tree);
}

inline ObjectPtr MakeObject(std::string_view yaml, std::uint64_t revision = 1) {
  return Object::Make(Yaml(yaml), Revision(revision));
}

inline bool AllBuiltinButExample(const GroupResource& resource) {
  return !resource.group.ends_with("example.com");
}

}  // namespace mailroom::translator
