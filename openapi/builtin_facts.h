// Reading the fact files: a small subset of YAML in which every line stands for itself. Used by
// the builtin*.cc files while they load; errors are errors of the program and abort.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "openapi/builtin.h"

namespace mailroom::openapi {

// One `key: value` or `- value` line; comments and empty lines are gone.
struct FactLine {
  std::size_t indent = 0;
  std::string_view key;    // "" for a `- value` line
  std::string_view value;  // "" when the line opens a block
};

std::vector<FactLine> FactLines(std::string_view text);
// Pieces between single `separator`s; no pieces for empty text.
std::vector<std::string_view> SplitFact(std::string_view text, char separator);
[[noreturn]] void BadFact(std::string_view where, std::string_view line);

struct TypeTable {
  std::shared_ptr<SchemaSet> set = std::make_shared<SchemaSet>();
  std::map<std::string, const Schema*, std::less<>> by_name;
  std::vector<BuiltinPackage> packages;
};

// Types of all files in builtin/types/.
TypeTable LoadBuiltinTypes();
// Rows of builtin/resources.yaml and builtin/behaviour.yaml, pointing into `types`.
std::vector<ResourceTypePtr> LoadBuiltinResources(const TypeTable& types);

}  // namespace mailroom::openapi
