#include "storage/object/json_cursor.h"

#include "storage/object/json.h"

namespace mailroom {

bool JsonCursor::Expect(std::string_view literal) {
  if (text_.substr(at_, literal.size()) != literal) return false;
  at_ += literal.size();
  return true;
}

bool JsonCursor::SkipString() {
  if (Peek() != '"') return false;
  ++at_;
  // The next quote is looked for once: text full of escapes is not gone through again and again.
  for (std::size_t quote = 0;;) {
    if (quote < at_) quote = text_.find('"', at_);
    if (quote == std::string_view::npos) return false;
    const std::size_t slash = text_.substr(0, quote).find('\\', at_);
    if (slash == std::string_view::npos) {
      at_ = quote + 1;
      return true;
    }
    at_ = slash + 2;
  }
}

bool JsonCursor::String(std::string_view& raw) {
  const std::size_t start = at_;
  if (!SkipString()) return false;
  raw = text_.substr(start + 1, at_ - start - 2);
  return true;
}

bool JsonCursor::SkipContainer() {
  std::size_t depth = 0;
  while (!AtEnd()) {
    switch (text_[at_]) {
      case '"':
        if (!SkipString()) return false;
        continue;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        --depth;
        break;
      default:
        break;
    }
    ++at_;
    if (depth == 0) return true;
  }
  return false;
}

bool JsonCursor::Value(std::string_view& raw) {
  const std::size_t start = at_;
  const char first = Peek();
  bool ok = true;
  if (first == '"') {
    ok = SkipString();
  } else if (first == '{' || first == '[') {
    ok = SkipContainer();
  } else {
    while (!AtEnd() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']') ++at_;
    ok = at_ > start;
  }
  if (!ok) return false;
  raw = text_.substr(start, at_ - start);
  return true;
}

bool JsonCursor::EnterObject() { return Expect("{"); }

bool JsonCursor::NextMember(std::string_view& name, bool& first) {
  if (Peek() == '}') {
    ++at_;
    return false;
  }
  if (!first && !Expect(",")) return false;
  first = false;
  return String(name) && Expect(":");
}

bool JsonCursor::EnterArray() { return Expect("["); }

bool JsonCursor::NextElement(bool& first) {
  if (Peek() == ']') {
    ++at_;
    return false;
  }
  if (!first && !Expect(",")) return false;
  first = false;
  return !AtEnd();
}

std::string Unescape(std::string_view raw) {
  std::string quoted = "\"";
  quoted += raw;
  quoted += '"';
  auto parsed = ParseJson(quoted);
  return parsed.ok() && parsed->is_string() ? parsed->get<std::string>() : std::string(raw);
}

}  // namespace mailroom
