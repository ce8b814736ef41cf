#include "openapi/image_name.h"

#include <algorithm>

namespace mailroom::openapi {
namespace {

constexpr std::size_t kNameBytes = 255;  // with the domain
constexpr std::size_t kTagBytes = 128;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsAlphanumeric(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }
bool IsHost(char c) { return IsAlphanumeric(c) || c == '-'; }

template <typename Test>
bool All(std::string_view text, Test test) {
  return std::all_of(text.begin(), text.end(), test);
}

// Calls `check` with every piece between separators; false once it is.
template <typename Check>
bool EachPiece(std::string_view text, char separator, Check check) {
  for (;;) {
    const std::size_t at = text.find(separator);
    if (!check(text.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
  }
}

// Runs of a-z and 0-9 with `.`, `_`, `__` or dashes between them.
bool IsPathPiece(std::string_view text) {
  auto word = [](char c) { return IsLower(c) || IsDigit(c); };
  if (text.empty() || !word(text.front()) || !word(text.back())) return false;
  for (std::size_t i = 0; i < text.size();) {
    const auto found = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), word);
    const auto end = static_cast<std::size_t>(found - text.begin());
    const std::string_view gap = text.substr(i, end - i);
    if (!gap.empty() && gap != "." && gap != "_" && gap != "__" &&
        !All(gap, [](char c) { return c == '-'; })) {
      return false;
    }
    i = end + 1;
  }
  return true;
}

bool IsDomain(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end < 2) return false;
    if (!All(text.substr(1, end - 1), [](char c) {
          return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':';
        })) {
      return false;
    }
    text.remove_prefix(end + 1);
    return text.empty() || (text.size() > 1 && text[0] == ':' && All(text.substr(1), IsDigit));
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || !All(port, IsDigit)) return false;
  }
  return EachPiece(text.substr(0, colon), '.', [](std::string_view piece) {
    return !piece.empty() && All(piece, IsHost) && piece.front() != '-' && piece.back() != '-';
  });
}

bool IsTag(std::string_view text) {
  return !text.empty() && text.size() <= kTagBytes && (IsAlphanumeric(text[0]) || text[0] == '_') &&
         All(text, [](char c) { return IsAlphanumeric(c) || c == '_' || c == '.' || c == '-'; });
}

bool IsDigest(std::string_view text) {
  static constexpr std::pair<std::string_view, std::size_t> kKinds[] = {
      {"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}};
  for (const auto& [kind, digits] : kKinds) {
    if (!text.starts_with(kind)) continue;
    text.remove_prefix(kind.size());
    return text.size() == digits && All(text, IsLowHex);
  }
  return false;
}

// Whether what stands before the first slash names a host, not a part of the path.
bool NamesHost(std::string_view first) {
  return first == "localhost" || first.find_first_of(".:") != std::string_view::npos ||
         std::any_of(first.begin(), first.end(), IsUpper);
}

}  // namespace

std::string ImageTag(std::string_view image) {
  if (image.size() == 64 && All(image, IsLowHex)) return "";  // an image's id
  std::string_view domain = "docker.io", rest = image;
  const std::size_t slash = image.find('/');
  if (slash != std::string_view::npos && NamesHost(image.substr(0, slash))) {
    domain = image.substr(0, slash);
    rest = image.substr(slash + 1);
    if (!IsDomain(domain)) return "";
  }
  std::string_view digest;
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    digest = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!IsDigest(digest)) return "";
  }
  std::string_view tag;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!IsTag(tag)) return "";
  }
  const bool familiar = domain == "docker.io" && rest.find('/') == std::string_view::npos;
  const std::size_t added = familiar ? std::string_view("library/").size() : 0;
  if (domain.size() + 1 + added + rest.size() > kNameBytes) return "";
  if (!EachPiece(rest, '/', IsPathPiece)) return "";
  if (tag.empty() && digest.empty()) return "latest";
  return std::string(tag);
}

}  // namespace mailroom::openapi
