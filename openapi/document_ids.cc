#include "openapi/document_ids.h"

#include <cctype>

namespace mailroom::openapi {
namespace {

// Only letters, digits and `_`, with a capital for what stood after anything else.
std::string Word(std::string_view text, bool capital) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (std::isalpha(c) == 0 && c != '_' && (i == 0 || std::isdigit(c) == 0)) {
      capital = true;
      continue;
    }
    out += static_cast<char>(capital ? std::toupper(c) : c);
    capital = false;
  }
  return out;
}

std::string_view ShortGroup(std::string_view group) {
  constexpr std::string_view kEnd = ".k8s.io";
  if (group.empty()) return "core";
  return group.ends_with(kEnd) ? group.substr(0, group.size() - kEnd.size()) : group;
}

}  // namespace

std::string GroupVersionWord(std::string_view group, std::string_view version) {
  return Word(ShortGroup(group), true) + Word(version, true);
}

std::string TagOf(std::string_view group, std::string_view version) {
  const std::string tag = Word(ShortGroup(group), false);
  return version.empty() ? tag : tag + "_" + Word(version, false);
}

std::string Capital(std::string_view text) {
  std::string out(text);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

}  // namespace mailroom::openapi
