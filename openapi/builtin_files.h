// Data files of this folder, compiled into the program (hack/embed writes the table at build
// time). Constants: any thread may read them at any time.
#pragma once

#include <span>
#include <string_view>

namespace mailroom::openapi {

struct EmbeddedFile {
  std::string_view name;  // relative to openapi/, e.g. `builtin/types/core_v1.yaml`
  std::string_view text;
};

// Sorted by name.
std::span<const EmbeddedFile> EmbeddedFiles();
// The text of one file. Aborts when there is no such file: names are constants of the program.
std::string_view EmbeddedText(std::string_view name);

}  // namespace mailroom::openapi
