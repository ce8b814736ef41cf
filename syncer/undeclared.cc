#include "syncer/undeclared.h"

#include <charconv>

#include "storage/object/json.h"
#include "storage/object/json_path.h"

namespace mailroom::syncer {
namespace {

constexpr std::string_view kUndeclared = ": field not declared in schema";

// One step of a path: a member, a list place `[3]`, or a list element `[a="x",b=1]`.
struct Step {
  std::string member;
  std::string element;  // text between the brackets
};

// The end of `[...]` that starts at `at`; quoted text may hold a bracket.
std::size_t BracketEnd(std::string_view path, std::size_t at) {
  bool quoted = false;
  for (std::size_t i = at + 1; i < path.size(); ++i) {
    if (quoted && path[i] == '\\') {
      ++i;
    } else if (path[i] == '"') {
      quoted = !quoted;
    } else if (path[i] == ']' && !quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::vector<Step> Split(std::string_view path) {
  std::vector<Step> steps;
  std::size_t at = 0;
  while (at < path.size()) {
    if (path[at] == '[') {
      const std::size_t end = BracketEnd(path, at);
      if (end == std::string_view::npos) return {};
      steps.push_back({"", std::string(path.substr(at + 1, end - at - 1))});
      at = end + 1;
    } else if (path[at] == '.') {
      const std::size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
      steps.push_back({std::string(path.substr(at + 1, end - at - 1)), ""});
      at = end;
    } else {
      return {};
    }
  }
  return steps;
}

// Whether `element` has the members that `selector`, such as `name="c",port=80`, gives.
bool Selects(std::string_view selector, const Json& element) {
  std::size_t at = 0;
  while (at < selector.size()) {
    const std::size_t equals = selector.find('=', at);
    if (equals == std::string_view::npos) return false;
    std::size_t end = equals + 1;
    if (end < selector.size() && selector[end] == '"') {
      for (++end; end < selector.size() && selector[end] != '"'; ++end) {
        if (selector[end] == '\\') ++end;
      }
      ++end;
    } else {
      end = std::min(selector.find(',', end), selector.size());
    }
    end = std::min(end, selector.size());
    const auto wanted = ParseJson(selector.substr(equals + 1, end - equals - 1));
    const Json* found = Find(element, {selector.substr(at, equals - at)});
    if (!wanted.ok() || found == nullptr || *found != *wanted) return false;
    at = end + 1;
  }
  return true;
}

Json* Element(Json& list, const std::string& selector) {
  if (!list.is_array()) return nullptr;
  std::size_t place = 0;
  const char* const end = selector.data() + selector.size();
  if (std::from_chars(selector.data(), end, place).ptr == end) {
    return place < list.size() ? &list[place] : nullptr;
  }
  for (Json& element : list) {
    if (Selects(selector, element)) return &element;
  }
  return nullptr;
}

bool Drop(const std::vector<Step>& steps, Json& body) {
  Json* at = &body;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    at = steps[i].element.empty() ? Find(*at, {steps[i].member}) : Element(*at, steps[i].element);
    if (at == nullptr) return false;
  }
  return !steps.empty() && steps.back().element.empty() && Erase(*at, {steps.back().member});
}

}  // namespace

std::vector<std::string> DropUndeclared(std::string_view refusal, Json& body) {
  std::vector<std::string> dropped;
  for (std::size_t end = 0; (end = refusal.find(kUndeclared, end)) != std::string_view::npos;
       end += kUndeclared.size()) {
    // A path starts after a space or a line's beginning; quoted keys may hold spaces.
    for (std::size_t start = end; start-- > 0;) {
      const bool first = start == 0 || refusal[start - 1] == ' ' || refusal[start - 1] == '\n';
      if (refusal[start] == '\n') break;
      if (refusal[start] != '.' || !first) continue;
      const std::string_view path = refusal.substr(start, end - start);
      if (Drop(Split(path), body)) dropped.emplace_back(path);
      break;
    }
  }
  return dropped;
}

}  // namespace mailroom::syncer
