#include "storage/object/problems.h"

#include <algorithm>

namespace mailroom {
namespace {

constexpr std::string_view kMore = "...";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string Step(const std::string& path, std::string_view before, std::string_view step,
                 std::string_view after) {
  if (path.size() > limits::kProblemPathBytes) return path;  // was cut
  std::string out;
  const std::size_t size = path.size() + before.size() + step.size() + after.size();
  out.reserve(std::min(size, limits::kProblemPathBytes + kMore.size()));
  out.append(path).append(before);
  // What comes behind a step of that length is cut anyway.
  out.append(step.substr(0, limits::kProblemPathBytes)).append(after);
  return size <= limits::kProblemPathBytes ? out : CutText(out, limits::kProblemPathBytes);
}

}  // namespace

std::string CutText(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && IsContinuation(text[bytes])) --bytes;
  return std::string(text.substr(0, bytes)).append(kMore);
}

std::string MemberPath(const std::string& path, std::string_view name) {
  return Step(path, path.empty() ? "" : ".", name, "");
}

std::string EntryPath(const std::string& path, std::string_view key) {
  return Step(path, "[", key, "]");
}

std::string ElementPath(const std::string& path, std::size_t position) {
  return Step(path, "[", std::to_string(position), "]");
}

void Problems::Add(std::string text) {
  if (!full() && known_.insert(text).second) texts_.push_back(std::move(text));
}

}  // namespace mailroom
