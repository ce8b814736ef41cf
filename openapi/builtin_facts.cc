#include "openapi/builtin_facts.h"

#include <algorithm>
#include <cstdlib>

#include "openapi/builtin_files.h"
#include "storage/object/log.h"

namespace mailroom::openapi {

std::string_view EmbeddedText(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.name == name) return file.text;
  }
  BadFact(name, "no such file");
}

void BadFact(std::string_view where, std::string_view line) {
  Log(Level::kError, "bad fact in the program's data",
      {{"where", std::string(where)}, {"line", std::string(line)}});
  std::abort();
}

std::vector<std::string_view> SplitFact(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return pieces;
}

std::vector<FactLine> FactLines(std::string_view text) {
  std::vector<FactLine> lines;
  for (std::string_view line : SplitFact(text, '\n')) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos || line[indent] == '#') continue;
    std::string_view rest = line.substr(indent);
    if (rest.starts_with("- ")) {
      lines.push_back({indent, {}, rest.substr(2)});
      continue;
    }
    const std::size_t colon = rest.find(": ");
    if (colon != std::string_view::npos) {
      lines.push_back({indent, rest.substr(0, colon), rest.substr(colon + 2)});
    } else if (rest.ends_with(':')) {
      lines.push_back({indent, rest.substr(0, rest.size() - 1), {}});
    } else {
      BadFact("line without a key", line);
    }
  }
  return lines;
}

namespace {

struct Loaded {
  TypeTable types = LoadBuiltinTypes();
  std::vector<ResourceTypePtr> resources = LoadBuiltinResources(types);
};

const Loaded& Facts() {
  static const Loaded* loaded = new Loaded;
  return *loaded;
}

const BuiltinPackage* FindPackage(std::string_view home) {
  for (const BuiltinPackage& package : Facts().types.packages) {
    if (package.home == home) return &package;
  }
  return nullptr;
}

}  // namespace

const SchemaSet& BuiltinSchemas() { return *Facts().types.set; }

const std::map<std::string, const Schema*, std::less<>>& BuiltinTypeTable() {
  return Facts().types.by_name;
}

const Schema* BuiltinType(std::string_view name) {
  const auto& table = BuiltinTypeTable();
  auto at = table.find(name);
  return at == table.end() ? nullptr : at->second;
}

const std::vector<BuiltinPackage>& BuiltinPackages() { return Facts().types.packages; }

const Schema* BuiltinKind(const GroupVersionKind& gvk) {
  for (const BuiltinPackage& package : BuiltinPackages()) {
    if (package.group != gvk.group || package.version != gvk.version) continue;
    return BuiltinType(package.home + "." + gvk.kind);
  }
  return nullptr;
}

std::string BuiltinModelName(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const BuiltinPackage* package =
      dot == std::string_view::npos ? nullptr : FindPackage(name.substr(0, dot));
  if (package == nullptr) return std::string(name);
  // Published names turn the import path's host around: k8s.io/api -> io.k8s.api.
  std::string path = package->package;
  if (path.starts_with("k8s.io/")) path = "io.k8s." + path.substr(7);
  std::replace(path.begin(), path.end(), '/', '.');
  return path + std::string(name.substr(dot));
}

const std::vector<ResourceTypePtr>& BuiltinTypes() { return Facts().resources; }

}  // namespace mailroom::openapi
