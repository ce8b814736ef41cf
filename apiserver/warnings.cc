#include "apiserver/warnings.h"

#include <set>
#include <string_view>

#include "storage/object/limits.h"

namespace mailroom::apiserver {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::size_t Characters(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += !IsContinuation(c);
  return count;
}

std::string_view Cut(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  while (at < text.size() && (characters > 0 || IsContinuation(text[at]))) {
    characters -= !IsContinuation(text[at]);
    ++at;
  }
  return text.substr(0, at);
}

// A header carries no control characters: a line break becomes a space.
std::string Header(std::string_view text) {
  std::string out = "299 - \"";
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += u < 0x20 || u == 0x7f ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

void AddWarnings(const std::vector<std::string>& texts, Headers& headers) {
  std::set<std::string_view> seen;
  std::vector<std::string_view> sent;
  std::size_t total = 0;
  for (const std::string& text : texts) {
    if (text.empty() || !seen.insert(text).second) continue;
    sent.push_back(text);
    total += Characters(text);
  }
  const bool cut = total > limits::kWarningCharacters;
  std::size_t written = 0;
  for (std::string_view text : sent) {
    if (cut) text = Cut(text, limits::kWarningCutCharacters);
    if (written >= limits::kWarningCharacters) break;
    written += Characters(text);
    headers.Add("warning", Header(text));
  }
}

}  // namespace mailroom::apiserver
