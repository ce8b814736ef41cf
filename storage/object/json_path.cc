#include "storage/object/json_path.h"

#include "storage/object/json.h"

namespace mailroom {

const Json* Find(const Json& root, Path path) {
  const Json* node = &root;
  for (std::string_view step : path) {
    if (!node->is_object()) return nullptr;
    auto it = node->find(step);
    if (it == node->end()) return nullptr;
    node = &*it;
  }
  return node;
}

Json* Find(Json& root, Path path) {
  return const_cast<Json*>(Find(static_cast<const Json&>(root), path));
}

std::string StringAt(const Json& root, Path path) {
  const Json* node = Find(root, path);
  return node && node->is_string() ? node->get<std::string>() : std::string();
}

std::int64_t IntAt(const Json& root, Path path, std::int64_t fallback) {
  const Json* node = Find(root, path);
  return node && node->is_number_integer() ? node->get<std::int64_t>() : fallback;
}

bool BoolAt(const Json& root, Path path, bool fallback) {
  const Json* node = Find(root, path);
  return node && node->is_boolean() ? node->get<bool>() : fallback;
}

std::vector<std::string> StringsAt(const Json& root, Path path) {
  std::vector<std::string> out;
  const Json* node = Find(root, path);
  if (!node || !node->is_array()) return out;
  for (const Json& element : *node) {
    if (element.is_string()) out.push_back(element.get<std::string>());
  }
  return out;
}

Json& Set(Json& root, Path path, Json value) {
  Json* node = &root;
  for (std::string_view step : path) {
    if (!node->is_object()) *node = Json::object();
    node = &(*node)[std::string(step)];
  }
  *node = std::move(value);
  return *node;
}

bool Erase(Json& root, Path path) {
  if (path.size() == 0) return false;
  Json* node = &root;
  const std::string_view* last = path.end() - 1;
  for (const std::string_view* step = path.begin(); step != last; ++step) {
    if (!node->is_object()) return false;
    auto it = node->find(*step);
    if (it == node->end()) return false;
    node = &*it;
  }
  if (!node->is_object()) return false;
  return node->erase(std::string(*last)) > 0;
}

std::vector<std::string> SplitDotted(std::string_view dotted) {
  std::vector<std::string> steps;
  if (!dotted.empty() && dotted.front() == '.') dotted.remove_prefix(1);
  while (!dotted.empty()) {
    std::size_t dot = dotted.find('.');
    steps.emplace_back(dotted.substr(0, dot));
    if (dot == std::string_view::npos) break;
    dotted.remove_prefix(dot + 1);
  }
  return steps;
}

const Json* FindDotted(const Json& root, std::string_view dotted) {
  const Json* node = &root;
  for (const std::string& step : SplitDotted(dotted)) {
    if (!node->is_object()) return nullptr;
    auto it = node->find(step);
    if (it == node->end()) return nullptr;
    node = &*it;
  }
  return node;
}

}  // namespace mailroom
